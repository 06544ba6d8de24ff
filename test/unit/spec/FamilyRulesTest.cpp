// Holes and rules of the tables of families: what they become, and what they
// say of values that they cannot take.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/family/FamilyTable.h"
#include "compiler/spec/family/Instantiate.h"

#include <gtest/gtest.h>

using namespace tfc;
using namespace tfc::spec;

/// The value of a hole in a table whose spec is {"dims": {"hidden": 12}}, or
/// what is wrong, one line each.
static std::string made(const std::string &hole, const std::string &config) {
  Diagnostics diagnostics;
  auto table =
      parseJson("table", R"({"spec": {"dims": {"hidden": 12}}})", diagnostics);
  auto value = parseJson("table", hole, diagnostics);
  auto file = parseJson("config.json", config, diagnostics);
  if (!table || !value || !file) {
    return "not JSON";
  }
  family::Config keys(*file, diagnostics);
  family::Instantiator instantiator(*table, *file, keys, diagnostics);
  std::optional<Json> result = instantiator.make(*value);
  std::string text;
  for (const Diagnostic &diagnostic : diagnostics) {
    text += (text.empty() ? "" : "\n") + formatDiagnostic(diagnostic);
  }
  if (text.empty()) {
    text = result ? writeJson(*result) : "nothing\n";
    text.pop_back();
  }
  return text;
}

TEST(Holes, Keys) {
  const char *hole = R"({"$key": ["n", "m"], "default": 3, "null": 4})";
  EXPECT_EQ(made(hole, "{}"), "3");
  EXPECT_EQ(made(hole, R"({"n": 5})"), "5");
  EXPECT_EQ(made(hole, R"({"m": 6})"), "6");
  EXPECT_EQ(made(hole, R"({"n": null})"), "4");
  EXPECT_EQ(made(hole, R"({"n": 5, "m": 5})"), "5");
  EXPECT_EQ(made(hole, R"({"n": 5, "m": 6})"),
            "config.json:1:15: /m: expected 5 (the value of n, which means the "
            "same), got 6");
  EXPECT_EQ(made(R"({"a": {"$key": "n"}, "b": 1})", "{}"), R"({"b": 1})");
}

TEST(Holes, Arithmetic) {
  EXPECT_EQ(made(R"({"$spec": "dims.hidden"})", "{}"), "12");
  EXPECT_EQ(made(R"({"$mul": [4, {"$spec": "dims.hidden"}]})", "{}"), "48");
  EXPECT_EQ(made(R"({"$sub": [{"$key": "n"}, 1, 2]})", R"({"n": 9})"), "6");
  EXPECT_EQ(made(R"({"$div": [1.0, {"$key": "n"}]})", R"({"n": 4})"), "0.25");
  EXPECT_EQ(made(R"({"$rsqrt": 16})", "{}"), "0.25");
  EXPECT_EQ(made(R"({"$div": [12, {"$key": "n"}]})", R"({"n": 4})"), "3");
  EXPECT_EQ(made(R"({"$ceil_div": [{"$key": "n"}, 16]})", R"({"n": 32})"), "2");
  EXPECT_EQ(made(R"({"$ceil_div": [{"$key": "n"}, 16]})", R"({"n": 33})"), "3");
  EXPECT_EQ(made(R"({"$min": [12, {"$key": "n"}]})", R"({"n": 4})"), "4");
  EXPECT_EQ(made(R"({"$min": [12, {"$key": "n"}]})", R"({"n": 13})"), "12");
  EXPECT_EQ(made(R"({"$div": [12, {"$key": "n"}]})", R"({"n": 5})"),
            "config.json:1:7: /n: expected a divisor of 12, got 5");
  EXPECT_EQ(made(R"({"$div": [12, {"$key": "n"}]})", R"({"n": 0})"),
            "config.json:1:7: /n: expected a divisor of 12, got 0");
  EXPECT_EQ(made(R"({"$sub": [{"$key": "n"}, 1]})", R"({"n": "x"})"),
            "config.json:1:7: /n: expected a number, got \"x\" [TFC004]");
  EXPECT_EQ(
      made(R"({"$mul": [{"$key": "n"}, 4]})", R"({"n": 9223372036854775807})"),
      "config.json:1:7: /n: expected a smaller number, got 4 [TFC004]");
}

