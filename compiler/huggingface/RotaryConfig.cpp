// rope_parameters and its predecessors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/RotaryConfig.h"

#include "compiler/spec/SpecFields.h"

using namespace tfc;
using namespace tfc::huggingface;
using spec::Json;

namespace {

constexpr double largest = 1e9;
constexpr double defaultTheta = 10000;

/// Copies a number of `from` under the spec's name for it.
void copyNumber(Config &from, std::string_view key, Json &to,
                const char *name) {
  if (from.value(key)) {
    to.set(name, from.number(key, 1, 0, largest));
  }
}

/// The scaling of a type that tfc has; "none" after a fault.
Json readScaling(Source &source, Config &rope, const std::string &type,
                 int64_t positions) {
  if (type == "default") {
    return "none";
  }
  Json scaling = makeObject({{"kind", type}});
  if (type != "linear" && type != "dynamic" && type != "llama3" &&
      type != "yarn") {
    rope.fault(rope.value("rope_type") ? "rope_type" : "type",
               "expected default, linear, dynamic, llama3 or yarn (tfc has no "
               "other frequencies), got " +
                   spec::inQuotes(type));
    return "none";
  }
  if (!rope.value("factor")) {
    rope.fault("factor", "expected a number (of the scaling), got nothing");
  }
  scaling.set("factor", rope.number("factor", 1, 1, largest));
  if (type == "llama3" || type == "yarn") {
    int64_t inside = rope.integer("original_max_position_embeddings", positions,
                                  1, spec::maxRows);
    // The model's own key is stronger than that of the dictionary.
    scaling.set("original_max",
                source.config.integer("original_max_position_embeddings",
                                      inside, 1, spec::maxRows));
  }
  if (type == "llama3") {
    for (const char *key : {"low_freq_factor", "high_freq_factor"}) {
      if (!rope.value(key)) {
        rope.fault(key, "expected a number (of the scaling), got nothing");
      }
      copyNumber(rope, key, scaling, key);
    }
  }
  if (type == "yarn") {
    for (const char *key : {"attention_factor", "mscale", "mscale_all_dim"}) {
      copyNumber(rope, key, scaling, key);
    }
    for (const char *key : {"beta_fast", "beta_slow"}) {
      // transformers takes 0 for none.
      if (rope.number(key, 0, 0, largest) != 0) {
        copyNumber(rope, key, scaling, key);
      }
    }
    scaling.set("truncate", rope.boolean("truncate", true));
  }
  return scaling;
}

} // namespace

Json huggingface::readRotary(Source &source, int64_t positions) {
  Config &config = source.config;
  const Json *scaling = config.value("rope_scaling");
  const Json *parameters = config.value("rope_parameters");
  // The old key wins where both have content, as in transformers.
  const Json *from =
      scaling && !(scaling->isObject() && scaling->members.empty())
          ? scaling
          : parameters;
  Json none = Json::object();
  if (from && !from->isObject()) {
    config.fault(from == scaling ? "rope_scaling" : "rope_parameters",
                 "expected an object, got " + spec::describe(*from));
    from = nullptr;
  }
  for (const spec::Member &member : (from ? *from : none).members) {
    if (member.value.isObject()) {
      config.faultAt(member.value, "expected numbers for all layers together, "
                                   "got an object (of some of them)");
      from = nullptr;
      break;
    }
  }
  Config rope(from ? *from : none, source.diagnostics);
  double outside = config.number("rope_theta", defaultTheta, 1, largest);
  double theta = rope.number("rope_theta", outside, 1, largest);
  std::string type = rope.string("type", "default");
  type = rope.string("rope_type", type);
  for (Config *each : {&config, &rope}) {
    if (each->number("partial_rotary_factor", 1, 0, 1) != 1) {
      each->fault("partial_rotary_factor",
                  "expected 1 (this model type rotates whole heads), got " +
                      spec::describe(*each->value("partial_rotary_factor")));
    }
  }
  size_t before = config.faults();
  Json scaled = readScaling(source, rope, type, positions);
  // What a type that tfc does not have may say is not known.
  if (config.faults() == before) {
    rope.reportUnread(source.strict);
  }
  return makeObject({{"theta", theta}, {"scaling", std::move(scaled)}});
}
