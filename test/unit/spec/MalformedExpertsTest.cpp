// Specs with faults in mixtures of experts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/spec/MalformedSpec.h"

static const char ffn[] =
    R"("ffn": {"width": 20, "act": "silu", "gated": true})";

/// A mixture in place of the feed-forward part.
static std::pair<std::string, std::string> mixture(const std::string &keys,
                                                   const std::string &router) {
  return {ffn, "\"moe\": {\"width\": 20, \"act\": \"silu\", " + keys +
                   ", \"router\": {\"score\": \"softmax\"" + router + "}}"};
}

INSTANTIATE_TEST_SUITE_P(
    Experts, MalformedSpec,
    testing::Values(
        Case{"MoreThanThereAre",
             decoderSpec,
             {mixture("\"experts\": 4, \"per_token\": 5", "")},
             "s.json:13:72: /decoder/layers/block/moe/per_token: expected at "
             "most 4 (the experts), got 5 [TFC029]\n"},
        Case{"GroupsThatDoNotDivide",
             decoderSpec,
             {mixture("\"experts\": 4, \"per_token\": 2", ", \"groups\": 3")},
             "s.json:13:116: /decoder/layers/block/moe/router/groups: expected "
             "a divisor of 4 (the experts), got 3 [TFC029]\n"},
        Case{"MoreGroupsThanThereAre",
             decoderSpec,
             {mixture("\"experts\": 4, \"per_token\": 2",
                      ", \"groups\": 2, \"groups_used\": 3")},
             "s.json:13:134: /decoder/layers/block/moe/router/groups_used: "
             "expected at most 2 (the groups), got 3 [TFC029]\n"},
        Case{"GroupsTooSmall",
             decoderSpec,
             {mixture("\"experts\": 4, \"per_token\": 3",
                      ", \"groups\": 2, \"groups_used\": 1")},
             "s.json:13:134: /decoder/layers/block/moe/router/groups_used: "
             "expected groups with at least 3 experts (per_token), got 1 of 2 "
             "[TFC029]\n"},
        Case{"NoSecondInAGroup",
             decoderSpec,
             {mixture("\"experts\": 2, \"per_token\": 1",
                      ", \"groups\": 2, \"group_by\": \"top2\"")},
             "s.json:13:131: /decoder/layers/block/moe/router/group_by: "
             "expected groups of at least 2 experts (their two best are "
             "added), got groups of 1 [TFC029]\n"},
        Case{"AddedToNoSum",
             decoderSpec,
             {mixture("\"experts\": 4, \"per_token\": 2", ", \"plus\": 0.5")},
             "s.json:13:114: /decoder/layers/block/moe/router/plus: expected "
             "no \"plus\" (it is of the sum that \"renormalize\": \"sum\" "
             "divides by), got 0.5 [TFC029]\n"},
        Case{"WeightsOfSeveralInputs",
             decoderSpec,
             {mixture("\"experts\": 4, \"per_token\": 2",
                      ", \"on_input\": true")},
             "s.json:13:118: /decoder/layers/block/moe/router/on_input: "
             "expected false (a row's weight is its input's where it takes one "
             "expert, without \"choice_bias\", \"groups\" and "
             "\"renormalize\", and not by sparsemixer), got true [TFC029]\n"},
        Case{"NoRouter",
             decoderSpec,
             {{ffn, "\"moe\": {\"width\": 20, \"act\": \"silu\", "
                    "\"experts\": 4, \"per_token\": 2}"}},
             "s.json:13:16: /decoder/layers/block/moe/router: expected "
             "\"router\" (it is required), got nothing [TFC004]\n"},
        Case{"NamesOfNoExpert",
             decoderSpec,
             {mixture("\"experts\": 4, \"per_token\": 2", ""),
              {"\"decoder.layers.ffn.pre_norm\": \"{p}{i}.n2\"",
               "\"decoder.layers.moe.pre_norm\": \"{p}{i}.n2\", "
               "\"decoder.layers.moe.router\": \"{p}{i}.r\""},
              {"decoder.layers.ffn.gate_up", "decoder.layers.moe.gate_up"},
              {"\"decoder.layers.ffn.down\": \"{p}{i}.d\"",
               "\"decoder.layers.moe.down\": \"{p}{i}.{e}.d\""}},
             "s.json:32:37: /weights/map/decoder.layers.moe.gate_up: expected "
             "{e} in the name (4 experts would read the same tensor), or "
             "\"stacked\", got \"{p}{i}.w\" [TFC052]\n"},
        Case{"StackedOfNoExperts",
             decoderSpec,
             {{"\"decoder.layers.ffn.down\": \"{p}{i}.d\"",
               "\"decoder.layers.ffn.down\": {\"stem\": \"{p}{i}.d\", "
               "\"stacked\": true}"}},
             "s.json:33:66: /weights/map/decoder.layers.ffn.down/stacked: "
             "expected no \"stacked\" (decoder.layers.ffn.down.weight is of no "
             "experts), got true [TFC058]\n"}),
    nameOf);