TEST(Holes, Conditions) {
  const char *hole =
      R"({"a": {"$if": {"$key": "n", "default": true}, "then": 1}})";
  EXPECT_EQ(made(hole, "{}"), R"({"a": 1})");
  EXPECT_EQ(made(hole, R"({"n": false})"), "{}");
  EXPECT_EQ(made(hole, R"({"n": 1})"),
            "config.json:1:7: /n: expected true or false, got 1 [TFC004]");
  const char *is =
      R"({"$if": {"$key": "n"}, "is": [1, "x"], "then": 1, "else": 2})";
  EXPECT_EQ(made(is, R"({"n": "x"})"), "1");
  EXPECT_EQ(made(is, R"({"n": 2})"), "2");
}

/// Faults of a table have its own line.
TEST(Holes, ThatAreWrong) {
  EXPECT_EQ(made(R"({"$spec": "dims.width"})", "{}"),
            "table:1:11: /$spec: expected a path in the table's spec, got "
            "\"dims.width\"");
  EXPECT_EQ(made(R"({"$rule": "magic"})", "{}"),
            "table:1:11: /$rule: expected a rule of tfc, got \"magic\"");
  EXPECT_EQ(made(R"({"$add": [1, 2]})", "{}"),
            "table:1:1: /: expected a hole of tfc, got \"$add\"");
}

TEST(Rules, Activation) {
  const char *hole = R"({"$rule": "activation", "key": "act",
      "default": "gelu", "as": {"gelu": "gelu_new"}})";
  EXPECT_EQ(made(hole, "{}"), "\"gelu_new\"");
  EXPECT_EQ(made(hole, R"({"act": "swish"})"), "\"silu\"");
  EXPECT_EQ(made(hole, R"({"act": "mish"})").substr(0, 71),
            "config.json:1:9: /act: expected an activation that tfc knows "
            "(gelu, gel");
}

TEST(Rules, Labels) {
  EXPECT_EQ(made(R"({"$rule": "labels"})", "{}"), "2");
  EXPECT_EQ(made(R"({"$rule": "labels", "default": 3})", "{}"), "3");
  EXPECT_EQ(made(R"({"$rule": "labels"})", R"({"id2label": {"0": "a"}})"), "1");
  EXPECT_EQ(made(R"({"$rule": "labels", "expect": 2, "why": "ends"})",
                 R"({"num_labels": 4})"),
            "config.json:1:16: /num_labels: expected 2 labels (ends), got 4");
}

TEST(Rules, PartialRotation) {
  const char *hole = R"({"$rule": "rotary", "style": "half", "partial": 0.25,
      "head_dim": 26})";
  // As transformers cuts the number of columns off.
  EXPECT_EQ(made(hole, "{}"), R"({"style": "half", "dim": 6, "theta": 10000, )"
                              R"("scaling": "none"})");
  EXPECT_EQ(made(hole, R"({"partial_rotary_factor": 0.5})").substr(18, 9),
            "\"dim\": 13");
  EXPECT_EQ(made(hole, R"({"rope_parameters": {"rope_theta": 5,
                "partial_rotary_factor": 1.0}})"),
            R"({"style": "half", "dim": 26, "theta": 5, "scaling": "none"})");
}

/// The part of a head that turns, by frequencies of the whole of it.
TEST(Rules, ProportionalRotation) {
  const char *hole = R"({"$rule": "rotary", "style": "half", "head_dim": 26,
      "proportional": true})";
  EXPECT_EQ(made(hole, R"({"rope_parameters": {"rope_type": "proportional",
                "rope_theta": 5, "partial_rotary_factor": 0.5}})"),
            R"({"style": "half", "turned": 12, "theta": 5, )"
            R"("scaling": "none"})");
  EXPECT_EQ(made(hole, R"({"rope_parameters": {"rope_type": "proportional",
                "rope_theta": 5, "factor": 2}})"),
            R"({
  "style": "half",
  "turned": 26,
  "theta": 5,
  "scaling": {"kind": "linear", "factor": 2}
})");
  // Layers of another type may not inherit the part.
  EXPECT_EQ(made(hole, "{}"), R"({"style": "half", "turned": 26, )"
                              R"("theta": 10000, "scaling": "none"})");
  EXPECT_EQ(made(hole, R"({"rope_parameters": {"rope_type": "proportional",
                "partial_rotary_factor": 0.05}})"),
            "config.json:2:42: /rope_parameters/partial_rotary_factor: "
            "expected a part of 26 columns that is one pair at least, got "
            "0.05");
}

