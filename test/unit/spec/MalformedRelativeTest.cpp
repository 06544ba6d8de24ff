// Specs whose relative terms are at odds with their table or their attention.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/spec/MalformedSpec.h"

INSTANTIATE_TEST_SUITE_P(
    Relative, MalformedSpec,
    testing::Values(
        Case{"TableInADecoder",
             decoderSpec,
             {{"\"embeddings\": {\"token\": {}},",
               "\"embeddings\": {\"token\": {}}, \"relative\": {\"kind\": "
               "\"table\", \"span\": 4},"}},
             "s.json:6:46: /decoder/relative: expected \"none\" or a sinusoid "
             "as wide as hidden (other tables of distances in a decoder are "
             "not supported by this tfc), got another one [TFC090]\n"},
        Case{"WidthOfAStoredTable",
             encoderSpec,
             {{"\"num_heads\": 4,",
               "\"num_heads\": 4, \"relative\": {\"keys\": \"own\"},"},
              {"\"layers\": {\n      \"repeat\": 4",
               "\"relative\": {\"kind\": \"table\", \"width\": "
               "\"hidden\", \"span\": 4}, \"layers\": {\n      "
               "\"repeat\": 4"}},
             "s.json:15:44: /encoder/relative/width: expected no \"width\" (it "
             "is of a sinusoid), got \"hidden\" [TFC015]\n"},
        Case{"NormOfASinusoid",
             encoderSpec,
             {{"\"num_heads\": 4,",
               "\"num_heads\": 4, \"relative\": {\"keys\": \"own\"},"},
              {"\"layers\": {\n      \"repeat\": 4",
               "\"relative\": {\"kind\": \"sinusoid\", \"width\": "
               "\"hidden\", \"span\": 4, \"max_distance\": 9}, "
               "\"layers\": {\n      \"repeat\": 4"}},
             "s.json:15:84: /encoder/relative/max_distance: expected no "
             "\"max_distance\" (of a sinusoid it is not supported by this "
             "tfc), got 9 [TFC090]\n"},
        Case{"QueryBiasWithoutKeys",
             encoderSpec,
             {{"\"num_heads\": 4,",
               "\"num_heads\": 4, \"relative\": {\"queries\": \"own\", "
               "\"query_bias\": true},"},
              {"\"layers\": {\n      \"repeat\": 4",
               "\"relative\": {\"kind\": \"table\", \"span\": 4}, "
               "\"layers\": {\n      \"repeat\": 4"}},
             "s.json:20:79: /encoder/layers/block/attn/relative/query_bias: "
             "expected false (there are no \"keys\" whose products have one), "
             "got true [TFC015]\n"},
        Case{"SegmentsInADecoder",
             decoderSpec,
             {{"\"embeddings\": {\"token\": {}},",
               "\"embeddings\": {\"token\": {}}, \"relative\": "
               "{\"kind\": \"sinusoid\", \"width\": \"hidden\", "
               "\"span\": 4},"},
              {"\"num_heads\": 3,",
               "\"num_heads\": 3, \"relative\": {\"keys\": \"own\", "
               "\"segments\": true},"}},
             "s.json:12:74: /decoder/layers/block/attn/relative/segments: "
             "expected false (types of tokens of earlier steps are not "
             "supported by this tfc), got true [TFC090]\n"},
        Case{
            "NoTerms",
            encoderSpec,
            {{"\"num_heads\": 4,",
              "\"num_heads\": 4, \"relative\": {\"keys\": \"none\"},"},
             {"\"layers\": {\n      \"repeat\": 4",
              "\"relative\": {\"kind\": \"table\", \"span\": 4}, \"layers\": "
              "{\n      \"repeat\": 4"}},
            "s.json:20:46: /encoder/layers/block/attn/relative: expected "
            "\"keys\", \"queries\" or \"values\" (without a term there is "
            "nothing to add; \"none\" says that), got none of them [TFC015]\n"},
        Case{"NoTable",
             encoderSpec,
             {{"\"num_heads\": 4,",
               "\"num_heads\": 4, \"relative\": {\"keys\": \"own\"},"}},
             "s.json:20:46: /encoder/layers/block/attn/relative: expected a "
             "table of distances in the stack's \"relative\" (the terms are of "
             "it), got none [TFC015]\n"},
        Case{"NobodyReadsTheTable",
             encoderSpec,
             {{"\"layers\": {\n      \"repeat\": 4",
               "\"relative\": {\"kind\": \"table\", \"span\": 4}, \"layers\": "
               "{\n      \"repeat\": 4"}},
             "s.json:15:17: /encoder/relative: expected an attention with "
             "\"relative\" terms of the table, got none [TFC015]\n"},
        Case{"HeadsThatShareKeys",
             encoderSpec,
             {{"\"num_heads\": 4,", "\"num_heads\": 4, \"num_kv_heads\": 2, "
                                    "\"relative\": {\"keys\": \"own\"},"},
              {"\"layers\": {\n      \"repeat\": 4",
               "\"relative\": {\"kind\": \"table\", \"span\": 4}, \"layers\": "
               "{\n      \"repeat\": 4"}},
             "s.json:20:65: /encoder/layers/block/attn/relative: expected "
             "\"none\" (relative terms of heads that share keys are not "
             "supported by this tfc), got an object [TFC090]\n"},
        Case{
            "BiasOfASharedProjection",
            encoderSpec,
            {{"\"num_heads\": 4,", "\"num_heads\": 4, \"relative\": {\"keys\": "
                                   "\"shared\", \"bias\": {\"keys\": true}},"},
             {"\"layers\": {\n      \"repeat\": 4",
              "\"relative\": {\"kind\": \"table\", \"span\": 4}, \"layers\": "
              "{\n      \"repeat\": 4"}},
            "s.json:20:82: /encoder/layers/block/attn/relative/bias/keys: "
            "expected false (\"keys\" has no projection of its own), got true "
            "[TFC015]\n"},
        Case{"OddSpanOfSharedRows",
             encoderSpec,
             {{"\"num_heads\": 4,",
               "\"num_heads\": 4, \"relative\": {\"keys\": \"own\"},"},
              {"\"layers\": {\n      \"repeat\": 4",
               "\"relative\": {\"kind\": \"table\", \"span\": 5, "
               "\"max_distance\": 9}, \"layers\": {\n      \"repeat\": 4"}},
             "s.json:15:62: /encoder/relative/max_distance: expected no "
             "\"max_distance\" (the nearer half of the span has a row a "
             "distance: it is even and at least 4), got 9 [TFC015]\n"},
        Case{"NearMaxDistance",
             encoderSpec,
             {{"\"num_heads\": 4,",
               "\"num_heads\": 4, \"relative\": {\"keys\": \"own\"},"},
              {"\"layers\": {\n      \"repeat\": 4",
               "\"relative\": {\"kind\": \"table\", \"span\": 8, "
               "\"max_distance\": 5}, \"layers\": {\n      \"repeat\": 4"}},
             "s.json:15:62: /encoder/relative/max_distance: expected more than "
             "5 (nearer distances have a row each), got 5 [TFC015]\n"},
        Case{"TermsOfValues",
             encoderSpec,
             {{"\"num_heads\": 4,", "\"num_heads\": 4, \"relative\": "
                                    "{\"keys\": \"own\", \"values\": true},"},
              {"\"layers\": {\n      \"repeat\": 4",
               "\"relative\": {\"kind\": \"table\", \"span\": 8}, \"layers\": "
               "{\n      \"repeat\": 4"}},
             "s.json:20:72: /encoder/layers/block/attn/relative/values: "
             "expected false (terms of values are supported by this tfc where "
             "the "
             "stack's table is as wide as a head), got true [TFC090]\n"},
        Case{"ProjectionOfATableOfHeads",
             encoderSpec,
             {{"\"num_heads\": 4,", "\"num_heads\": 4, \"relative\": "
                                    "{\"keys\": \"own\"},"},
              {"\"layers\": {\n      \"repeat\": 4",
               "\"relative\": {\"kind\": \"table\", \"span\": 8, "
               "\"per_layer\": true}, \"layers\": {\n      \"repeat\": 4"}},
             "s.json:20:55: /encoder/layers/block/attn/relative/keys: expected "
             "\"identity\" or \"none\" (the stack's table is as wide as a "
             "head), got \"own\" [TFC015]\n"},
        Case{"RowsOfAWideTable",
             encoderSpec,
             {{"\"num_heads\": 4,", "\"num_heads\": 4, \"relative\": "
                                    "{\"keys\": \"identity\"},"},
              {"\"layers\": {\n      \"repeat\": 4",
               "\"relative\": {\"kind\": \"table\", \"span\": 8}, "
               "\"layers\": {\n      \"repeat\": 4"}},
             "s.json:20:55: /encoder/layers/block/attn/relative/keys: expected "
             "\"own\", \"shared\" or \"none\" (the stack's table is as wide "
             "as hidden), got \"identity\" [TFC015]\n"},
        Case{"NormOfATableOfHeads",
             encoderSpec,
             {{"\"num_heads\": 4,", "\"num_heads\": 4, \"relative\": "
                                    "{\"values\": true},"},
              {"\"layers\": {\n      \"repeat\": 4",
               "\"relative\": {\"kind\": \"table\", \"span\": 8, "
               "\"max_distance\": 20, \"per_layer\": true}, \"layers\": {\n  "
               "    \"repeat\": 4"}},
             "s.json:15:62: /encoder/relative/max_distance: expected no "
             "\"max_distance\" (of tables as wide as a head it is not "
             "supported by this tfc), got 20 [TFC090]\n"},
        Case{"SinusoidOfAnOddWidth",
             encoderSpec,
             {{"\"num_heads\": 4,", "\"num_heads\": 4, \"relative\": "
                                    "{\"values\": true},"},
              {"\"layers\": {\n      \"repeat\": 4",
               "\"relative\": {\"kind\": \"sinusoid\", \"span\": 8}, "
               "\"layers\": {\n      \"repeat\": 4"}},
             "s.json:20:46: /encoder/layers/block/attn/relative: expected "
             "\"none\" (a sinusoid has an even width, head_dim is 3), got an "
             "object [TFC015]\n"},
        Case{"BlocksBesideAWindow",
             encoderSpec,
             {{"\"num_heads\": 4,",
               "\"num_heads\": 4, \"window\": {\"left\": 2, \"right\": 2}, "
               "\"sparse\": {\"kind\": \"block\", \"block\": 2, "
               "\"random\": 1},"}},
             "s.json:20:44: /encoder/layers/block/attn/window: expected "
             "\"none\" (beside \"sparse\" a window is not supported by this "
             "tfc), got an object [TFC090]\n"},
        Case{
            "RoundedSlopesWithoutSlopes",
            encoderSpec,
            {{"\"num_heads\": 4,",
              "\"num_heads\": 4, \"rounded_slopes\": true,"}},
            "s.json:20:52: /encoder/layers/block/attn/rounded_slopes: expected "
            "false (there are no slopes), got true [TFC015]\n"},
        Case{"CrossWithTerms",
             encoderDecoderSpec,
             {{"\"num_kv_heads\": 1", "\"relative\": {\"keys\": \"own\"}"}},
             "s.json:34:47: /decoder/layers/block/cross/relative: expected no "
             "\"relative\" but \"none\" (positions of the decoder mean nothing "
             "in the encoder), got an object [TFC016]\n"}),
    nameOf);
