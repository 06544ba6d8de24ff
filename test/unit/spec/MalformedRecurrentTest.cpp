// Specs with faults in layers that keep a state.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/spec/MalformedSpec.h"

static const char ffn[] =
    R"("ffn": {"width": 20, "act": "silu", "gated": true})";

/// A recurrence in place of the feed-forward part.
static std::pair<std::string, std::string> recurrence(const std::string &heads,
                                                      const std::string &norm) {
  return {ffn, "\"recurrent\": {\"kind\": \"gated_delta\", \"conv\": 4, " +
                   heads + ", \"norm\": " + norm + "}"};
}

static std::pair<std::string, std::string> mamba(const std::string &heads,
                                                 const std::string &norm) {
  return {ffn, "\"recurrent\": {\"kind\": \"mamba2\", \"conv\": 4, " + heads +
                   ", \"norm\": " + norm + "}"};
}

static std::pair<std::string, std::string> selective(const std::string &state,
                                                     const std::string &norm) {
  return {ffn,
          "\"recurrent\": {\"kind\": \"mamba\", \"conv\": 4, \"width\": 9, "
          "\"rank\": 2, \"state\": " +
              state + ", \"norm\": " + norm + "}"};
}

static const char rms[] = R"({"kind": "rmsnorm", "eps": 1e-6})";