TEST(Rules, RotationWithoutScaling) {
  EXPECT_EQ(made(R"({"$rule": "rotary", "style": "half",
                     "only_default": true})",
                 R"({"rope_scaling": {"type": "yarn", "factor": 2}})"),
            "config.json:1:27: /rope_scaling/type: expected default (tfc has "
            "no other frequencies for this model type), got \"yarn\"");
}

/// Longer sequences have other frequencies.
TEST(Rules, RotationOfThoseNoLongerThanTheTraining) {
  const char *rotary = R"({"$rule": "rotary", "style": "half",
      "only_default": true, "longrope": 4096,
      "positions": {"$key": "max_position_embeddings", "default": 4096}})";
  const char *positions = R"({"$rule": "positions",
      "key": "max_position_embeddings", "default": 4096, "longrope": 4096})";
  const char *config = R"({"max_position_embeddings": 8192,
      "rope_scaling": {"type": "su", "short_factor": [1, 2],
                       "long_factor": [3, 4]}})";
  EXPECT_EQ(made(rotary, config), R"({
  "style": "half",
  "theta": 10000,
  "scaling": {
    "kind": "longrope",
    "factor": 2,
    "short_factor": [1, 2],
    "original_max": 4096
  }
})");
  EXPECT_EQ(made(positions, config),
            "config.json:1:29: /max_position_embeddings: warning: expected no "
            "sequence "
            "of more than 4096 positions (longer ones are computed otherwise, "
            "which is not supported by this tfc: the library refuses them), "
            "got room for 8192");
  EXPECT_EQ(made(positions, R"({"max_position_embeddings": 8192})"), "8192");
  EXPECT_EQ(made(rotary, R"({"rope_scaling": {"type": "longrope",
      "short_factor": [1]}})"),
            "config.json:1:18: /rope_scaling/long_factor: expected a list of "
            "numbers (of "
            "the frequencies), got nothing");
}

TEST(Rules, QueriesThatGrow) {
  const char *hole = R"({"$rule": "positions", "query_growth": 16,
      "key": "max_position_embeddings", "default": 64})";
  EXPECT_EQ(made(hole, "{}"), "16");
  EXPECT_EQ(made(hole, R"({"rope_parameters": {"rope_theta": 9}})"), "64");
  EXPECT_EQ(made(hole, R"({"rope_parameters": {"llama_4_scaling_beta": 0.1,
      "original_max_position_embeddings": 32}})"),
            "32");
}

TEST(Rules, RotationByAlpha) {
  const char *hole = R"({"$rule": "rotary", "style": "half", "alpha": true,
                         "head_dim": 6})";
  // 100 * 4^(6 / 4); what else the dictionary has says nothing.
  EXPECT_EQ(made(hole, R"({"rope_scaling": {"type": "dynamic", "alpha": 4,
                "rope_theta": 100, "factor": 1, "mscale": 1}})"),
            R"({"style": "half", "theta": 800, "scaling": "none"})");
  // Without it the scaling is the one that changes with the length.
  EXPECT_EQ(made(hole, R"({"rope_scaling": {"type": "dynamic", "factor": 2,
                "rope_theta": 100}})"),
            R"({"style": "half", "theta": 100, "scaling": )"
            R"({"kind": "dynamic", "factor": 2}})");
  EXPECT_EQ(made(R"({"$rule": "rotary", "style": "half", "alpha": true,
                     "head_dim": 2})",
                 R"({"rope_scaling": {"type": "dynamic", "alpha": 4}})")
                .substr(0, 99),
            "config.json:1:47: /rope_scaling/alpha: expected heads of more "
            "than 2 columns (its exponent is their");
}

