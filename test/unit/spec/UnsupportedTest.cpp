// Specs that say what no program can be made of yet: refused by name, with
// code 90, never misread.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/spec/MalformedSpec.h"

INSTANTIATE_TEST_SUITE_P(
    Unsupported, MalformedSpec,
    testing::Values(
        Case{"CausalMissingInDecoder",
             decoderSpec,
             {{"\"num_heads\": 3, \"causal\": true", "\"num_heads\": 3"},
              {"  \"generation\": {\"head\": \"lm\", \"max_length\": 20},\n",
               ""}},
             "s.json:12:17: /decoder/layers/block/attn/causal: expected true "
             "(bidirectional attention in a decoder is not supported by this "
             "tfc), got nothing [TFC090]\n"},
        Case{"WideHeads",
             decoderSpec,
             {{"\"num_heads\": 3,", "\"num_heads\": 3, \"head_dim\": 2049,"}},
             "s.json:12:46: /decoder/layers/block/attn/head_dim: expected at "
             "most 2048 (wider heads are not supported by this tfc), got 2049 "
             "[TFC090]\n"},
        Case{"OneWideHead",
             encoderSpec,
             {{"\"hidden\": 12", "\"hidden\": 20000"}},
             "s.json:20:17: /encoder/layers/block/attn/head_dim: expected at "
             "most 2048 (wider heads are not supported by this tfc), got 5000 "
             "[TFC090]\n"},
        Case{"KeyHeadsOfALayerByItsNumber",
             decoderSpec,
             {{"\"causal\": true",
               "\"causal\": true, \"scale_by_inverse_layer\": true"},
              {"\"repeat\": 2,",
               "\"repeat\": 2, \"overrides\": [{\"layers\": \"1\", \"set\": "
               "{\"attn\": {\"num_kv_heads\": 1}}}],"}},
             "s.json:7:15: /decoder/layers: expected no "
             "\"scale_by_inverse_layer\" where layers share keys or differ in "
             "heads (not supported by this tfc), got true [TFC090]\n"},
        Case{"SharedKeysOfAnEncoder",
             encoderSpec,
             {{"\"num_heads\": 4", "\"num_heads\": 4, \"shared_kv\": true"}},
             "s.json:20:47: /encoder/layers/block/attn/shared_kv: expected "
             "false (an encoder keeps no keys, and shared ones are not "
             "supported by this tfc), got true [TFC090]\n"},
        Case{"HeadDimOfALayer",
             encoderSpec,
             {{"{\"ffn\": {\"act\": \"relu\"}}",
               "{\"attn\": {\"head_dim\": 6}}"}},
             "s.json:23:67: /encoder/layers/overrides/0/set/attn/head_dim: "
             "expected 3, as in the layers before (layers whose keys differ in "
             "heads or their widths are not supported by this tfc), got 6 "
             "[TFC090]\n"},
        Case{"HeadDimThatIsNotGiven",
             encoderDecoderSpec,
             {{"\"repeat\": 3,",
               "\"repeat\": 3, \"overrides\": [{\"layers\": [0], \"set\": "
               "{\"cross\": {\"num_heads\": 2, \"num_kv_heads\": 1}}}],"}},
             "s.json:34:18: /decoder/layers/block/cross/head_dim: "
             "expected 6, as in the layers before (layers whose keys differ in "
             "heads or their widths are not supported by this tfc), got 4 "
             "[TFC090]\n"},
        Case{"CausalEncoder",
             encoderSpec,
             {{"\"num_heads\": 4", "\"num_heads\": 4, \"causal\": true"}},
             "s.json:20:44: /encoder/layers/block/attn/causal: expected false "
             "(causal attention in an encoder is not supported by this tfc), "
             "got true [TFC090]\n"},
        Case{"OnlyTheNeutralValueIsSupported",
             decoderSpec,
             {{"\"causal\": true", "\"causal\": true, \"normalize\": \"none\", "
                                   "\"all_masked\": \"zero\""}},
             "s.json:12:63: /decoder/layers/block/attn/normalize: expected no "
             "\"normalize\" but \"softmax\" (not supported by this tfc), got "
             "\"none\" [TFC090]\n"},
        Case{"SegmentOfAnotherDefault",
             encoderSpec,
             {{"\"default\": 0", "\"default\": 1"}},
             "s.json:11:75: /encoder/embeddings/segments/0/default: expected 0 "
             "(another id where the input is not given is not supported by "
             "this tfc), got 1 [TFC090]\n"},
        Case{"PairWithoutAnOutputOfTheEncoder",
             encoderDecoderSpec,
             {{"    \"encoder_last_hidden_state\": \"encoder.hidden\",\n", ""}},
             "s.json:48:14: /outputs: expected an output of each stack "
             "(encoder.hidden, or a head from there; others are not supported "
             "by this tfc), got none of the encoder [TFC090]\n"},
        Case{
            "PairThatTakesRowsOfTheEncoder",
            encoderDecoderSpec,
            {{"{\"from\": \"decoder\", \"steps\": [\n      {\"op\": \"take\"",
              "{\"from\": \"encoder\", \"steps\": [\n      {\"op\": \"take\""}},
            "s.json:51:14: /outputs/label: expected rows of all tokens (of an "
            "encoder with a decoder, taken ones are not supported by this "
            "tfc), got \"cls\" [TFC090]\n"},
        Case{"HashesInADecoder",
             decoderSpec,
             {{"\"causal\": true",
               "\"causal\": true, \"sparse\": {\"kind\": \"lsh\", "
               "\"block\": 2, \"before\": 1, \"after\": 0, \"hashes\": 1, "
               "\"buckets\": 4, \"seed\": 1}"}},
             "s.json:12:60: /decoder/layers/block/attn/sparse: expected no "
             "\"lsh\" but in an encoder (of a decoder the rows that a hash "
             "puts nearby change with each token; not supported by this tfc), "
             "got an object [TFC090]\n"},
        Case{"HashesBesideSlopes",
             encoderSpec,
             {{"\"num_heads\": 4,",
               "\"num_heads\": 4, \"slopes\": \"alibi\", \"sparse\": "
               "{\"kind\": \"lsh\", \"block\": 2, \"before\": 1, "
               "\"after\": 0, \"hashes\": 1, \"buckets\": 4, \"seed\": "
               "1},"}},
             "s.json:20:44: /encoder/layers/block/attn/slopes: expected no "
             "\"slopes\" but \"none\" (beside hashes it is not supported by "
             "this tfc), got \"alibi\" [TFC090]\n"},
        Case{"OddBuckets",
             encoderSpec,
             {{"\"num_heads\": 4,",
               "\"num_heads\": 4, \"sparse\": {\"kind\": \"lsh\", "
               "\"block\": 2, \"before\": 1, \"after\": 0, \"hashes\": 1, "
               "\"buckets\": [4, 3], \"seed\": 1},"}},
             "s.json:20:125: /encoder/layers/block/attn/sparse/buckets/1: "
             "expected an even number (each product has an opposite), got 3 "
             "[TFC004]\n"},
        Case{"MultipleOfNoBlock",
             encoderSpec,
             {{"\"num_heads\": 4,",
               "\"num_heads\": 4, \"sparse\": {\"kind\": \"lsh\", "
               "\"block\": 2, \"before\": 1, \"after\": 0, \"hashes\": 1, "
               "\"buckets\": 4, \"seed\": 1, \"multiple\": 3},"}},
             "s.json:20:147: /encoder/layers/block/attn/sparse/multiple: "
             "expected a multiple of block (2), got 3 [TFC004]\n"},
        Case{"LocalBlocksAhead",
             decoderSpec,
             {{"\"causal\": true",
               "\"causal\": true, \"sparse\": {\"kind\": \"chunk_local\", "
               "\"block\": 2, \"before\": 1, \"after\": 1}"}},
             "s.json:12:118: /decoder/layers/block/attn/sparse/after: "
             "expected 0 (a decoder does not look ahead), got 1 [TFC090]\n"},
        Case{"ReversiblePair",
             encoderDecoderSpec,
             {{"\"decoder\": {\n    \"emb",
               "\"decoder\": {\n    \"streams\": {\"kind\": "
               "\"reversible\"}, \"emb"}},
             "s.json:26:16: /decoder/streams: expected none (streams that "
             "are side by side at the end are not supported by this tfc "
             "in an encoder_decoder), got an object [TFC090]\n"},
        Case{"TargetsInADecoder",
             decoderSpec,
             {{"\"embeddings\": {\"token\": {}},",
               "\"embeddings\": {\"token\": {}}, \"streams\": {\"kind\": "
               "\"two_stream\"},"}},
             "s.json:6:45: /decoder/streams: expected none, or another kind "
             "(targets are not supported by this tfc in a decoder, nor beside "
             "one), got \"two_stream\" [TFC090]\n"},
        Case{"StepUnsupported",
             encoderSpec,
             {{"{\"op\": \"take\", \"at\": \"first\"}",
               "{\"op\": \"softmax\"}"}},
             "s.json:28:14: /heads/pooler/steps/0/op: expected take, dense, "
             "norm, logits, split, act, pool, scale, adaptive_logits, "
             "activation_unit, probe, truncate or l2_normalize "
             "(softmax is not supported by this tfc), got \"softmax\" "
             "[TFC090]\n"},
        Case{
            "QuantUnsupported",
            decoderSpec,
            {{"  \"tokens\"", "  \"quant\": {\"weights\": []},\n  \"tokens\""}},
            "s.json:21:12: /quant: expected no \"quant\" (not supported by "
            "this tfc), got an object [TFC090]\n"},
        Case{"PrecisionUnsupported",
             decoderSpec,
             {{"  \"tokens\"",
               "  \"precision\": {\"compute\": \"f16\"},\n  \"tokens\""}},
             "s.json:21:28: /precision/compute: expected f32, bf16 or int8 "
             "(f16 is "
             "not supported by this tfc), got \"f16\" [TFC090]\n"},
        Case{"OutputUnsupported",
             encoderSpec,
             {{"\"pooler_output\": \"pooler\"",
               "\"hidden_states\": \"encoder.attentions\""}},
             "s.json:34:32: /outputs/hidden_states: expected "
             "encoder.hidden, encoder.all_hidden or a head "
             "(encoder.attentions is not supported by this tfc), got "
             "\"encoder.attentions\" [TFC090]\n"}),
    nameOf);
