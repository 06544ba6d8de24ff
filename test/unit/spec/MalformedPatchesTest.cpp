// Specs with faults in rows of floats that stand beside a table's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/spec/MalformedSpec.h"

static const char segments[] =
    "\"segments\": [\n        {\"name\": \"kind\", \"rows\": 2, \"input\": "
    "\"token_type_ids\", \"default\": 0}\n      ],\n";

/// Patches in place of the segments, and `more` behind them.
static std::pair<std::string, std::string> patches(const std::string &more) {
  return {segments, "\"patches\": {\"width\": 5}" + more + ",\n"};
}

static const std::string probe =
    "{\"op\": \"probe\", \"name\": \"map\", \"norm\": {\"$def\": "
    "\"norm\"}, \"width\": 5, \"act\": \"gelu\"}";

static const std::string place =
    "\"attn\": {\"num_heads\": 3, \"bias\": true, \"rotary\": {\"style\": "
    "\"half\", \"theta\": 10, \"grid\": {\"columns\": 2, \"rows\": ";

INSTANTIATE_TEST_SUITE_P(
    Probes, MalformedSpec,
    testing::Values(
        Case{"BehindATake",
             encoderSpec,
             {{"{\"op\": \"dense\", \"name\": \"dense\", \"out\": 12, "
               "\"act\": \"tanh\"}",
               probe}},
             "s.json:29:7: /heads/pooler/steps/1: expected one take or pool "
             "from the stack to the result, got another [TFC036]\n"},
        Case{"OfSharedKeys",
             encoderSpec,
             {{"{\"op\": \"take\", \"at\": \"first\"}", probe},
              {"\"num_heads\": 4", "\"num_heads\": 4, \"num_kv_heads\": 2"}},
             "s.json:28:7: /heads/pooler/steps/0: expected as many key heads "
             "as heads in the stack's attention (not supported by this tfc), "
             "got 2 [TFC090]\n"},
        Case{"WithoutPositions",
             encoderSpec,
             {{"{\"op\": \"take\", \"at\": \"first\"}", probe},
              {"{\"kind\": \"learned\", \"rows\": 18, \"offset\": 2}",
               "{\"kind\": \"none\"}"}},
             "s.json:28:7: /heads/pooler/steps/0: expected an encoder with "
             "attention and a \"position\" of its embeddings in front of a "
             "probe (other stacks are not supported by this tfc), got another "
             "stack [TFC090]\n"}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Grids, MalformedSpec,
    testing::Values(
        Case{"TooSmall",
             encoderSpec,
             {{"\"attn\": {\"num_heads\": 4, \"bias\": true}", place + "3}}}"}},
             "s.json:20:97: /encoder/layers/block/attn/rotary/grid: expected "
             "places for dims.max_positions (16) tokens, at most 4194304, got "
             "6 [TFC013]\n"},
        Case{"TooLarge",
             encoderSpec,
             {{"\"attn\": {\"num_heads\": 4, \"bias\": true}",
               place + "1048576, \"front\": 2097153}}}"}},
             "s.json:20:97: /encoder/layers/block/attn/rotary/grid: expected "
             "places for dims.max_positions (16) tokens, at most 4194304, got "
             "4194305 [TFC013]\n"},
        Case{"OfOddPairs",
             encoderSpec,
             {{"\"attn\": {\"num_heads\": 4, \"bias\": true}",
               place + "8}, \"dim\": 2}}"}},
             "s.json:20:131: /encoder/layers/block/attn/rotary/dim: expected a "
             "multiple of 4 (places of a grid have two coordinates), got 2 "
             "[TFC013]\n"},
        Case{"Stretched",
             encoderSpec,
             {{"\"attn\": {\"num_heads\": 4, \"bias\": true}",
               place + "8}, \"scaling\": {\"kind\": \"linear\", "
                       "\"factor\": 2}}}"}},
             "s.json:20:135: /encoder/layers/block/attn/rotary/scaling: "
             "expected no \"scaling\" (places of a grid have two "
             "coordinates), got an object [TFC013]\n"},
        Case{
            "InADecoder",
            decoderSpec,
            {{"\"vocab\": 30}", "\"vocab\": 30, \"max_positions\": 16}"},
             {"\"attn\": {\"num_heads\": 3, \"causal\": true}",
              place + "8}}, \"causal\": true}"}},
            "s.json:12:97: /decoder/layers/block/attn/rotary/grid: expected no "
            "grid but in an encoder (not supported by this tfc), got an object "
            "[TFC090]\n"},
        Case{"OfAPart",
             encoderSpec,
             {{"\"attn\": {\"num_heads\": 4, \"bias\": true}",
               place + "8}, \"turned\": 2}}"}},
             "s.json:20:134: /encoder/layers/block/attn/rotary/turned: "
             "expected no \"turned\" (places of a grid have two coordinates), "
             "got 2 [TFC013]\n"}),
    nameOf);

static const char *const norm = "\"decoder.final_norm\": \"{p}n\"";

INSTANTIATE_TEST_SUITE_P(
    Parts, MalformedSpec,
    testing::Values(
        Case{"OfAStem",
             decoderSpec,
             {{norm, "\"decoder.final_norm\": {\"parts\": [{\"rows\": 12}]}"}},
             "s.json:34:29: /weights/map/decoder.final_norm: expected a key "
             "that ends in .weight or .bias (\"parts\" are tensors), got a "
             "stem [TFC058]\n"},
        Case{"OfFewerRows",
             decoderSpec,
             {{norm, "\"decoder.final_norm.weight\": {\"parts\": [{\"tensor\": "
                     "\"{p}n\", \"rows\": 5}]},\n\"decoder.final_norm.bias\": "
                     "{\"parts\": [{\"rows\": 12}]}"}},
             "s.json:34:46: /weights/map/decoder.final_norm.weight/parts: "
             "expected parts of 12 rows together (those of "
             "decoder.final_norm.weight), got 5 [TFC058]\n"},
        Case{"BesideATensor",
             decoderSpec,
             {{norm,
               "\"decoder.final_norm.weight\": {\"parts\": [{\"rows\": 12}], "
               "\"tensor\": \"n\"},\n\"decoder.final_norm.bias\": "
               "{\"tensor\": \"b\"}"}},
             "s.json:34:62: /weights/map/decoder.final_norm.weight/tensor: "
             "expected nothing beside \"parts\", got \"tensor\" [TFC058]\n"},
        Case{"BeyondWhatIsStored",
             decoderSpec,
             {{norm,
               "\"decoder.final_norm.weight\": {\"parts\": [{\"tensor\": "
               "\"n\", \"rows\": 12, \"first_row\": 1, \"stored_rows\": "
               "12}]},\n\"decoder.final_norm.bias\": {\"tensor\": \"b\"}"}},
             "s.json:34:47: /weights/map/decoder.final_norm.weight/parts/0: "
             "expected rows within \"stored_rows\" (12), got 12 from row 1 "
             "[TFC058]\n"}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Patches, MalformedSpec,
    testing::Values(
        Case{"WithoutAWidth",
             encoderSpec,
             {{segments, "\"patches\": {},\n"}},
             "s.json:10:18: /encoder/embeddings/patches/width: expected "
             "\"width\" (it is required), got nothing [TFC004]\n"},
        Case{"BesideSegments",
             encoderSpec,
             {{"\"token\": {\"rows\": 30},",
               "\"token\": {\"rows\": 30}, \"patches\": {\"width\": 5},"}},
             "s.json:10:19: /encoder/embeddings/segments: expected no "
             "\"segments\" (patches have none), got an array [TFC024]\n"},
        Case{"OfAScaledTable",
             encoderSpec,
             {patches(""),
              {"\"token\": {\"rows\": 30}",
               "\"token\": {\"rows\": 30, \"scale\": 2}"}},
             "s.json:8:38: /encoder/embeddings/token/scale: expected no "
             "\"scale\" (patches stand beside the table's rows), got 2 "
             "[TFC024]\n"},
        Case{"WhosePositionsAreOfIds",
             encoderSpec,
             {patches(""),
              {"\"rows\": 18, \"offset\": 2", "\"ids\": \"from_pad\""}},
             "s.json:9:46: /encoder/embeddings/position/ids: expected "
             "\"arange\" (patches have no ids), got \"from_pad\" [TFC024]\n"},
        Case{"InADecoder",
             decoderSpec,
             {{"\"token\": {}", "\"token\": {}, \"patches\": {\"width\": 5}"}},
             "s.json:6:44: /decoder/embeddings/patches: expected no patches "
             "but in an encoder (not supported by this tfc), got an object "
             "[TFC090]\n"},
        Case{"WithNeitherATable",
             encoderSpec,
             {{"\"token\": {\"rows\": 30}", "\"token\": \"none\""}},
             "s.json:8:16: /encoder/embeddings/token: expected a table (there "
             "are no \"patches\"), got \"none\" [TFC024]\n"},
        Case{"OfAnEvenKernel",
             encoderSpec,
             {{segments, "\"patches\": {\"width\": 5, \"convs\": "
                         "[{\"kernel\": 2}]},\n"},
              {"\"token\": {\"rows\": 30}", "\"token\": \"none\""}},
             "s.json:10:52: /encoder/embeddings/patches/convs/0/kernel: "
             "expected an odd number (as many frames behind as before), got 2 "
             "[TFC024]\n"},
        Case{"OfATableThatIsNone",
             encoderSpec,
             {{segments, "\"patches\": {\"width\": 6, \"convs\": "
                         "[{\"kernel\": 3, \"stride\": 2}]},\n"},
              {"\"token\": {\"rows\": 30}", "\"token\": \"none\""},
              {"\"both\", \"out\": 2", "\"both\", \"tied\": \"\""}},
             "s.json:29:48: /heads/qa/steps/0/tied: expected \"out\" instead "
             "(no stack has a table), got \"\" [TFC030]\n"},
        Case{"OfPartsOfFrames",
             encoderSpec,
             {{segments, "\"patches\": {\"width\": 5, \"convs\": "
                         "[{\"kernel\": 3, \"stride\": 2}]},\n"},
              {"\"token\": {\"rows\": 30}", "\"token\": \"none\""}},
             "s.json:10:28: /encoder/embeddings/patches/width: expected 2 "
             "frames (the strides of \"convs\"), got 5 columns [TFC024]\n"},
        Case{"ConvolvedBesideATable",
             encoderSpec,
             {{segments, "\"patches\": {\"width\": 5, \"bias\": true, "
                         "\"convs\": [{\"kernel\": 3}]},\n"}},
             "s.json:8:16: /encoder/embeddings/token: expected \"none\" "
             "(\"convs\" are over all rows), got an object [TFC024]\n"
             "s.json:10:39: /encoder/embeddings/patches/bias: expected no "
             "\"bias\" (convolutions have their own), got true [TFC024]\n"},
        Case{"OfTooManyFrames",
             encoderSpec,
             {{segments,
               "\"patches\": {\"width\": 4096, \"convs\": [{\"kernel\": 1, "
               "\"stride\": 16}, {\"kernel\": 1, \"stride\": 16}, "
               "{\"kernel\": 1, \"stride\": 16}]},\n"},
              {"\"token\": {\"rows\": 30}", "\"token\": \"none\""}},
             "s.json:10:97: /encoder/embeddings/patches/convs/1/stride: "
             "expected strides that multiply to at most 64, got 256 "
             "[TFC024]\n"},
        Case{"WhoseHeadLooksForIds",
             encoderSpec,
             {patches(""), {"\"at\": \"first\"", "\"at\": \"last_nonpad\""}},
             "s.json:26:28: /heads/pooler/steps/0/at: expected first, "
             "first_visible or last_visible (patches have no ids), got "
             "\"last_nonpad\" [TFC036]\n"}),
    nameOf);