TEST(Rules, RotationOfATypeOfLayers) {
  const char *full = R"({"$rule": "rotary", "style": "half", "of": "full",
      "scaled": true, "theta": 7, "theta_key": "rope_theta"})";
  const char *local = R"({"$rule": "rotary", "style": "half", "of": "local",
      "theta": 5})";
  auto rotary = [](const std::string &theta, const std::string &scaling) {
    return R"({"style": "half", "theta": )" + theta + R"(, "scaling": )" +
           scaling + "}";
  };
  EXPECT_EQ(made(full, "{}"), rotary("7", R"("none")"));
  EXPECT_EQ(made(full, R"({"rope_theta": 9})"), rotary("9", R"("none")"));
  EXPECT_EQ(made(local, R"({"rope_theta": 9})"), rotary("5", R"("none")"));
  // The predecessor of rope_parameters is of the types that say so.
  const char *old = R"({"rope_scaling": {"type": "linear", "factor": 2}})";
  EXPECT_EQ(made(full, old), rotary("7", R"({"kind": "linear", "factor": 2})"));
  EXPECT_EQ(made(local, old), rotary("5", R"("none")"));
  const char *both = R"({"rope_parameters": {"full": {"rope_theta": 11},
      "local": {"rope_theta": 13}}})";
  EXPECT_EQ(made(full, both), rotary("11", R"("none")"));
  EXPECT_EQ(made(local, both), rotary("13", R"("none")"));
  EXPECT_EQ(made(full, R"({"rope_parameters": {"rope_theta": 11}})"),
            "config.json:1:36: /rope_parameters/rope_theta: expected an object "
            "for the layers of a type, got 11");
}

TEST(Rules, Window) {
  const char *hole = R"({"$rule": "window", "key": "size", "default": 256})";
  EXPECT_EQ(made(hole, "{}"), R"({"left": 255, "right": 0})");
  EXPECT_EQ(made(hole, R"({"size": 1})"), R"({"left": 0, "right": 0})");
  EXPECT_EQ(made(hole, R"({"size": null})"), "\"none\"");
  EXPECT_EQ(made(R"({"$rule": "window", "key": "size"})", "{}"), "\"none\"");
  EXPECT_EQ(made(hole, R"({"size": 0})"),
            "config.json:1:10: /size: expected an integer from 1 to 268435456, "
            "got 0");
}

TEST(Rules, TypesOfLayers) {
  auto layers = [](const std::string &byDefault, const std::string &config) {
    return made(R"({"$rule": "layer_types", "key": "size", "layers": 4,
                    "window": {"left": 3, "right": 0}, "default": )" +
                    byDefault + "}",
                config);
  };
  const std::string set =
      R"(], "set": {"attn": {"window": {"left": 3, "right": 0}}}}])";
  EXPECT_EQ(layers(R"({"from": 2})", "{}"), R"([{"layers": [2, 3)" + set);
  EXPECT_EQ(layers(R"({"every": 2})", "{}"), R"([{"layers": [0, 2)" + set);
  EXPECT_EQ(layers(R"("full_attention")", "{}"), "nothing");
  EXPECT_EQ(layers(R"("full_attention")",
                   R"({"layer_types": ["full_attention", "full_attention",
                       "full_attention", "sliding_attention"]})"),
            R"([{"layers": [3)" + set);
  EXPECT_EQ(
      made(R"({"$rule": "layer_types", "key": "size", "layers": 2,
                     "window": {"left": 3, "right": 0}, "default": {"every": 2},
                     "set": {"rotary": "none"}})",
           "{}"),
      "[\n  {\n    \"layers\": [0],\n    \"set\": {\"attn\": {\"window\": "
      "{\"left\": 3, \"right\": 0}, \"rotary\": \"none\"}}\n  }\n]");
  EXPECT_EQ(layers(R"("full_attention")", R"({"layer_types": ["x"]})"),
            "config.json:1:17: /layer_types: expected a list with a type for "
            "each of the 4 layers, got 1");
}