INSTANTIATE_TEST_SUITE_P(
    Recurrent, MalformedSpec,
    testing::Values(
        Case{"HeadsThatDoNotShare",
             decoderSpec,
             {recurrence("\"key_heads\": 4, \"value_heads\": 6, "
                         "\"key_dim\": 3, \"value_dim\": 2",
                         rms)},
             "s.json:13:88: /decoder/layers/block/recurrent/value_heads: "
             "expected a multiple of key_heads (4), got 6 [TFC011]\n"},
        Case{"WiderThanHeadsAre",
             decoderSpec,
             {recurrence("\"key_heads\": 2, \"value_heads\": 2, "
                         "\"key_dim\": 3000, \"value_dim\": 2",
                         rms)},
             "s.json:13:102: /decoder/layers/block/recurrent/key_dim: expected "
             "at most 2048 (of 2 heads wider ones are not supported by this "
             "tfc), got 3000 [TFC090]\n"},
        Case{"AnotherNorm",
             decoderSpec,
             {recurrence("\"key_heads\": 2, \"value_heads\": 2, "
                         "\"key_dim\": 3, \"value_dim\": 2",
                         "\"none\"")},
             "s.json:13:129: /decoder/layers/block/recurrent/norm: expected a "
             "norm of kind \"rmsnorm\" (of each head's values), got another "
             "[TFC026]\n"},
        Case{"MoreDecaysThanColumns",
             decoderSpec,
             {recurrence("\"key_heads\": 1, \"value_heads\": 1024, "
                         "\"key_dim\": 2048, \"value_dim\": 2, "
                         "\"key_decay\": true",
                         rms)},
             "s.json:13:140: /decoder/layers/block/recurrent/key_decay: "
             "expected value_heads * key_dim to be at most 1048576 (more "
             "decays are not supported by this tfc), got 1024 * 2048 "
             "[TFC090]\n"},
        Case{"AGateOfNoActivation",
             decoderSpec,
             {recurrence("\"key_heads\": 1, \"value_heads\": 2, "
                         "\"key_dim\": 3, \"value_dim\": 2, "
                         "\"gate_act\": \"softmax\", \"decay_rank\": 0",
                         rms)},
             "s.json:13:133: /decoder/layers/block/recurrent/gate_act: "
             "expected gelu, gelu_new, quick_gelu, relu, relu2, silu, tanh, "
             "sigmoid or identity, got \"softmax\" [TFC028]\n"
             "s.json:13:158: /decoder/layers/block/recurrent/decay_rank: "
             "expected an integer from 1 to 1048576, got 0 [TFC004]\n"},
        Case{"AConvolutionOfOneToken",
             decoderSpec,
             {{ffn, "\"conv\": {\"kernel\": 1}"}},
             "s.json:13:28: /decoder/layers/block/conv/kernel: expected an "
             "integer from 2 to 16, got 1 [TFC004]\n"},
        Case{"ARuleThatThereIsNot",
             decoderSpec,
             {{ffn, "\"recurrent\": {\"kind\": \"mamba3\"}"}},
             "s.json:13:31: /decoder/layers/block/recurrent/kind: expected "
             "gated_delta, mamba2 or mamba (did you mean \"mamba2\"?), got "
             "\"mamba3\" [TFC004]\n"},
        Case{"AStateThatIsTooLarge",
             decoderSpec,
             {selective("3000", rms)},
             "s.json:13:83: /decoder/layers/block/recurrent/state: expected at "
             "most 2048 (larger states are not supported by this tfc), got "
             "3000 [TFC090]\n"},
        Case{"ANormOfProductsWithAMean",
             decoderSpec,
             {selective("3", "{\"kind\": \"layernorm\", \"eps\": 1e-6}")},
             "s.json:13:94: /decoder/layers/block/recurrent/norm: expected a "
             "norm of kind \"rmsnorm\" (of each row of queries, keys and "
             "times), got another [TFC026]\n"},
        Case{"HeadsThatGroupsDoNotDivide",
             decoderSpec,
             {mamba("\"heads\": 6, \"head_dim\": 5, \"state\": 3, "
                    "\"groups\": 4, \"norm_groups\": 7",
                    rms)},
             "s.json:13:61: /decoder/layers/block/recurrent/heads: expected a "
             "multiple of groups (4), got 6 [TFC011]\n"
             "s.json:13:119: /decoder/layers/block/recurrent/norm_groups: "
             "expected a divisor of heads * head_dim (30), got 7 [TFC011]\n"},
        Case{
            "NothingBeforeAGate",
            decoderSpec,
            {mamba("\"heads\": 6, \"head_dim\": 5, \"state\": 3, "
                   "\"norm_before_gate\": true",
                   "\"none\"")},
            "s.json:13:111: /decoder/layers/block/recurrent/norm_before_gate: "
            "expected no \"norm_before_gate\" (there is no \"norm\"), got true "
            "[TFC026]\n"},
        Case{"ANormWithAMean",
             decoderSpec,
             {mamba("\"heads\": 6, \"head_dim\": 5, \"state\": 3",
                    "{\"kind\": \"layernorm\", \"eps\": 1e-6}")},
             "s.json:13:99: /decoder/layers/block/recurrent/norm: expected a "
             "norm of kind \"rmsnorm\" (of parts of a row), got another "
             "[TFC026]\n"},
        Case{
            "AKeyOfTheOtherRule",
            decoderSpec,
            {mamba("\"heads\": 6, \"head_dim\": 5, \"state\": 3, "
                   "\"key_heads\": 2",
                   rms)},
            "s.json:13:91: /decoder/layers/block/recurrent/key_heads: expected "
            "one of the keys heads, head_dim, state, groups, conv_bias, "
            "norm_groups, norm_before_gate, step_floor, scales, conv, norm, "
            "pre_norm, out_norm, out_scale, post_norm, parallel, out_act, "
            "post_scale or "
            "residual, got \"key_heads\" [TFC002]\n"},
        Case{"AScaleThatIsNone",
             decoderSpec,
             {mamba("\"heads\": 6, \"head_dim\": 5, \"state\": 3, "
                    "\"scales\": {\"k\": 0}",
                    rms)},
             "s.json:13:107: /decoder/layers/block/recurrent/scales/k: "
             "expected a number above 0 that f32 can hold, got 0 [TFC004]\n"},
        Case{"ATimeBelowZero",
             decoderSpec,
             {mamba("\"heads\": 6, \"head_dim\": 5, \"state\": 3, "
                    "\"step_floor\": -1",
                    rms)},
             "s.json:13:105: /decoder/layers/block/recurrent/step_floor: "
             "expected a number above 0 that f32 can hold, got -1 "
             "[TFC004]\n"}),
    nameOf);
