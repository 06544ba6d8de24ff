// Specs with a fault each, and the exact message: heads, outputs, tokens,
// generation, the map of weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/spec/MalformedSpec.h"

INSTANTIATE_TEST_SUITE_P(
    Heads, MalformedSpec,
    testing::Values(
        Case{"SegmentDefaultOutsideOfTable",
             encoderSpec,
             {{"\"default\": 0", "\"default\": 2"}},
             "s.json:11:75: /encoder/embeddings/segments/0/default: expected a "
             "row of the table (0 to 1), got 2 [TFC040]\n"},
        Case{"TiedToNothing",
             decoderSpec,
             {{"\"tied\": \"decoder.embeddings.token\"",
               "\"tied\": \"decoder.wte\""}},
             "s.json:19:46: /heads/lm/steps/0/tied: expected "
             "\"decoder.embeddings.token\", got \"decoder.wte\" [TFC030]\n"},
        Case{"TiedWidth",
             decoderSpec,
             {{"{\"op\": \"logits\"", "{\"op\": \"dense\", \"name\": \"d\", "
                                      "\"out\": 9},\n    {\"op\": \"logits\""}},
             "s.json:20:46: /heads/lm/steps/1/tied: expected a step input of "
             "width 12 (decoder.embeddings.token is [30, 12]), got 9 "
             "[TFC030]\n"},
        Case{"TiedAndOut",
             decoderSpec,
             {{"\"tied\": \"decoder.embeddings.token\"",
               "\"tied\": \"decoder.embeddings.token\", \"out\": 30"}},
             "s.json:19:5: /heads/lm/steps/0: expected \"tied\" or \"out\" (a "
             "table, or weights of its own), got both [TFC030]\n"},
        Case{"SplitCount",
             encoderSpec,
             {{"[\"start\", \"end\"]", "[\"start\", \"middle\", \"end\"]"}},
             "s.json:32:32: /heads/qa/steps/1/names: expected 2 names (the "
             "width before the split), got 3 [TFC031]\n"},
        Case{"HeadFromNowhere",
             encoderSpec,
             {{"\"qa\": {\"from\": \"encoder\"",
               "\"qa\": {\"from\": \"decoder\""}},
             "s.json:30:20: /heads/qa/from: expected a stack or a head (have: "
             "encoder, pooler), got \"decoder\" [TFC032]\n"},
        Case{"HeadCycle",
             encoderSpec,
             {{"\"qa\": {\"from\": \"encoder\"", "\"qa\": {\"from\": \"qa\""}},
             "s.json:30:20: /heads/qa/from: expected no cycle of heads, got "
             "\"qa\" [TFC032]\n"},
        Case{
            "TakeNotFirst",
            encoderSpec,
            {{"{\"op\": \"take\", \"at\": \"first\"},\n      {\"op\": "
              "\"dense\", \"name\": \"dense\", \"out\": 12, \"act\": \"tanh\"}",
              "{\"op\": \"dense\", \"name\": \"dense\", \"out\": 12, \"act\": "
              "\"tanh\"},\n      {\"op\": \"take\", \"at\": \"first\"}"}},
            "s.json:29:7: /heads/pooler/steps/1: expected take as the first "
            "step (other rows need not be computed), got it after others "
            "[TFC036]\n"},
        Case{"PoolNotFirst",
             encoderSpec,
             {{"\"act\": \"tanh\"}",
               "\"act\": \"tanh\"},\n      {\"op\": \"pool\", \"how\": "
               "\"mean\"}"}},
             "s.json:30:7: /heads/pooler/steps/2: expected one take or pool "
             "from the stack to the result, got another [TFC036]\n"},
        Case{"PoolSkipsLessThanNothing",
             encoderSpec,
             {{"{\"op\": \"take\", \"at\": \"first\"}",
               "{\"op\": \"pool\", \"how\": \"mean\", \"skip\": -1}"}},
             "s.json:28:45: /heads/pooler/steps/0/skip: expected an integer "
             "from 0 to 1048576, got -1 [TFC004]\n"},
        Case{"PoolBesideTheFirstOfADecoder",
             decoderSpec,
             {{"\"outputs\": {", "\"outputs\": {\"pooled\": \"all\", "},
              {"\"heads\": {",
               "\"heads\": {\"all\": {\"from\": \"decoder\", "
               "\"steps\": [{\"op\": \"pool\", \"how\": \"mean\", "
               "\"beside\": \"first_visible\"}]}, "}},
             "s.json:18:90: /heads/all/steps/0/beside: expected \"none\" in a "
             "decoder (it computes no rows behind the one that is asked for), "
             "got \"first_visible\" [TFC036]\n"},
        Case{"TruncateToMore",
             encoderSpec,
             {{"\"act\": \"tanh\"}",
               "\"act\": \"tanh\"},\n      {\"op\": \"truncate\", "
               "\"dims\": 13}"}},
             "s.json:30:34: /heads/pooler/steps/2/dims: expected at most 12 "
             "(the width before the step), got 13 [TFC036]\n"},
        Case{"StepNameTwice",
             encoderSpec,
             {{"\"act\": \"tanh\"}",
               "\"act\": \"tanh\"},\n      {\"op\": \"dense\", \"name\": "
               "\"dense\", \"out\": 3}"}},
             "s.json:30:31: /heads/pooler/steps/2/name: expected a name of its "
             "own (another step has it), got \"dense\" [TFC036]\n"},
        Case{"OutputsTakeDifferentRows",
             encoderSpec,
             {{"\"qa\": {\"from\": \"encoder\", \"steps\": [",
               "\"qa\": {\"from\": \"encoder\", \"steps\": [\n      {\"op\": "
               "\"take\", \"at\": \"last_nonpad\"},"}},
             "s.json:35:58: /outputs/start_logits: expected outputs that take "
             "the same rows (a step has one list of rows), got \"qa.start\" "
             "[TFC037]\n"},
        Case{
            "OutputOfNothing",
            encoderSpec,
            {{"\"pooler_output\": \"pooler\"", "\"pooler_output\": \"poolr\""}},
            "s.json:34:32: /outputs/pooler_output: expected a result (have: "
            "encoder.hidden, pooler, qa; did you mean \"pooler\"?), got "
            "\"poolr\" [TFC038]\n"},
        Case{"OutputWithoutPart",
             encoderSpec,
             {{"\"qa.start\"", "\"qa\""}},
             "s.json:34:58: /outputs/start_logits: expected a part of the "
             "split (qa.start, qa.end), got \"qa\" [TFC038]\n"},
        Case{"OutputName",
             encoderSpec,
             {{"\"start_logits\": \"qa.start\"",
               "\"start logits\": \"qa.start\""}},
             "s.json:34:42: /outputs/start logits: expected a name of 1 to 64 "
             "letters, digits, _ and -, got \"start logits\" [TFC038]\n"},
        Case{"GenerationHead",
             decoderSpec,
             {{"\"head\": \"lm\"", "\"head\": \"ml\""}},
             "s.json:22:26: /generation/head: expected a head that ends in "
             "logits over the token table (30 wide), got \"ml\" [TFC035]\n"},
        Case{"GenerationInEncoder",
             encoderSpec,
             {{"\"tokens\": {\"pad\": 0}",
               "\"generation\": {\"head\": \"qa\"}"}},
             "s.json:35:17: /generation: expected no generation (kind is "
             "\"encoder\"), got an object [TFC035]\n"},
        Case{"PadOutsideOfTable",
             encoderSpec,
             {{"\"pad\": 0", "\"pad\": 30"}},
             "s.json:35:21: /tokens/pad: expected a row of the token table (0 "
             "to 29), got 30 [TFC040]\n"},
        Case{"TopP",
             decoderSpec,
             {{"\"max_length\": 20", "\"max_length\": 20, \"top_p\": 1.5"}},
             "s.json:22:59: /generation/top_p: expected a number above 0, up "
             "to 1, got 1.5 [TFC043]\n"}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Weights, MalformedSpec,
    testing::Values(
        Case{"NoSource",
             decoderSpec,
             {{"      \"decoder.layers.attn.o\": \"{p}{i}.o\",\n", ""}},
             "s.json:26:12: /weights/map/decoder.layers.attn.o: expected a "
             "source for \"decoder.layers.attn.o\", got nothing [TFC050]\n"},
        Case{"NoSourceForPacked",
             decoderSpec,
             {{"[\"q\", \"k\", \"v\"]", "[\"q\", \"k\"]"}},
             "s.json:26:12: /weights/map/decoder.layers.attn.v: expected a "
             "source for \"decoder.layers.attn.v\" (or "
             "\"decoder.layers.attn.qkv\"), got nothing [TFC050]\n"},
        Case{"SourceTwice",
             decoderSpec,
             {{"\"decoder.layers.attn.o\"",
               "\"decoder.layers.attn.q\": \"{p}{i}.q\",\n      "
               "\"decoder.layers.attn.o\""}},
             "s.json:30:7: /weights/map/decoder.layers.attn.q: expected one "
             "source for \"decoder.layers.attn.q\", got "
             "\"decoder.layers.attn.qkv\" too [TFC051]\n"},
        Case{"MapKeyUnknown",
             decoderSpec,
             {{"\"decoder.layers.attn.o\"", "\"decoder.layer.attn.o\""}},
             "s.json:30:7: /weights/map/decoder.layer.attn.o: expected a "
             "parameter of this model (did you mean "
             "\"decoder.layers.attn.o\"?), got \"decoder.layer.attn.o\" "
             "[TFC051]\n"},
        Case{"PatternWithoutIndex",
             decoderSpec,
             {{"\"{p}{i}.o\"", "\"{p}o\""}},
             "s.json:30:32: /weights/map/decoder.layers.attn.o: expected {i} "
             "in the name (2 layers would read the same tensor), got \"{p}o\" "
             "[TFC052]\n"},
        Case{"PatternWithIndexOutsideOfLayers",
             decoderSpec,
             {{"\"{p}n\"", "\"{p}{i}n\""}},
             "s.json:34:29: /weights/map/decoder.final_norm: expected no {i} "
             "(decoder.final_norm is in no layer), got \"{p}{i}n\" [TFC052]\n"},
        Case{"PatternPlaceholder",
             decoderSpec,
             {{"\"{p}{i}.o\"", "\"{p}{i}.{x}\""}},
             "s.json:30:32: /weights/map/decoder.layers.attn.o: expected the "
             "placeholders {p} and {i} only, got \"{p}{i}.{x}\" [TFC052]\n"},
        Case{"HeadsOfWhatHasNone",
             decoderSpec,
             {{"\"{p}{i}.o\"", "\"{p}{i}.{h}.o\""}},
             "s.json:30:32: /weights/map/decoder.layers.attn.o: expected no "
             "{h} (not supported by this tfc), got \"{p}{i}.{h}.o\" "
             "[TFC090]\n"},
        Case{"HeadsOfAPack",
             decoderSpec,
             {{"\"{p}{i}.c\"", "\"{p}{i}.{h}.c\""}},
             "s.json:29:34: /weights/map/decoder.layers.attn.qkv: expected no "
             "{h} (not supported by this tfc), got \"{p}{i}.{h}.c\" "
             "[TFC090]\n"},
        Case{"TensorForStem",
             decoderSpec,
             {{"\"{p}{i}.o\"", "{\"tensor\": \"{p}{i}.o.weight\"}"}},
             "s.json:30:32: /weights/map/decoder.layers.attn.o: expected a "
             "stem (the key stands for .weight and .bias; a key that ends in "
             "one of them takes a tensor), got a tensor [TFC058]\n"},
        Case{
            "StemForTensor",
            decoderSpec,
            {{"\"decoder.layers.attn.o\"", "\"decoder.layers.attn.o.weight\""}},
            "s.json:30:39: /weights/map/decoder.layers.attn.o.weight: expected "
            "{\"tensor\": ...} (the key names one tensor), got \"{p}{i}.o\" "
            "[TFC058]\n"},
        Case{"PackOfAnotherLayer",
             decoderSpec,
             {{"[\"gate\", \"up\"]", "[\"gate\", \"v\"]"}},
             "s.json:32:75: /weights/map/decoder.layers.ffn.gate_up/pack/1: "
             "expected every parameter of the layer by its name (there is none "
             "of this one), got \"v\" [TFC058]\n"},
        Case{"PackTwice",
             decoderSpec,
             {{"[\"gate\", \"up\"]", "[\"gate\", \"up\", \"up\"]"}},
             "s.json:32:75: /weights/map/decoder.layers.ffn.gate_up/pack/1: "
             "expected every parameter of the layer once, got \"up\" "
             "[TFC058]\n"},
        Case{"RowsOutsideOfTensor",
             decoderSpec,
             {{"\"decoder.layers.attn.o\": \"{p}{i}.o\"",
               "\"decoder.layers.attn.o.weight\": {\"tensor\": \"{p}{i}.o\", "
               "\"first_row\": 5, \"stored_rows\": 16}"}},
             "s.json:30:75: "
             "/weights/map/decoder.layers.attn.o.weight/first_row: expected at "
             "most 4 (stored_rows, less the 12 rows of "
             "decoder.layers.attn.o.weight), got 5 [TFC058]\n"},
        Case{"IgnoredAndRead",
             decoderSpec,
             {{"\"*.buffer\"", "\"m.?.o*\", \"*.o.weight\""}},
             "s.json:25:26: /weights/ignore/1: expected no tensor that is read "
             "(decoder.layers.attn.o.weight is in \"{p}0.o.weight\"), got "
             "\"*.o.weight\" [TFC055]\n"}),
    nameOf);