TEST(Rules, PatternOfLayers) {
  const char *hole = R"({"$rule": "layer_pattern", "key": "rope", "layers": 3,
      "every": {"$key": "n", "default": 2}, "set": {"attn": 1}})";
  EXPECT_EQ(made(hole, "{}"), R"([{"layers": [1], "set": {"attn": 1}}])");
  EXPECT_EQ(made(hole, R"({"n": 3})"),
            R"([{"layers": [2], "set": {"attn": 1}}])");
  EXPECT_EQ(made(hole, R"({"n": 9})"), "nothing");
  EXPECT_EQ(made(hole, R"({"rope": [0, 1, 0]})"),
            R"([{"layers": [0, 2], "set": {"attn": 1}}])");
  EXPECT_EQ(made(hole, R"({"rope": [0, 2, 0]})"),
            "config.json:1:14: /rope/1: expected 0 or 1, got 2");
  EXPECT_EQ(made(hole, R"({"rope": [0]})"),
            "config.json:1:10: /rope: expected a list with 0 or 1 for each of "
            "the 3 layers, got 1");
  EXPECT_EQ(made(hole, R"({"n": 0})"),
            "config.json:1:7: /n: expected an integer from 1 to 268435456, got "
            "0 [TFC004]");
}

TEST(Rules, KindsOfAttention) {
  const char *hole = R"({"$rule": "attention_types", "layers": 3,
      "window": "none"})";
  const std::string set = R"(], "set": {"attn": {"window": "none"}}}])";
  EXPECT_EQ(made(hole, "{}"), R"([{"layers": [1)" + set);
  EXPECT_EQ(made(hole, R"({"attention_types": [[["local"], 2],
                           [["global"], 1]]})"),
            R"([{"layers": [0, 1)" + set);
  EXPECT_EQ(made(hole, R"({"attention_types": [[["local"], 3]],
                "attention_layers": ["global", "global", "local"]})"),
            R"([{"layers": [2)" + set);
  for (const char *types :
       {R"([[["local"], 2]])", R"([[["local"], 2000000000]])",
        R"([[["local", "local"], 2]])", R"([[["far"], 3]])", "[3]", "3"}) {
    EXPECT_EQ(made(hole, std::string(R"({"attention_types": )") + types + "}"),
              "config.json:1:21: /attention_types: expected \"global\" or "
              "\"local\" for each of the 3 layers, got another list")
        << types;
  }
}

TEST(Holes, ItemsOfAList) {
  const char *hole = R"({"$key": "n", "item": 1, "of": 2, "default": 1.5})";
  EXPECT_EQ(made(hole, "{}"), "1.5");
  EXPECT_EQ(made(hole, R"({"n": [3, 4]})"), "4");
  EXPECT_EQ(made(hole, R"({"n": [3]})"),
            "config.json:1:7: /n: expected a list of 2, got one of 1");
  EXPECT_EQ(made(hole, R"({"n": 3})"),
            "config.json:1:7: /n: expected a list of 2, got 3");
}

TEST(Rules, LettersForLayers) {
  const char *count =
      R"({"$rule": "layer_count", "alias": ["pattern", "types"],
          "default": ["a", "b"]})";
  EXPECT_EQ(made(count, "{}"), "2");
  EXPECT_EQ(made(count, R"({"pattern": "M*M"})"), "3");
  EXPECT_EQ(made(count, R"({"types": ["M"], "pattern": null})"), "1");
  EXPECT_EQ(made(count, R"({"pattern": ""})"),
            "config.json:1:13: /pattern: expected the types of 1 to 4096 "
            "layers, got 0");
  EXPECT_EQ(made(count, R"({"types": 3})"),
            "config.json:1:11: /types: expected the types of 1 to 4096 "
            "layers, got 3");
  const char *kinds =
      R"({"$rule": "layer_kinds", "layers": 3, "kind": ["star", "*"],
          "other": ["M"], "alias": ["pattern"], "default": ["M", "M", "*"],
          "set": {"attn": 1}})";
  EXPECT_EQ(made(kinds, R"({"pattern": "M*M"})"),
            R"([{"layers": [1], "set": {"attn": 1}}])");
  EXPECT_EQ(made(kinds, "{}"), R"([{"layers": [2], "set": {"attn": 1}}])");
  EXPECT_EQ(
      made(kinds, R"({"pattern": "MEM"})"),
      "config.json:1:13: /pattern: expected \"*\", \"M\" or \"star\", got "
      "\"E\"");
}

