// Specs with faults in windows, position bias, cross-attention, heads of two
// stacks, and generation.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/spec/MalformedSpec.h"

INSTANTIATE_TEST_SUITE_P(
    Stacks, MalformedSpec,
    testing::Values(
        Case{"BucketsOdd",
             encoderDecoderSpec,
             {{"\"buckets\": 8", "\"buckets\": 7"}},
             "s.json:13:52: /encoder/position_bias/buckets: expected an even "
             "number from 4 on (the buckets are of two directions), got 7 "
             "[TFC015]\n"},
        Case{
            "BucketsTooFew",
            encoderDecoderSpec,
            {{"\"buckets\": 8, \"max_distance\": 9, \"bidirectional\": false",
              "\"buckets\": 1, \"max_distance\": 9, \"bidirectional\": false"}},
            "s.json:27:52: /decoder/position_bias/buckets: expected at least "
            "2, got 1 [TFC015]\n"},
        Case{
            "DistanceTooShort",
            encoderDecoderSpec,
            {{"\"buckets\": 8, \"max_distance\": 9, \"bidirectional\": false",
              "\"buckets\": 8, \"max_distance\": 4, \"bidirectional\": false"}},
            "s.json:27:71: /decoder/position_bias/max_distance: expected more "
            "than 4 (the distances that have a bucket each), got 4 [TFC015]\n"},
        Case{"BucketsOfTheWrongDirection",
             encoderDecoderSpec,
             {{"\"bidirectional\": true", "\"bidirectional\": false"}},
             "s.json:13:91: /encoder/position_bias/bidirectional: expected "
             "true (the attention of this stack is bidirectional; other "
             "buckets are not supported by this tfc), got false [TFC090]\n"},
        Case{"BiasWithDifferentHeads",
             encoderDecoderSpec,
             {{"\"repeat\": 2,\n",
               "\"repeat\": 2,\n      \"overrides\": [{\"layers\": \"0\", "
               "\"set\": {\"attn\": {\"num_heads\": 2}}}],\n"}},
             "s.json:13:22: /encoder/position_bias: expected as many heads in "
             "every attention that it is added to (the table has a column a "
             "head), got 2 and 3 [TFC015]\n"},
        Case{
            "BiasForNobody",
            encoderDecoderSpec,
            {{"\"attn\": {\"$def\": \"attn\"},",
              "\"attn\": {\"$def\": \"attn\", \"use_position_bias\": false},"}},
            "s.json:13:22: /encoder/position_bias: expected an attention that "
            "it is added to, got none [TFC015]\n"},
        Case{"NothingToBeParallelTo",
             decoderSpec,
             {{"\"num_heads\": 3,", "\"num_heads\": 3, \"parallel\": true,"}},
             "s.json:9:16: /decoder/layers/block: expected a sublayer without "
             "post_norm before \"attn\" (it is parallel to it), got none "
             "[TFC026]\n"},
        Case{"ParallelToANormedSum",
             decoderSpec,
             {{"\"placement\": \"pre\"", "\"placement\": \"parallel\""},
              {"\"num_heads\": 3,",
               "\"num_heads\": 3, \"post_norm\": {\"kind\": \"rmsnorm\", "
               "\"eps\": 1e-05},"}},
             "s.json:9:16: /decoder/layers/block: expected a sublayer without "
             "post_norm before \"ffn\" (it is parallel to it), got one with it "
             "[TFC026]\n"},
        Case{"OffsetOfNoWeight",
             decoderSpec,
             {{"\"eps\": 1e-05}",
               "\"eps\": 1e-05, \"affine\": false, \"offset\": 1}"}},
             "s.json:11:80: /decoder/layers/block/norm/offset: expected 0 "
             "(\"affine\" is false), got 1 [TFC026]\n"},
        Case{"DeviationOfAnRmsNorm",
             decoderSpec,
             {{"\"kind\": \"layernorm\", \"eps\": 1e-05}",
               "\"kind\": \"rmsnorm\", \"eps\": 1e-05, \"form\": "
               "\"std_eps_unbiased\"}"}},
             "s.json:11:59: /decoder/layers/block/norm/form: expected "
             "\"var_eps\" (kind is \"rmsnorm\"), got \"std_eps_unbiased\" "
             "[TFC026]\n"},
        Case{"BiasOfNoWeight",
             decoderSpec,
             {{"\"eps\": 1e-05}",
               "\"eps\": 1e-05, \"affine\": false, \"bias\": true}"}},
             "s.json:11:78: /decoder/layers/block/norm/bias: expected false "
             "(\"affine\" is false), got true [TFC026]\n"},
        Case{"NormAfterNoRotation",
             decoderSpec,
             {{"\"num_heads\": 3,",
               "\"num_heads\": 3, \"qk_norm\": {\"kind\": \"rmsnorm\", "
               "\"eps\": 1e-05, \"after_rotary\": true},"}},
             "s.json:12:95: /decoder/layers/block/attn/qk_norm/after_rotary: "
             "expected false (the attention has no rotary), got true "
             "[TFC013]\n"},
        Case{"DeviationOfOneNumber",
             decoderSpec,
             {{"\"num_heads\": 3,",
               "\"num_heads\": 12, \"v_norm\": {\"kind\": \"layernorm\", "
               "\"eps\": 1e-05, \"form\": \"std_eps_unbiased\"},"}},
             "s.json:12:89: /decoder/layers/block/attn/v_norm/form: expected "
             "\"var_eps\" (one number has no deviation from others), got "
             "\"std_eps_unbiased\" [TFC026]\n"},
        Case{"CapOfNothing",
             decoderSpec,
             {{"\"num_heads\": 3,", "\"num_heads\": 3, \"softcap\": 0,"}},
             "s.json:12:45: /decoder/layers/block/attn/softcap: expected a "
             "number above 0 that f32 can hold, got 0 [TFC004]\n"},
        Case{"ClipOfNothing",
             decoderSpec,
             {{"\"num_heads\": 3,", "\"num_heads\": 3, \"clip\": -1,"}},
             "s.json:12:42: /decoder/layers/block/attn/clip: expected a "
             "number above 0 that f32 can hold, got -1 [TFC004]\n"},
        Case{"GroupsThatDoNotDivide",
             decoderSpec,
             {{"\"pack\": [\"q\", \"k\", \"v\"]",
               "\"pack\": [\"q\", \"k\", \"v\"], \"groups\": 5"}},
             "s.json:29:90: /weights/map/decoder.layers.attn.qkv/groups: "
             "expected a divisor of 12 (rows of decoder.layers.attn.q.weight), "
             "got 5 [TFC058]\n"},
        Case{"GroupsOfAWholeTensor",
             decoderSpec,
             {{"\"decoder.layers.attn.o\": \"{p}{i}.o\"",
               "\"decoder.layers.attn.o\": {\"stem\": \"{p}{i}.o\", "
               "\"groups\": 2}"}},
             "s.json:30:32: /weights/map/decoder.layers.attn.o: expected no "
             "\"groups\" (only rows of a larger tensor have them), got 2 "
             "[TFC058]\n"},
        Case{"MoreGroupsThanLayers",
             decoderSpec,
             {{"\"repeat\": 2,", "\"repeat\": 2, \"share\": {\"groups\": 3},"}},
             "s.json:8:40: /decoder/layers/share/groups: expected at most 2 "
             "(repeat), got 3 [TFC026]\n"},
        Case{"OverridesOfSharedLayers",
             encoderSpec,
             {{"\"repeat\": 4,", "\"repeat\": 4, \"share\": {\"groups\": 1},"}},
             "s.json:23:20: /encoder/layers/overrides: expected no overrides "
             "(of layers that share weights they are not supported by this "
             "tfc), got an array [TFC090]\n"},
        Case{
            "NoOtherProjection",
            encoderSpec,
            {{"\"token\": {\"rows\": 30},",
              "\"token\": {\"rows\": 30, \"dim\": 6}, \"projection\": {\"at\": "
              "\"middle\", \"bias\": false},"}},
            "s.json:8:61: /encoder/embeddings/projection/at: expected "
            "after_norm, token or sum, got \"middle\" [TFC004]\n"},
        Case{"CrossInTheEncoder",
             encoderDecoderSpec,
             {{"\"attn\": {\"$def\": \"attn\"},",
               "\"attn\": {\"$def\": \"attn\"},\n        \"cross\": {\"$def\": "
               "\"attn\"},"}},
             "s.json:20:18: /encoder/layers/block/cross: expected no "
             "cross-attention in the encoder, got an object [TFC016]\n"},
        Case{"CrossWithoutAnEncoder",
             decoderSpec,
             {{"\"ffn\": {",
               "\"cross\": {\"num_heads\": 3},\n        \"ffn\": {"}},
             "s.json:13:18: /decoder/layers/block/cross: expected no "
             "cross-attention (there is no encoder), got an object [TFC016]\n"},
        Case{"CrossCausal",
             encoderDecoderSpec,
             {{"\"num_kv_heads\": 1", "\"causal\": true"}},
             "s.json:34:45: /decoder/layers/block/cross/causal: expected no "
             "\"causal\" but false (positions of the decoder mean nothing in "
             "the encoder), got true [TFC016]\n"},
        Case{"CrossWithRotary",
             encoderDecoderSpec,
             {{"\"num_kv_heads\": 1",
               "\"rotary\": {\"style\": \"half\", \"theta\": 10000}"}},
             "s.json:34:45: /decoder/layers/block/cross/rotary: expected no "
             "\"rotary\" but \"none\" (positions of the decoder mean nothing "
             "in the encoder), got an object [TFC016]\n"},
        Case{
            "LayerWithoutCross",
            encoderDecoderSpec,
            {{"        \"cross\": {\"$def\": \"attn\", \"num_kv_heads\": 1},\n",
              ""}},
            "s.json:28:15: /decoder/layers: expected a cross-attention in "
            "every layer of the decoder (others are not supported by this "
            "tfc), got none in layer 0 [TFC090]\n"},
        Case{
            "DecoderWithoutLayers",
            encoderDecoderSpec,
            {{"\"repeat\": 3", "\"repeat\": 0"}},
            "s.json:29:17: /decoder/layers/repeat: expected at least one layer "
            "(a decoder that does not see its encoder is not supported by "
            "this tfc), got none [TFC090]\n"},
        Case{"DecoderNotCausal",
             encoderDecoderSpec,
             {{"\"$def\": \"attn\", \"causal\": true", "\"$def\": \"attn\""}},
             "s.json:33:17: /decoder/layers/block/attn/causal: expected true "
             "(generation needs causal attention), got nothing [TFC017]\n"},
        Case{"TiedToAStacksOwnName",
             encoderDecoderSpec,
             {{"\"tied\": \"shared.token\"",
               "\"tied\": \"decoder.embeddings.token\""}},
             "s.json:46:48: /heads/lm/steps/1/tied: expected \"shared.token\", "
             "got \"decoder.embeddings.token\" [TFC030]\n"},
        Case{"HeadFromNowhere",
             encoderDecoderSpec,
             {{"\"from\": \"decoder\", \"steps\": [\n      {\"op\": \"scale\"",
               "\"from\": \"decode\", \"steps\": [\n      {\"op\": \"scale\""}},
             "s.json:44:20: /heads/lm/from: expected a stack or a head (have: "
             "encoder, decoder, cls), got \"decode\" [TFC032]\n"},
        Case{"LastEosWithoutAnEnd",
             encoderDecoderSpec,
             {{"\"eos\": 1, ", ""}},
             "s.json:42:28: /heads/cls/steps/0/at: expected one id in "
             "tokens.eos (the step looks for it), got 0 [TFC036]\n"},
        Case{"LastEosOfSeveral",
             encoderDecoderSpec,
             {{"\"eos\": 1, ", "\"eos\": [1, 3], "}},
             "s.json:42:28: /heads/cls/steps/0/at: expected one id in "
             "tokens.eos (the step looks for it), got 2 [TFC036]\n"},
        Case{"ScaleStepZero",
             encoderDecoderSpec,
             {{"\"rsqrt_hidden\"", "0"}},
             "s.json:45:29: /heads/lm/steps/0/by: expected a number above 0 "
             "that f32 can hold, got 0 [TFC004]\n"},
        Case{"OutputUnknown",
             encoderDecoderSpec,
             {{"\"encoder.hidden\"", "\"encoder.hiden\""}},
             "s.json:49:34: /outputs/encoder_last_hidden_state: expected a "
             "result (have: encoder.hidden, decoder.hidden, cls, lm; did you "
             "mean \"encoder.hidden\"?), got \"encoder.hiden\" [TFC038]\n"},
        Case{"NoDecoderStart",
             encoderDecoderSpec,
             {{", \"decoder_start\": 2", ""}},
             "s.json:54:17: /tokens/decoder_start: expected \"decoder_start\" "
             "(generation begins with it), got nothing [TFC041]\n"},
        Case{"DecoderStartOutsideOfTheTable",
             encoderDecoderSpec,
             {{"\"decoder_start\": 2", "\"decoder_start\": 30"}},
             "s.json:53:51: /tokens/decoder_start: expected a row of the token "
             "table (0 to 29), got 30 [TFC040]\n"},
        Case{"BeamsAreNotSampled",
             encoderDecoderSpec,
             {{"\"num_beams\": 4", "\"do_sample\": true, \"num_beams\": 4"}},
             "s.json:54:63: /generation/do_sample: expected false (num_beams "
             "is 4; sampling with beams is not supported by this tfc), got "
             "true [TFC090]\n"},
        Case{"SeveralForcedEnds",
             encoderDecoderSpec,
             {{"\"num_beams\": 4", "\"forced_eos\": [1, 2]"}},
             "s.json:54:64: /generation/forced_eos: expected one id (several "
             "are not supported by this tfc), got 2 [TFC090]\n"},
        Case{"MinP",
             encoderDecoderSpec,
             {{"\"num_beams\": 4", "\"min_p\": 1.5"}},
             "s.json:54:59: /generation/min_p: expected a number from 0 to 1, "
             "got 1.5 [TFC043]\n"},
        Case{"EarlyStopping",
             encoderDecoderSpec,
             {{"\"num_beams\": 4", "\"early_stopping\": \"always\""}},
             "s.json:54:68: /generation/early_stopping: expected never, got "
             "\"always\" [TFC004]\n"}),
    nameOf);
