// Specs with faults in the kind, in shared tables and in rotary attention.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/spec/MalformedSpec.h"

INSTANTIATE_TEST_SUITE_P(
    Positions, MalformedSpec,
    testing::Values(
        Case{"AxialWithoutAxes",
             encoderSpec,
             {{"\"learned\", \"rows\": 18, \"offset\": 2", "\"axial\""}},
             "s.json:9:19: /encoder/embeddings/position/dims: expected "
             "\"dims\" (of each axis, how many places it has and how wide "
             "their rows are), got nothing [TFC004]\ns.json:9:19: "
             "/encoder/embeddings/position/shape: expected \"shape\" (of "
             "each axis, how many places it has and how wide their rows "
             "are), got nothing [TFC004]\n"},
        Case{"AxialWithRows",
             encoderSpec,
             {{"\"learned\", \"rows\": 18, \"offset\": 2",
               "\"axial\", \"rows\": 18, \"shape\": [4, 4], \"dims\": [5, "
               "7], \"ids\": \"from_mask\""}},
             "s.json:9:45: /encoder/embeddings/position/rows: expected no "
             "\"rows\" (kind is \"axial\"), got 18 [TFC024]\ns.json:9:89: "
             "/encoder/embeddings/position/ids: expected \"arange\" (kind "
             "is \"axial\"), got \"from_mask\" [TFC024]\n"},
        Case{"AxialOfAnotherWidth",
             encoderSpec,
             {{"\"learned\", \"rows\": 18, \"offset\": 2",
               "\"axial\", \"shape\": [4, 4], \"dims\": [5, 6]"}},
             "s.json:9:62: /encoder/embeddings/position/dims: expected "
             "numbers that make 12 together (how wide rows are), got 11 "
             "[TFC024]\n"},
        Case{"AxialWithAWidthTooMany",
             encoderSpec,
             {{"\"learned\", \"rows\": 18, \"offset\": 2",
               "\"axial\", \"shape\": [4, 4], \"dims\": [4, 4, 4]"}},
             "s.json:9:62: /encoder/embeddings/position/dims: expected 2 "
             "numbers (\"shape\" has as many), got 3 [TFC024]\n"},
        Case{"AxialWithTooFewPlaces",
             encoderSpec,
             {{"\"learned\", \"rows\": 18, \"offset\": 2",
               "\"axial\", \"shape\": [3, 5], \"dims\": [5, 7]"}},
             "s.json:9:46: /encoder/embeddings/position/shape: expected "
             "at least 16 places (max_positions), got 15 [TFC020]\n"},
        Case{"AxialWithTooManyPlaces",
             encoderSpec,
             {{"\"learned\", \"rows\": 18, \"offset\": 2",
               "\"axial\", \"shape\": [268435456, 2], \"dims\": [5, 7]"}},
             "s.json:9:46: /encoder/embeddings/position/shape: expected "
             "at most 268435456 places in all, got more [TFC024]\n"},
        Case{"AxesOfALearnedTable",
             encoderSpec,
             {{"\"offset\": 2", "\"offset\": 2, \"shape\": [4, 4]"}},
             "s.json:9:73: /encoder/embeddings/position/shape: expected "
             "no \"shape\" (kind is not \"axial\"), got an array [TFC024]\n"},
        Case{"DecoderMissing",
             encoderDecoderSpec,
             {{"\"decoder\": {\n    \"emb", "\"decoders\": {\n    \"emb"}},
             "s.json:3:11: /decoder: expected \"decoder\" (kind is "
             "\"encoder_decoder\"), got nothing [TFC010]\ns.json:25:3: "
             "/decoders: expected a known key (did you mean \"decoder\"?), got "
             "\"decoders\" [TFC002]\n"},
        Case{
            "EncoderMissing",
            encoderSpec,
            {{"\"kind\": \"encoder\"", "\"kind\": \"encoder_decoder\""},
             {"\"encoder\": {", "\"decoder\": {"}},
            "s.json:3:11: /encoder: expected \"encoder\" (kind is "
            "\"encoder_decoder\"), got nothing [TFC010]\ns.json:15:15: "
            "/decoder/layers: expected a cross-attention in every layer of the "
            "decoder (others are not supported by this tfc), got none in layer "
            "0 [TFC090]\ns.json:20:17: /decoder/layers/block/attn/causal: "
            "expected true (bidirectional attention in a decoder is not "
            "supported by this tfc), got nothing [TFC090]\n"},
        Case{"SharedTableTooSmall",
             encoderDecoderSpec,
             {{"{\"token\": {\"rows\": 30}}", "{\"token\": {\"rows\": 29}}"}},
             "s.json:10:32: /shared/token/rows: expected at least 30 "
             "(dims.vocab), got 29 [TFC020]\n"},
        Case{"PositionTableOfAPairTooSmall",
             encoderDecoderSpec,
             {{"{\"use\": \"shared.token\"}}",
               "{\"use\": \"shared.token\"}, \"position\": {\"kind\": "
               "\"learned\", \"rows\": 2, \"offset\": 2}}"},
              {"\"dims\": {", "\"dims\": {\"max_positions\": 9, "}},
             "s.json:26:94: /decoder/embeddings/position/rows: expected at "
             "least 3 (1 + offset 2), got 2 [TFC020]\n"},
        Case{"SharedTableMissing",
             encoderDecoderSpec,
             {{"  \"shared\": {\"token\": {\"rows\": 30}},\n", ""},
              {"\"use\": \"shared.token\", ", ""}},
             "s.json:25:37: /decoder/embeddings/token/use: expected a table in "
             "\"shared\" (there is none), got \"shared.token\" [TFC024]\n"},
        Case{"SharedTableOfAnotherWidth",
             encoderDecoderSpec,
             {{"{\"token\": {\"rows\": 30}}", "{\"token\": {\"dim\": 6}}"}},
             "s.json:10:31: /shared/token/dim: expected hidden (12; "
             "tables of another width need a projection), got 6 [TFC024]\n"},
        Case{"RowsBesideTheSharedTable",
             encoderDecoderSpec,
             {{"{\"use\": \"shared.token\"}",
               "{\"use\": \"shared.token\", \"rows\": 30}"}},
             "s.json:26:61: /decoder/embeddings/token/rows: expected no "
             "\"rows\" (the shared table has its own), got 30 [TFC024]\n"},
        Case{"UseOfAnotherTable",
             encoderDecoderSpec,
             {{"\"use\": \"shared.token\"}", "\"use\": \"encoder.token\"}"}},
             "s.json:26:37: /decoder/embeddings/token/use: expected "
             "shared.token, got \"encoder.token\" [TFC004]\n"},
        Case{"PositionsByPaddingWithOffset",
             encoderSpec,
             {{"\"offset\": 2}", "\"offset\": 2, \"ids\": \"from_pad\"}"}},
             "s.json:9:61: /encoder/embeddings/position/offset: expected 0 "
             "(positions begin after tokens.pad), got 2 [TFC024]\n"},
        Case{"PositionsByPaddingWithoutPad",
             encoderSpec,
             {{"\"offset\": 2}", "\"ids\": \"from_pad\"}"},
              {"{\"pad\": 0}", "{}"}},
             "s.json:9:58: /encoder/embeddings/position/ids: expected "
             "tokens.pad (positions begin after it), got nothing [TFC024]\n"},
        Case{"PositionsByPaddingTooFew",
             encoderSpec,
             {{"\"rows\": 18, \"offset\": 2}",
               "\"rows\": 18, \"ids\": \"from_pad\"}"},
              {"{\"pad\": 0}", "{\"pad\": 2}"}},
             "s.json:9:47: /encoder/embeddings/position/rows: expected at "
             "least 19 (max_positions 16 + 1 + tokens.pad 2), got 18 "
             "[TFC020]\n"},
        Case{"PositionsByPaddingInADecoder",
             decoderSpec,
             {{"\"embeddings\": {\"token\": {}}",
               "\"embeddings\": {\"token\": {}, \"position\": {\"kind\": "
               "\"learned\", \"rows\": 9, \"ids\": \"from_pad\"}}"},
              {"{\"bos\": 1,", "{\"pad\": 0, \"bos\": 1,"},
              {"\"max_length\": 20", "\"max_length\": 8"}},
             "s.json:6:83: /decoder/embeddings/position/ids: expected arange "
             "or from_mask (from_pad in a decoder without an encoder is not "
             "supported by this tfc), got \"from_pad\" [TFC090]\n"},
        Case{"SinusoidWithoutLayout",
             encoderSpec,
             {{"\"kind\": \"learned\"",
               "\"kind\": \"sinusoid\", \"denominator\": \"dim\""}},
             "s.json:9:19: /encoder/embeddings/position/layout: expected "
             "\"layout\" (there is no usual one), got nothing [TFC004]\n"},
        Case{"LayoutWithoutSinusoid",
             encoderSpec,
             {{"\"kind\": \"learned\"",
               "\"kind\": \"learned\", \"layout\": \"concat\""}},
             "s.json:9:49: /encoder/embeddings/position/layout: expected no "
             "\"layout\" (kind is not \"sinusoid\"), got \"concat\" "
             "[TFC024]\n"},
        Case{"SlopesOfOtherHeads",
             decoderSpec,
             {{"\"causal\": true", "\"causal\": true, \"slopes\": [1]"}},
             "s.json:12:60: /decoder/layers/block/attn/slopes: expected 3 "
             "slopes (num_heads), got 1 [TFC015]\n"},
        Case{
            "LogScaleOfOne",
            decoderSpec,
            {{"\"causal\": true", "\"causal\": true, \"log_scale_base\": 1"}},
            "s.json:12:68: /decoder/layers/block/attn/log_scale_base: expected "
            "a number above 1 that f32 can hold, got 1 [TFC004]\n"},
        Case{"PositionsByMaskWithoutOffset",
             encoderSpec,
             {{"\"offset\": 2}", "\"ids\": \"from_mask\"}"}},
             "s.json:9:19: /encoder/embeddings/position/offset: expected at "
             "least 1 (masked tokens have the row before the first), got "
             "nothing [TFC024]\n"},
        Case{"TokenScaleZero",
             encoderDecoderSpec,
             {{"\"sqrt_hidden\"", "0"}},
             "s.json:12:62: /encoder/embeddings/token/scale: expected a number "
             "above 0 that f32 can hold, got 0 [TFC004]\n"},
        Case{"RmsNormWithBias",
             encoderDecoderSpec,
             {{"\"kind\": \"rmsnorm\", ",
               "\"kind\": \"rmsnorm\", \"bias\": true, "}},
             "s.json:6:41: /defs/norm/bias: expected false (kind is "
             "\"rmsnorm\"), got true [TFC026]\n"},
        Case{"RotaryDimOdd",
             decoderSpec,
             {{"\"causal\": true", "\"causal\": true, \"rotary\": {\"style\": "
                                   "\"half\", \"theta\": 10000, \"dim\": 3}"}},
             "s.json:12:101: /decoder/layers/block/attn/rotary/dim: expected "
             "an even number, at most head_dim (4), got 3 [TFC013]\n"},
        Case{"RotaryDimTooWide",
             decoderSpec,
             {{"\"causal\": true", "\"causal\": true, \"rotary\": {\"style\": "
                                   "\"half\", \"theta\": 10000, \"dim\": 6}"}},
             "s.json:12:101: /decoder/layers/block/attn/rotary/dim: expected "
             "an even number, at most head_dim (4), got 6 [TFC013]\n"},
        Case{"RotaryTurnsMoreThanItsColumns",
             decoderSpec,
             {{"\"causal\": true",
               "\"causal\": true, \"rotary\": {\"style\": \"half\", \"theta\": "
               "10000, \"dim\": 2, \"turned\": 4}"}},
             "s.json:12:114: /decoder/layers/block/attn/rotary/turned: "
             "expected an even number, at most 2 (the rotary dim), got 4 "
             "[TFC013]\n"},
        Case{"GateOfHeadsWithoutAGate",
             decoderSpec,
             {{"\"causal\": true", "\"causal\": true, \"gate_per\": \"head\""}},
             "s.json:12:62: /decoder/layers/block/attn/gate_per: expected no "
             "\"gate_per\" (there is no \"gate\"), got \"head\" [TFC026]\n"},
        Case{"RotaryTheta",
             decoderSpec,
             {{"\"causal\": true", "\"causal\": true, \"rotary\": {\"style\": "
                                   "\"half\", \"theta\": 1}"}},
             "s.json:12:87: /decoder/layers/block/attn/rotary/theta: expected "
             "a number above 1 that f32 can hold, got 1 [TFC013]\n"},
        Case{"RotaryHeadOdd",
             decoderSpec,
             {{"\"causal\": true",
               "\"causal\": true, \"head_dim\": 5, \"rotary\": {\"style\": "
               "\"half\", \"theta\": 10}"}},
             "s.json:12:75: /decoder/layers/block/attn/rotary/dim: expected an "
             "even number, at most head_dim (5), got 5 [TFC013]\n"},
        Case{"RotaryWithoutStyle",
             decoderSpec,
             {{"\"causal\": true",
               "\"causal\": true, \"rotary\": {\"theta\": 10000}"}},
             "s.json:12:60: /decoder/layers/block/attn/rotary/style: expected "
             "\"style\" (it is required), got nothing [TFC004]\n"},
        Case{"ScalingUnknown",
             decoderSpec,
             {{"\"causal\": true",
               "\"causal\": true, \"rotary\": {\"style\": \"half\", \"theta\": "
               "10000, \"scaling\": {\"kind\": \"ntk\", \"factor\": 2}}"}},
             "s.json:12:114: /decoder/layers/block/attn/rotary/scaling/kind: "
             "expected linear, dynamic, llama3, yarn or longrope (did you mean "
             "\"dynamic\"?), got \"ntk\" [TFC004]\n"},
        Case{"ScalingWithoutFactor",
             decoderSpec,
             {{"\"causal\": true",
               "\"causal\": true, \"rotary\": {\"style\": \"half\", \"theta\": "
               "10000, \"scaling\": {\"kind\": \"linear\"}}"}},
             "s.json:12:105: /decoder/layers/block/attn/rotary/scaling/factor: "
             "expected \"factor\" (it is required), got nothing [TFC004]\n"},
        Case{"ScalingFactorBelowOne",
             decoderSpec,
             {{"\"causal\": true",
               "\"causal\": true, \"rotary\": {\"style\": \"half\", \"theta\": "
               "10000, \"scaling\": {\"kind\": \"linear\", \"factor\": 0.5}}"}},
             "s.json:12:134: /decoder/layers/block/attn/rotary/scaling/factor: "
             "expected a number from 1 to 1000000000, got 0.5 [TFC013]\n"},
        Case{"ScalingKeyOfAnotherKind",
             decoderSpec,
             {{"\"causal\": true",
               "\"causal\": true, \"rotary\": {\"style\": \"half\", \"theta\": "
               "10000, \"scaling\": {\"kind\": \"linear\", \"factor\": 2, "
               "\"truncate\": true}}"}},
             "s.json:12:137: "
             "/decoder/layers/block/attn/rotary/scaling/truncate: expected one "
             "of the keys factor, got \"truncate\" [TFC002]\n"},
        Case{"DynamicOfOnePair",
             decoderSpec,
             {{"\"causal\": true",
               "\"causal\": true, \"rotary\": {\"style\": \"half\", \"theta\": "
               "10000, \"dim\": 2, \"scaling\": {\"kind\": \"dynamic\", "
               "\"factor\": 2}}"}},
             "s.json:12:115: /decoder/layers/block/attn/rotary/scaling: "
             "expected no dynamic scaling (the rotary dim is 2), got an object "
             "[TFC013]\n"},
        Case{"Llama3Factors",
             decoderSpec,
             {{"\"causal\": true",
               "\"causal\": true, \"rotary\": {\"style\": \"half\", \"theta\": "
               "10000, \"scaling\": {\"kind\": \"llama3\", \"factor\": 2, "
               "\"low_freq_factor\": 4, \"high_freq_factor\": 4, "
               "\"original_max\": 8}}"}},
             "s.json:12:179: "
             "/decoder/layers/block/attn/rotary/scaling/high_freq_factor: "
             "expected more than low_freq_factor, got 4 [TFC013]\n"},
        Case{"YarnWithoutItsLength",
             decoderSpec,
             {{"\"causal\": true",
               "\"causal\": true, \"rotary\": {\"style\": \"half\", \"theta\": "
               "10000, \"scaling\": {\"kind\": \"yarn\", \"factor\": 2}}"}},
             "s.json:12:105: "
             "/decoder/layers/block/attn/rotary/scaling/original_max: expected "
             "the longest context of the training (here or in "
             "dims.max_positions), got nothing [TFC013]\n"},
        Case{"LongropeFactors",
             decoderSpec,
             {{"\"vocab\": 30", "\"vocab\": 30, \"max_positions\": 8"},
              {"\"causal\": true",
               "\"causal\": true, \"rotary\": {\"style\": \"half\", \"theta\": "
               "10000, \"scaling\": {\"kind\": \"longrope\", \"factor\": 2, "
               "\"short_factor\": [1]}}"}},
             "s.json:12:155: "
             "/decoder/layers/block/attn/rotary/scaling/short_factor: expected "
             "2 numbers (one for each pair of columns), got 1 [TFC013]\n"},
        Case{"LongropeBeyondItsLength",
             decoderSpec,
             {{"\"vocab\": 30", "\"vocab\": 30, \"max_positions\": 9"},
              {"\"causal\": true",
               "\"causal\": true, \"rotary\": {\"style\": \"half\", \"theta\": "
               "10000, \"scaling\": {\"kind\": \"longrope\", \"factor\": 2, "
               "\"short_factor\": [1, 1], \"original_max\": 8}}"}},
             "s.json:4:56: /dims/max_positions: expected dims.max_positions of "
             "at most original_max (8; the frequencies of longer sequences are "
             "not supported by this tfc), got 9 [TFC090]\n"},
        Case{"YarnMscale",
             decoderSpec,
             {{"\"causal\": true",
               "\"causal\": true, \"rotary\": {\"style\": \"half\", \"theta\": "
               "10000, \"scaling\": {\"kind\": \"yarn\", \"factor\": 2, "
               "\"original_max\": 8, \"mscale\": -1}}"}},
             "s.json:12:164: /decoder/layers/block/attn/rotary/scaling/mscale: "
             "expected a number from 0 to 1000000000, got -1 [TFC013]\n"},
        Case{"YarnBeta",
             decoderSpec,
             {{"\"causal\": true",
               "\"causal\": true, \"rotary\": {\"style\": \"half\", \"theta\": "
               "10000, \"scaling\": {\"kind\": \"yarn\", \"factor\": 2, "
               "\"original_max\": 8, \"beta_fast\": 0}}"}},
             "s.json:12:167: "
             "/decoder/layers/block/attn/rotary/scaling/beta_fast: expected a "
             "number above 0 that f32 can hold, got 0 [TFC004]\n"},
        Case{
            "WindowToTheRight",
            decoderSpec,
            {{"\"causal\": true",
              "\"causal\": true, \"window\": {\"left\": 3, \"right\": 1}"}},
            "s.json:12:81: /decoder/layers/block/attn/window/right: expected 0 "
            "(causal attention does not look to the right), got 1 [TFC014]\n"},
        Case{"WindowWithOneSide",
             encoderSpec,
             {{"\"num_heads\": 4,",
               "\"num_heads\": 4, \"window\": {\"left\": 3},"}},
             "s.json:20:44: /encoder/layers/block/attn/window/right: expected "
             "\"right\" (it is required), got nothing [TFC004]\n"},
        Case{"WindowOfANegativeWidth",
             encoderSpec,
             {{"\"num_heads\": 4,",
               "\"num_heads\": 4, \"window\": {\"left\": 3, \"right\": -1},"}},
             "s.json:20:65: /encoder/layers/block/attn/window/right: expected "
             "an "
             "integer from 0 to 268435456, got -1 [TFC004]\n"}),
    nameOf);