TEST(Rules, KindsInTurns) {
  const char *hole = R"({"$rule": "layer_kinds", "layers": {"$key": "n"},
      "kind": "b", "other": ["a", "c"], "set": {"x": 1},
      "default": {"first": ["c"], "turns": ["b", "c", "a"]}})";
  EXPECT_EQ(made(hole, R"({"n": 8})"), R"([{"layers": [3, 6], "set": )"
                                       R"({"x": 1}}])");
  EXPECT_EQ(made(hole, R"({"n": 1})"), "[]");
}

TEST(Rules, KindsThatListsName) {
  const char *hole = R"({"$rule": "layer_kinds", "layers": 4, "kind": "b",
      "other": "a", "set": {"x": 1}, "list": "full", "rest": "states",
      "from": 1, "default": {"first": ["b"], "turns": ["a", "b"]}})";
  EXPECT_EQ(made(hole, R"({"full": [4, 2], "states": [1, 3]})"),
            R"([{"layers": [0, 2], "set": {"x": 1}}])");
  EXPECT_EQ(made(hole, "{}"), R"([{"layers": [0, 1, 3], "set": {"x": 1}}])");
  EXPECT_EQ(made(hole, R"({"layer_types": ["a", "a", "b", "a"]})"),
            R"([{"layers": [2], "set": {"x": 1}}])");
  // Both, as transformers writes them, say the same.
  EXPECT_EQ(made(hole, R"({"layer_types": ["a", "a", "b", "a"],
      "full": [4, 2, 1], "states": [3]})"),
            R"([{"layers": [2], "set": {"x": 1}}])");
  EXPECT_EQ(made(hole, R"({"layer_types": ["a", "a", "b", "a"],
      "full": [4, 2], "states": [1, 3]})"),
            "config.json:2:15: /full: expected the layers that "
            "\"layer_types\" says, got others");
  EXPECT_EQ(made(hole, R"({"full": [4, 2], "states": [1, 2]})"),
            "config.json:1:28: /states: expected the layers that \"full\" does "
            "not list, got others");
  EXPECT_EQ(made(hole, R"({"full": [4, 2]})"),
            "config.json:1:1: /states: expected a list of layers, got another "
            "value\nconfig.json:1:1: /states: expected the layers that "
            "\"full\" does not list, got others");
  EXPECT_EQ(made(hole, R"({"full": ["a"], "states": [1, 2, 3, 4]})"),
            "config.json:1:10: /full: expected a list of layers, got another "
            "value");
}

TEST(Rules, LayersOfFewerThanAPeriod) {
  const char *kinds =
      R"({"$rule": "layer_kinds", "layers": 2, "kind": "x", "other": "y",
          "every": 4, "last": true, "of": "y", "set": {"a": 1}})";
  EXPECT_EQ(made(kinds, "{}"), R"([{"layers": [1], "set": {"a": 1}}])");
}

TEST(Rules, NumberOfAPeriod) {
  const char *kinds = R"({"$rule": "layer_kinds", "layers": 6, "kind": "x",
      "other": "y", "every": {"$key": "n"}, "at": {"$key": "m"}, "of": "y",
      "set": {"a": 1}})";
  EXPECT_EQ(made(kinds, R"({"n": 3, "m": 1})"),
            R"([{"layers": [1, 4], "set": {"a": 1}}])");
  EXPECT_EQ(made(kinds, R"({"n": 7, "m": 6})"), "[]");
  EXPECT_EQ(made(kinds, R"({"n": 3, "m": 3})"),
            "config.json:1:15: /m: expected an integer from 0 to 2, got 3 "
            "[TFC004]");
  const char *dense = R"({"$rule": "dense_layers", "layers": 5, "every": 2,
      "at": {"$key": "m"}, "key": "m", "ffn": {"b": 6}})";
  EXPECT_EQ(made(dense, R"({"m": 0})"),
            R"([{"layers": [1, 3], "set": {"moe": null, "ffn": {"b": 6}}}])");
  EXPECT_EQ(made(dense, R"({"m": 1})"), R"([{"layers": [0, 2, 4], "set": )"
                                        R"({"moe": null, "ffn": {"b": 6}}}])");
}

