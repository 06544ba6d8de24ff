// Specs with a fault each, and the exact message: keys, values, the model's
// arithmetic. An expectation has the file's name, line and column.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/spec/MalformedSpec.h"

INSTANTIATE_TEST_SUITE_P(
    Fields, MalformedSpec,
    testing::Values(
        Case{"VersionOfAnotherFormat",
             encoderSpec,
             {{"\"tfc\": 1", "\"tfc\": 2"}},
             "s.json:2:10: /tfc: expected the number 1 (the version of specs "
             "that this tfc reads), got 2 [TFC003]\n"},
        Case{"UnknownKeyWithHint",
             encoderSpec,
             {{"\"attn\": {\"num", "\"atn\": {\"num"}},
             "s.json:20:9: /encoder/layers/block/atn: expected a known key "
             "(did you mean \"attn\"?), got \"atn\" [TFC002]\n"},
        Case{"UnknownKeyWithoutHint",
             encoderSpec,
             {{"\"out\": 12,", "\"out\": 12, \"dropout\": 0,"}},
             "s.json:29:51: /heads/pooler/steps/1/dropout: expected one of the "
             "keys name, out, act or bias, got \"dropout\" [TFC002]\n"},
        Case{"UnknownTopLevelKey",
             encoderSpec,
             {{"\"tokens\"", "\"tokenz\""}},
             "s.json:35:3: /tokenz: expected a known key (did you mean "
             "\"tokens\"?), got \"tokenz\" [TFC002]\n"},
        Case{"StringForNumber",
             decoderSpec,
             {{"\"eps\": 1e-05},\n        \"attn\"",
               "\"eps\": \"1e-5\"},\n        \"attn\""}},
             "s.json:11:46: /decoder/layers/block/norm/eps: expected a number, "
             "got \"1e-5\" [TFC004]\n"},
        Case{"NullValue",
             decoderSpec,
             {{"\"final_norm\": {\"kind\": \"layernorm\", \"eps\": 1e-05}",
               "\"final_norm\": null"}},
             "s.json:16:19: /decoder/final_norm: expected none or an object "
             "(null is not allowed: leave the key out), got null [TFC004]\n"},
        Case{"RealForInteger",
             encoderSpec,
             {{"\"hidden\": 12", "\"hidden\": 12.5"}},
             "s.json:4:22: /dims/hidden: expected an integer from 1 to "
             "1048576, got 12.5 [TFC004]\n"},
        Case{"ZeroHeads",
             encoderSpec,
             {{"\"num_heads\": 4", "\"num_heads\": 0"}},
             "s.json:20:31: /encoder/layers/block/attn/num_heads: expected an "
             "integer from 1 to 1048576, got 0 [TFC004]\n"},
        Case{"TooManyLayers",
             encoderSpec,
             {{"\"repeat\": 4", "\"repeat\": 5000"}},
             "s.json:16:17: /encoder/layers/repeat: expected an integer from 0 "
             "to 4096, got 5000 [TFC004]\n"},
        Case{"WidthTooLarge",
             encoderSpec,
             {{"\"width\": 20", "\"width\": 2000000"}},
             "s.json:21:26: /encoder/layers/block/ffn/width: expected an "
             "integer from 1 to 1048576, got 2000000 [TFC004]\n"},
        Case{"RequiredKeyMissing",
             encoderSpec,
             {{"{\"width\": 20, \"act\": \"gelu\", \"bias\": true}",
               "{\"width\": 20, \"bias\": true}"},
              {",\n      \"overrides\": [{\"layers\": \"2:\", \"set\": "
               "{\"ffn\": {\"act\": \"relu\"}}}]",
               ""}},
             "s.json:21:16: /encoder/layers/block/ffn/act: expected \"act\" "
             "(it is required), got nothing [TFC004]\n"},
        Case{"DefUnknown",
             encoderSpec,
             {{"\"norm\": {\"$def\": \"norm\"}\n    }",
               "\"norm\": {\"$def\": \"nrom\"}\n    }"}},
             "s.json:13:24: /encoder/embeddings/norm/$def: expected a name in "
             "/defs (have: norm), got \"nrom\" [TFC005]\n"},
        Case{"DefsWithoutAName",
             encoderSpec,
             {{"\"norm\": {\"$def\": \"norm\"}\n    }",
               "\"norm\": {\"$def\": \"nrom\"}\n    }"},
              {"\"defs\": {", "\"defs\": {\"\\u001b[2J\": {}, "}},
             "s.json:13:24: /encoder/embeddings/norm/$def: expected a name in "
             "/defs (have: \\x1b[2J, norm), got \"nrom\" [TFC005]\n"},
        Case{
            "CycleOfNamesThatAct",
            encoderSpec,
            {{"\"defs\": {\"norm\": {\"kind\": \"layernorm\", \"eps\": 1e-12}",
              "\"defs\": {\"norm\": {\"$def\": \"\\u001b\"}, \"\\u001b\": "
              "{\"$def\": \"norm\"}"}},
            "s.json:5:59: /defs/\\x1b/$def: expected no cycle of $def (norm -> "
            "\\x1b), got \"norm\" [TFC005]\n"},
        Case{
            "DefCycle",
            encoderSpec,
            {{"\"defs\": {\"norm\": {\"kind\": \"layernorm\", \"eps\": 1e-12}}",
              "\"defs\": {\"norm\": {\"$def\": \"other\"}, \"other\": "
              "{\"$def\": \"norm\"}}"}},
            "s.json:5:57: /defs/other/$def: expected no cycle of $def (norm -> "
            "other), got \"norm\" [TFC005]\n"},
        Case{
            "FaultInsideOfDef",
            encoderSpec,
            {{"\"defs\": {\"norm\": {\"kind\": \"layernorm\", \"eps\": 1e-12}}",
              "\"defs\": {\"norm\": {\"kind\": \"layernorm\", \"eps\": 12}}"}},
            "s.json:5:49: /defs/norm/eps: expected a number above 0, up to "
            "0.01 (did you mean 1e-12?), got 12 [TFC027]\n"},
        Case{"PresetUnknown",
             encoderSpec,
             {{"\"tfc\": 1,", "\"tfc\": 1, \"extends\": \"preset:bertt\","}},
             "s.json:2:24: /extends: expected a preset (did you mean "
             "\"preset:bert\"?), got \"preset:bertt\" [TFC006]\n"},
        Case{"ExtendsMissingFile",
             encoderSpec,
             {{"\"tfc\": 1,",
               "\"tfc\": 1, \"extends\": \"nothing/here.json\","}},
             "s.json:2:24: /extends: expected a readable file, got error: No "
             "such file or directory (nothing/here.json) [TFC006]\n"},
        Case{"ExtendsAbsolutePath",
             encoderSpec,
             {{"\"tfc\": 1,", "\"tfc\": 1, \"extends\": \"/etc/passwd\","}},
             "s.json:2:24: /extends: expected \"preset:...\" or a relative "
             "path, got \"/etc/passwd\" [TFC006]\n"},
        Case{"FaultInsideOfOverride",
             encoderSpec,
             {{"\"act\": \"relu\"", "\"act\": \"rleu\""}},
             "s.json:23:61: /encoder/layers/overrides/0/set/ffn/act: expected "
             "gelu, gelu_new, quick_gelu, relu, relu2, silu, tanh, sigmoid, "
             "identity or "
             "xielu (did "
             "you "
             "mean "
             "\"relu\"?), got \"rleu\" [TFC028]\n"},
        Case{"OverrideIsNoObject",
             encoderSpec,
             {{"{\"ffn\": {\"act\": \"relu\"}}", "3"}},
             "s.json:23:45: /encoder/layers/overrides/0/set: expected an "
             "object, got 3 [TFC004]\n"},
        Case{"NobodySaysTheVocabulary",
             decoderSpec,
             {{", \"vocab\": 30", ""}},
             "s.json:6:29: /decoder/embeddings/token/rows: expected the number "
             "of token ids (here or in dims.vocab), got nothing [TFC004]\n"},
        Case{"EpsilonWithoutMinus",
             encoderSpec,
             {{"1e-12", "12"}},
             "s.json:5:49: /defs/norm/eps: expected a number above 0, up to "
             "0.01 (did you mean 1e-12?), got 12 [TFC027]\n"},
        Case{"ActivationOfAnotherProject",
             encoderSpec,
             {{"\"act\": \"gelu\"", "\"act\": \"gelu_tanh\""},
              {"\"act\": \"relu\"", "\"act\": \"gelu_new\""}},
             "s.json:21:37: /encoder/layers/block/ffn/act: expected gelu, "
             "gelu_new, quick_gelu, relu, relu2, silu, tanh, sigmoid, identity "
             "or "
             "xielu "
             "(did you "
             "mean "
             "\"gelu_new\"?), got \"gelu_tanh\" [TFC028]\n"},
        Case{"XieluOfAGate",
             encoderSpec,
             {{"\"act\": \"gelu\"", "\"act\": \"xielu\", \"gated\": true"},
              {"\"act\": \"relu\"", "\"bias\": true"}},
             "s.json:21:55: /encoder/layers/block/ffn/gated: expected false "
             "(xielu is of no gate), got true [TFC026]\n"},
        Case{"StepUnknown",
             encoderSpec,
             {{"\"op\": \"dense\"", "\"op\": \"dens\""}},
             "s.json:29:14: /heads/pooler/steps/1/op: expected take, dense, "
             "norm, logits, split, act, pool, scale, adaptive_logits, "
             "activation_unit, probe, truncate or l2_normalize "
             "(did you mean \"dense\"?), got \"dens\" [TFC004]\n"}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Model, MalformedSpec,
    testing::Values(
        Case{"SharedKeysOfNobody",
             decoderSpec,
             {{"\"causal\": true", "\"causal\": true, \"shared_kv\": true"}},
             "s.json:7:15: /decoder/layers: expected before layer 0, which has "
             "\"shared_kv\", one with keys of its own, as many and as wide "
             "heads and the same window, got none [TFC026]\n"},
        Case{"LayerInputOfNothing",
             decoderSpec,
             {{"\"ffn\": {",
               "\"layer_input\": {\"act\": \"relu\"}, \"ffn\": {"}},
             "s.json:13:24: /decoder/layers/block/layer_input: expected "
             "\"layer_inputs\" in the decoder (what it reads), got none "
             "[TFC026]\n"},
        Case{"LayerInputsOfNobody",
             decoderSpec,
             {{"\"layers\": {", "\"layer_inputs\": {\"width\": 2, \"norm\": "
                                "{\"kind\": \"rmsnorm\", \"eps\": 1e-5}}, "
                                "\"layers\": {"}},
             "s.json:7:21: /decoder/layer_inputs: expected a layer with a "
             "\"layer_input\", which reads it, got none [TFC026]\n"},
        Case{
            "LayerInputsOfFewerRows",
            decoderSpec,
            {{"\"layers\": {", "\"layer_inputs\": {\"width\": 2, \"rows\": 29, "
                               "\"norm\": {\"kind\": \"rmsnorm\", \"eps\": "
                               "1e-5}}, \"layers\": {"},
             {"\"act\": \"silu\", \"gated\": true}",
              "\"act\": \"silu\", \"gated\": true}, \"layer_input\": "
              "{\"act\": \"relu\"}"}},
            "s.json:7:42: /decoder/layer_inputs/rows: expected at least 30 "
            "(the rows of the token table, whose ids it has; or \"beyond\"), "
            "got 29 [TFC026]\n"},
        Case{"StreamThatIsNone",
             decoderSpec,
             {{"\"layers\": {",
               "\"streams\": {\"kind\": \"altup\", \"count\": 2, "
               "\"active\": 2, \"floor\": 1, \"norm\": "
               "{\"kind\": \"rmsnorm\", \"eps\": 1e-5}}, "
               "\"layers\": {"}},
             "s.json:7:56: /decoder/streams/active: expected a stream (there "
             "are 2), got 2 [TFC026]\n"},
        Case{"LayerInputBeforeOthersOfStreams",
             decoderSpec,
             {{"\"layers\": {",
               "\"layer_inputs\": {\"width\": 2, \"norm\": "
               "{\"kind\": \"rmsnorm\", \"eps\": 1e-5}}, "
               "\"streams\": {\"kind\": \"altup\", \"count\": 2, "
               "\"floor\": 1, \"norm\": {\"kind\": "
               "\"rmsnorm\", \"eps\": 1e-5}}, \"layers\": {"},
              {"\"act\": \"silu\", \"gated\": true}",
               "\"act\": \"silu\", \"gated\": true}, \"layer_input\": "
               "{\"act\": \"relu\", \"post_scale\": 0.5}"}},
             "s.json:7:88: /decoder/streams: expected layers whose "
             "\"layer_input\" is the last sublayer, without parallel, "
             "post_norm, post_scale and residual (it is added to streams that "
             "the layer does not compute), got another [TFC026]\n"},
        Case{"ParallelPartsInTurn",
             encoderSpec,
             {{"\"layers\": {",
               "\"streams\": {\"kind\": \"reversible\"}, \"layers\": {"},
              {"\"placement\": \"post\"", "\"placement\": \"parallel\""}},
             "s.json:6:14: /encoder/final_norm: warning: expected a final "
             "norm (every layer has its norms in front), got nothing; "
             "\"none\" says that there is none [TFC026]\ns.json:15:16: "
             "/encoder/streams: expected no sublayer that is parallel to "
             "another (each reads the stream that the one before is added "
             "to), got one [TFC026]\n"},
        Case{"TargetsOfAWindow",
             encoderSpec,
             {{"\"layers\": {",
               "\"streams\": {\"kind\": \"two_stream\"}, \"layers\": {"},
              {"\"num_heads\": 4,",
               "\"num_heads\": 4, \"window\": {\"left\": 2, \"right\": 2},"}},
             "s.json:15:16: /encoder/streams: expected attention without "
             "window, softcap, log_scale_base and sparse (a target sees all "
             "other tokens that are none), got another [TFC026]\n"},
        Case{"TargetsBesideLayerInputs",
             encoderSpec,
             {{"\"layers\": {",
               "\"streams\": {\"kind\": \"two_stream\"}, "
               "\"layer_inputs\": {\"width\": 3, \"norm\": {\"kind\": "
               "\"layernorm\", \"eps\": 1e-5}}, \"layers\": {"}},
             "s.json:15:16: /encoder/streams: expected tokens of one table, "
             "which nothing else tells of (the row of a target stands in the "
             "place of its token's), got another [TFC026]\n"
             "s.json:15:56: /encoder/layer_inputs: expected a layer with a "
             "\"layer_input\", which reads it, got none [TFC026]\n"},
        Case{"AllHiddenOfStreams",
             decoderSpec,
             {{"\"layers\": {",
               "\"streams\": {\"kind\": \"altup\", \"count\": 2, "
               "\"floor\": 1, \"norm\": {\"kind\": "
               "\"rmsnorm\", \"eps\": 1e-5}}, \"layers\": {"},
              {"{\"logits\": \"lm\"}",
               "{\"logits\": \"lm\", \"all\": \"decoder.all_hidden\"}"}},
             "s.json:20:38: /outputs/all: expected decoder.hidden or a head "
             "(decoder.all_hidden of layers with streams is not supported by "
             "this tfc), got \"decoder.all_hidden\" [TFC090]\n"},
        Case{"SparsityOfAll",
             decoderSpec,
             {{"\"gated\": true", "\"gated\": true, \"sparsity\": 1"}},
             "s.json:13:72: /decoder/layers/block/ffn/sparsity: expected a "
             "number between 0 and 1 (the part of a gate's columns that "
             "becomes zeros), got 1 [TFC026]\n"},
        Case{"SparsityWithoutAGate",
             decoderSpec,
             {{"\"gated\": true", "\"gated\": false, \"sparsity\": 0.5"}},
             "s.json:13:73: /decoder/layers/block/ffn/sparsity: expected no "
             "\"sparsity\" (\"gated\" is false), got 0.5 [TFC026]\n"},
        Case{
            "NgramOfAnEvenNumber",
            encoderSpec,
            {{"\"ffn\": {\"width\"",
              "\"ngram\": {\"kernel\": 4, \"act\": \"tanh\"}, \"ffn\": "
              "{\"width\""}},
            "s.json:21:29: /encoder/layers/block/ngram/kernel: expected an odd "
            "number (as many tokens behind as before), got 4 [TFC026]\n"},
        Case{"NgramOfADecoder",
             decoderSpec,
             {{"\"ffn\": {",
               "\"ngram\": {\"kernel\": 3, \"act\": \"tanh\", \"pre_norm\": "
               "\"none\"}, \"ffn\": {"}},
             "s.json:13:18: /decoder/layers/block/ngram: expected no \"ngram\" "
             "but in an encoder (it looks at tokens that are to come), got an "
             "object [TFC026]\n"},
        Case{"StackMissing",
             encoderSpec,
             {{"\"kind\": \"encoder\"", "\"kind\": \"decoder\""}},
             "s.json:3:11: /decoder: expected \"decoder\" (kind is "
             "\"decoder\"), got nothing [TFC010]\n"},
        Case{"StackTooMany",
             decoderSpec,
             {{"  \"heads\"", "  \"encoder\": {\"embeddings\": {\"token\": "
                              "{}}, \"layers\": []},\n  \"heads\""}},
             "s.json:18:14: /encoder: expected no \"encoder\" (kind is "
             "\"decoder\"), got an object [TFC010]\n"},
        Case{"HeadsDoNotDivideHidden",
             encoderSpec,
             {{"\"num_heads\": 4", "\"num_heads\": 5"}},
             "s.json:20:31: /encoder/layers/block/attn/num_heads: expected a "
             "divisor of hidden (12) where no \"head_dim\" is given, got 5 "
             "[TFC011]\n"},
        Case{"HeadsTimesWidthTooLarge",
             encoderSpec,
             {{"\"num_heads\": 4", "\"num_heads\": 2048, \"head_dim\": 1024"}},
             "s.json:20:17: /encoder/layers/block/attn: expected at most "
             "1048576 (num_heads times head_dim), got 2048 times 1024 "
             "[TFC011]\n"},
        Case{"KeyHeadsDoNotDivideHeads",
             encoderSpec,
             {{"\"num_heads\": 4", "\"num_heads\": 4, \"num_kv_heads\": 3"}},
             "s.json:20:50: /encoder/layers/block/attn/num_kv_heads: expected "
             "a divisor of num_heads (4), got 3 [TFC012]\n"},
        Case{"GenerationNeedsCausal",
             decoderSpec,
             {{"\"causal\": true", "\"causal\": false"}},
             "s.json:12:44: /decoder/layers/block/attn/causal: expected true "
             "(generation needs causal attention), got false [TFC017]\n"},
        Case{"SelectorOutOfRange",
             encoderSpec,
             {{"\"layers\": \"2:\"", "\"layers\": \"4\""}},
             "s.json:23:32: /encoder/layers/overrides/0/layers: expected "
             "layers below 4 (repeat), got 4 [TFC018]\n"},
        Case{"SelectorEmpty",
             encoderSpec,
             {{"\"layers\": \"2:\"", "\"layers\": \"3:2\""}},
             "s.json:23:32: /encoder/layers/overrides/0/layers: expected at "
             "least one of the 4 layers, got \"3:2\" [TFC018]\n"},
        Case{"SelectorIsNoSlice",
             encoderSpec,
             {{"\"layers\": \"2:\"", "\"layers\": \"last\""}},
             "s.json:23:32: /encoder/layers/overrides/0/layers: expected a "
             "layer or a slice (\"5\", \"-1\", \"start:stop:step\"), got "
             "\"last\" [TFC018]\n"},
        Case{"SelectorList",
             encoderSpec,
             {{"\"layers\": \"2:\"", "\"layers\": [1, -5]"}},
             "s.json:23:32: /encoder/layers/overrides/0/layers: expected "
             "layers below 4 (repeat), got -5 [TFC018]\n"},
        Case{"PositionTableTooSmall",
             encoderSpec,
             {{"\"rows\": 18", "\"rows\": 17"}},
             "s.json:9:47: /encoder/embeddings/position/rows: expected at "
             "least 18 (max_positions 16 + offset 2), got 17 [TFC020]\n"},
        Case{"TokenTableTooSmall",
             encoderSpec,
             {{"\"token\": {\"rows\": 30}", "\"token\": {\"rows\": 20}"}},
             "s.json:8:25: /encoder/embeddings/token/rows: expected at least "
             "30 (dims.vocab), got 20 [TFC020]\n"},
        Case{"EmbeddingWidth",
             encoderSpec,
             {{"{\"rows\": 30}", "{\"rows\": 30, \"dim\": 6}"}},
             "s.json:8:36: /encoder/embeddings/token/dim: expected hidden (12; "
             "tables of another width need a projection), got 6 [TFC024]\n"},
        Case{"SegmentTwice",
             encoderSpec,
             {{"\"default\": 0}",
               "\"default\": 0},\n        {\"name\": \"kind\", \"rows\": 2, "
               "\"input\": \"token_type_ids\"}"}},
             "s.json:12:18: /encoder/embeddings/segments/1/name: expected a "
             "name of its own (two segments have it), got \"kind\" [TFC024]\n"
             "s.json:12:46: /encoder/embeddings/segments/1/input: expected an "
             "input of its own (another input has that name), got "
             "\"token_type_ids\" [TFC024]\n"},
        Case{"SegmentWithoutTable",
             encoderSpec,
             {{"\"rows\": 2, ", ""}},
             "s.json:11:9: /encoder/embeddings/segments/0: expected \"rows\" "
             "or \"use\" (a table of its own, or the token table), got neither "
             "[TFC024]\n"},
        Case{"PlacementWithoutNorm",
             encoderSpec,
             {{"        \"norm\": {\"$def\": \"norm\"},\n", ""}},
             "s.json:17:16: /encoder/layers/block/norm: expected \"norm\" "
             "(placement is \"post\"), got nothing [TFC026]\n"},
        Case{"NormWithoutPlacement",
             encoderSpec,
             {{"\"placement\": \"post\"", "\"placement\": \"none\""}},
             "s.json:19:17: /encoder/layers/block/norm: expected no \"norm\" "
             "(placement is \"none\"), got an object [TFC026]\n"},
        Case{"EmptyBlock",
             decoderSpec,
             {{",\n        \"attn\": {\"num_heads\": 3, \"causal\": true},\n   "
               "     \"ffn\": {\"width\": 20, \"act\": \"silu\", \"gated\": "
               "true}",
               ""}},
             "s.json:9:16: /decoder/layers/block: expected attn, cross, "
             "low_rank, conv, recurrent, ffn, moe, ngram or layer_input, got "
             "an empty block [TFC026]\n"},
        Case{"SublayersBesideSugar",
             decoderSpec,
             {{"\"placement\": \"pre\",",
               "\"sublayers\": [{\"ffn\": {\"width\": 20, \"act\": "
               "\"silu\"}}],"}},
             "s.json:11:9: /decoder/layers/block/norm: expected no \"norm\" "
             "(\"sublayers\" says it all), got an object [TFC026]\n"
             "s.json:12:9: /decoder/layers/block/attn: expected no \"attn\" "
             "(\"sublayers\" says it all), got an object [TFC026]\n"
             "s.json:13:9: /decoder/layers/block/ffn: expected no \"ffn\" "
             "(\"sublayers\" says it all), got an object [TFC026]\n"},
        Case{"AllFaultsAtOnce",
             decoderSpec,
             {{"\"hidden\": 12", "\"hidden\": 13"},
              {"\"act\": \"silu\"", "\"act\": \"swish\""},
              {"\"max_length\": 20", "\"max_lenght\": 20"},
              {"[2, 3]", "[2, 30]"}},
             "s.json:12:31: /decoder/layers/block/attn/num_heads: expected a "
             "divisor of hidden (13) where no \"head_dim\" is given, got 3 "
             "[TFC011]\n"
             "s.json:13:37: /decoder/layers/block/ffn/act: expected gelu, "
             "gelu_new, quick_gelu, relu, relu2, silu, tanh, sigmoid, identity "
             "or "
             "xielu "
             "(did you "
             "mean "
             "\"silu\"?), "
             "got \"swish\" [TFC028]\n"
             "s.json:21:35: /tokens/eos/1: expected a row of the token table "
             "(0 to 29), got 30 [TFC040]\n"
             "s.json:22:32: /generation/max_lenght: expected a known key (did "
             "you mean \"max_length\"?), got \"max_lenght\" [TFC002]\n"}),
    nameOf);
