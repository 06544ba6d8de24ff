// The list of rules, and those about activations and labels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/family/Rules.h"

using namespace tfc;
using namespace tfc::family;
using spec::Json;

namespace {

struct Rule {
  std::string_view name;
  RuleFunction function; // null: the importer has it, as it needs the tensors
  std::vector<std::string_view> keys;
};

const std::vector<Rule> &allRules() {
  static const std::vector<Rule> rules = {
      {"activation", activationRule, {}},
      {"labels", labelsRule, {"num_labels", "id2label"}},
      {"logits", nullptr, {"tie_word_embeddings"}},
      {"feed_forward_proj",
       feedForwardRule,
       {"feed_forward_proj", "dense_act_fn", "is_gated_act"}},
      {"rotary",
       rotaryRule,
       {"rope_parameters", "rope_scaling", "rope_theta",
        "partial_rotary_factor", "original_max_position_embeddings"}},
      {"score_scale", scoreScaleRule, {"rope_parameters", "rope_scaling"}},
      {"positions",
       positionsRule,
       {"rope_parameters", "rope_scaling", "original_max_position_embeddings"}},
      {"window", windowRule, {}},
      {"layer_types", layerTypesRule, {"layer_types"}},
      {"layer_pattern", layerPatternRule, {}},
      {"dense_layers", denseLayersRule, {}},
      {"layer_kinds", layerKindsRule, {"layer_types"}},
      {"layer_thetas", layerThetasRule, {}},
      {"layer_heads", layerHeadsRule, {}},
      {"layer_windows", layerWindowsRule, {}},
      {"layer_numbers", layerNumbersRule, {}},
      {"layer_config", layerConfigRule, {"per_layer_config", "layer_types"}},
      {"last_layers", lastLayersRule, {}},
      {"layer_count", layerCountRule, {"layer_types"}},
      {"hashes",
       hashesRule,
       {"hash_seed", "is_decoder", "local_attn_chunk_length",
        "lsh_attn_chunk_length", "lsh_num_chunks_after",
        "lsh_num_chunks_before", "num_buckets", "num_hashes"}},
      {"adjusted_width",
       adjustedWidthRule,
       {"intermediate_size", "block_ff_dim", "block_auto_adjust_ff_dim",
        "block_ffn_dim_multiplier", "block_multiple_of"}},
      {"stored", storedRule, {}},
      {"words", wordsRule, {}},
      {"attn_config", attnConfigRule, {"attn_config"}},
      {"attention_types",
       attentionTypesRule,
       {"attention_types", "attention_layers"}}};
  return rules;
}

const Rule *find(std::string_view name) {
  for (const Rule &rule : allRules()) {
    if (rule.name == name) {
      return &rule;
    }
  }
  return nullptr;
}

} // namespace

RuleFunction family::findRule(std::string_view name) {
  const Rule *rule = find(name);
  return rule ? rule->function : nullptr;
}

std::vector<std::string_view> family::keysOfRule(std::string_view name) {
  const Rule *rule = find(name);
  return rule ? rule->keys : std::vector<std::string_view>();
}

/// The first of the hole's keys that config.json has; else the last one, which
/// is what the family calls it today.
static std::string chooseKey(Instantiator &made, const Json &hole) {
  const Json &key = *hole.find("key");
  for (const Json &name : key.items) {
    if (made.config.value(name.text)) {
      return name.text;
    }
  }
  return key.isArray() ? key.items.back().text : key.text;
}

/// A value that stands where `key` does in config.json.
static Json at(Instantiator &made, std::string_view key, Json value) {
  value.place = made.config.placeOf(key);
  return value;
}

std::optional<Json> family::storedRule(Instantiator &made, const Json &hole) {
  return made.member(hole, "else");
}

std::optional<Json> family::activationRule(Instantiator &made,
                                           const Json &hole) {
  std::string key = chooseKey(made, hole);
  std::string name = made.config.string(key, hole.find("default")->text);
  const Json *as = hole.find("as");
  if (const Json *other = as ? as->find(name) : nullptr) {
    return at(made, key, *other);
  }
  std::string_view ours = findActivation(name);
  if (ours.empty()) {
    made.config.fault(key, "expected an activation that tfc knows (" +
                               knownActivations() + "), got " +
                               spec::inQuotes(name));
    ours = "identity";
  }
  return at(made, key, std::string(ours));
}

std::optional<Json> family::labelsRule(Instantiator &made, const Json &hole) {
  const Json *byDefault = hole.find("default"), *wanted = hole.find("expect");
  int64_t labels = readLabels(made.config, byDefault ? byDefault->integer : 2);
  const char *key = made.config.value("id2label") ? "id2label" : "num_labels";
  if (wanted && labels != wanted->integer) {
    made.config.fault(key, "expected " + std::to_string(wanted->integer) +
                               " labels (" + hole.find("why")->text +
                               "), got " + std::to_string(labels));
  }
  return at(made, key, wanted ? wanted->integer : labels);
}

/// "relu", "gated-gelu": the activation, and whether there is a gate.
/// dense_act_fn and is_gated_act, which files of transformers have beside it,
/// are stronger.
std::optional<Json> family::feedForwardRule(Instantiator &made,
                                            const Json &hole) {
  Config &config = made.config;
  std::string text =
      config.string("feed_forward_proj", hole.find("default")->text);
  constexpr std::string_view gate = "gated-";
  bool gated = text.rfind(gate, 0) == 0;
  std::string act = gated ? text.substr(gate.size()) : text;
  const char *key = "feed_forward_proj";
  if (text == "gated-gelu") {
    act = "gelu_new";
  }
  if (config.value("dense_act_fn")) {
    key = "dense_act_fn";
    act = config.string(key, act);
  }
  gated = config.boolean("is_gated_act", gated);
  if (hole.find("part")->isString("gated")) {
    return at(made, "is_gated_act", gated);
  }
  std::string_view ours = findActivation(act);
  if (ours.empty()) {
    config.fault(
        key,
        "expected an activation that tfc knows (" + knownActivations() +
            "), alone or after \"gated-\", got " +
            spec::describe(config.value(key) ? *config.value(key) : Json(act)));
    ours = "identity";
  }
  return at(made, key, std::string(ours));
}