TEST(Rules, ThetasOfLayers) {
  const char *hole = R"({"$rule": "layer_thetas", "layers": 3, "key": "t"})";
  EXPECT_EQ(made(hole, "{}"), "[]");
  EXPECT_EQ(made(hole, R"({"t": null})"), "[]");
  EXPECT_EQ(made(hole, R"({"t": [5, 0, 5]})"), R"([
  {"layers": [1], "set": {"attn": {"rotary": "none"}}},
  {"layers": [0, 2], "set": {"attn": {"rotary": {"theta": 5}}}}
])");
  EXPECT_EQ(made(hole, R"({"t": [5]})"),
            "config.json:1:7: /t: expected a list with a number for each of "
            "the 3 layers, got 1");
  EXPECT_EQ(made(hole, R"({"t": [5, -1, 5]})"),
            "config.json:1:11: /t/1: expected a number from 0 on, got -1");
}

TEST(Rules, HeadsOfLayers) {
  const char *hole = R"({"$rule": "layer_heads", "layers": 3, "key": "h",
      "heads": 4, "more": [7]})";
  EXPECT_EQ(made(hole, "{}"), "[7]");
  EXPECT_EQ(made(hole, R"({"h": [4, 6, 6]})"),
            R"([{"layers": [1, 2], "set": {"attn": {"num_heads": 6}}}, 7])");
  EXPECT_EQ(made(hole, R"({"h": [4, 0, 6]})"),
            "config.json:1:11: /h/1: expected a number from 1 on, got 0");
  EXPECT_EQ(made(hole, R"({"h": 4})"),
            "config.json:1:7: /h: expected a list with a number for each of "
            "the 3 layers, got 4");
}

TEST(Rules, NumbersOfLayers) {
  const char *hole = R"({"$rule": "layer_numbers", "layers": 3, "key": "n",
      "default": 0, "begins": {"count": 2, "number": 0.5}, "part": "ffn",
      "as": "sparsity", "usual": 0, "more": [7]})";
  EXPECT_EQ(made(hole, "{}"),
            R"([{"layers": [0, 1], "set": {"ffn": {"sparsity": 0.5}}}, 7])");
  EXPECT_EQ(made(hole, R"({"n": [0.25, 0, 0.25]})"),
            R"([{"layers": [0, 2], "set": {"ffn": {"sparsity": 0.25}}}, 7])");
  EXPECT_EQ(made(hole, R"({"n": [0, 0]})"),
            "config.json:1:7: /n: expected a list with a number for each of "
            "the 3 layers, got 2");
  EXPECT_EQ(made(hole, R"({"n": [0, -1, 0]})"),
            "config.json:1:11: /n/1: expected a number from 0 on, got -1");
  const char *first = R"({"$rule": "layer_numbers", "layers": 2, "key": "n",
      "default": 8, "or_one": true, "first": true})";
  EXPECT_EQ(made(first, "{}"), "8");
  EXPECT_EQ(made(first, R"({"n": 5})"), "5");
  EXPECT_EQ(made(first, R"({"n": [6, 5]})"), "6");
  EXPECT_EQ(made(first, R"({"n": "a"})"),
            "config.json:1:7: /n: expected a number, or a list with a number "
            "for each of the 2 layers, got \"a\"");
}

TEST(Rules, WindowsOfLayers) {
  const char *hole = R"({"$rule": "layer_windows", "layers": 3, "key": "w",
      "default": 8})";
  EXPECT_EQ(made(hole, "{}"), R"([{"layers": [0, 1, 2], "set": {"attn": )"
                              R"({"window": {"left": 4, "right": 4}}}}])");
  EXPECT_EQ(made(hole, R"({"w": [6, 2, 6]})"), R"([
  {"layers": [1], "set": {"attn": {"window": {"left": 1, "right": 1}}}},
  {"layers": [0, 2], "set": {"attn": {"window": {"left": 3, "right": 3}}}}
])");
  EXPECT_EQ(made(hole, R"({"w": [6, 2]})"),
            "config.json:1:7: /w: expected a number, or a list with one for "
            "each of the 3 layers, got 2");
  EXPECT_EQ(made(hole, R"({"w": [6, 3, 6]})"),
            "config.json:1:11: /w/1: expected an even number above 0 (half of "
            "it is to each side), got 3");
  EXPECT_EQ(made(hole, R"({"w": 0})"),
            "config.json:1:7: /w: expected an even number above 0 (half of it "
            "is to each side), got 0");
}

TEST(Rules, NumbersOfATypeOfLayers) {
  const char *hole = R"({"$rule": "layer_config", "layers": 3, "every": 3,
      "of": "full_attention", "key": "head_dim", "usual": 8,
      "known": ["head_dim"], "else": 16})";
  EXPECT_EQ(made(hole, "{}"), "16");
  EXPECT_EQ(made(hole, R"({"per_layer_config": {"02": {"head_dim": 12}}})"),
            "12");
  EXPECT_EQ(made(hole, R"({"per_layer_config": {}})"), "8");
  EXPECT_EQ(made(hole, R"({"layer_types":
      ["full_attention", "sliding_attention", "full_attention"],
      "per_layer_config": {"0": {"head_dim": 12}, "2": {"head_dim": 12}}})"),
            "12");
  EXPECT_EQ(made(hole, R"({"per_layer_config": {"1": {"head_dim": 12}}})"),
            "config.json:1:22: /per_layer_config: expected the same "
            "\"head_dim\" in all layers of a type, got 12 in layer 1");
  EXPECT_EQ(made(hole, R"({"per_layer_config": {"2": {"width": 12}}})"),
            "config.json:1:38: /per_layer_config/2/width: expected no "
            "\"width\" of a layer by itself (not supported by this tfc), got "
            "12");
  EXPECT_EQ(made(hole, R"({"per_layer_config": {"3": {}}})"),
            "config.json:1:28: /per_layer_config/3: expected an object for a "
            "layer below 3, got \"3\"");
  EXPECT_EQ(made(hole, R"({"per_layer_config": 4})"),
            "config.json:1:22: /per_layer_config: expected an object, got 4");
  EXPECT_EQ(made(hole, R"({"per_layer_config": {"2": {"head_dim": 0}}})"),
            "config.json:1:41: /per_layer_config/2/head_dim: expected an "
            "integer above 0, got 0");
  EXPECT_EQ(made(hole, R"({"layer_types":
["full_attention", "full_attention", "sliding_attention"],
"per_layer_config": {}})"),
            "config.json:2:1: /layer_types: expected \"full_attention\" for "
            "the last layer, got another");
}

TEST(Rules, TheLastLayers) {
  const char *hole = R"({"$rule": "last_layers", "layers": 4,
      "count": {"$key": "n", "default": 0}, "set": {"attn": {"sinks": true}}})";
  EXPECT_EQ(made(hole, "{}"), "nothing");
  EXPECT_EQ(made(hole, R"({"n": 2})"),
            R"([{"layers": [2, 3], "set": {"attn": {"sinks": true}}}])");
}

TEST(Rules, LayersBetweenThoseThatSeeAll) {
  const char *hole = R"({"$rule": "layer_types", "layers": 9, "key": "w",
      "window": {"$rule": "window", "key": "w", "of_layers": true},
      "default": {"every": 4, "at": 1, "first": 2, "last": true}})";
  EXPECT_EQ(made(hole, R"({"w": 3})"), R"([
  {
    "layers": [2, 3, 4, 6, 7],
    "set": {"attn": {"window": {"left": 2, "right": 0}}}
  }
])");
}

TEST(Rules, ListedDenseLayers) {
  const char *hole = R"({"$rule": "dense_layers", "layers": 3, "key": "d",
      "list": "d", "listed": [1], "attn": {"a": 5}, "ffn": {"b": 6}})";
  EXPECT_EQ(made(hole, "{}"), R"([{"layers": [1], "set": {"moe": null, )"
                              R"("ffn": {"b": 6}, "attn": {"a": 5}}}])");
  EXPECT_EQ(made(hole, R"({"d": null})"), made(hole, "{}"));
  EXPECT_EQ(made(hole, R"({"d": []})"), "nothing");
}

TEST(Rules, NoThetaIsNoRotation) {
  const char *hole =
      R"({"$rule": "rotary", "style": "half", "may_be_none": true})";
  EXPECT_EQ(made(hole, R"({"rope_parameters": {"rope_theta": null}})"),
            "\"none\"");
  EXPECT_EQ(made(hole, R"({"rope_theta": null})"), "\"none\"");
}
