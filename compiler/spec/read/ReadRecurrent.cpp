// Sublayers that keep a state in place of keys and values.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/read/SpecReader.h"

#include <algorithm>

namespace tfc::spec {

/// Rows of so many tokens before the next one.
static int64_t tailOf(int64_t kernel, int64_t columns) {
  return (kernel - 1) * columns;
}

int64_t stateWidth(const Sublayer &sublayer, int64_t hidden) {
  if (const auto *conv = std::get_if<Conv>(&sublayer.f)) {
    return tailOf(conv->kernel, hidden);
  }
  if (const auto *recurrent = std::get_if<Recurrent>(&sublayer.f)) {
    return recurrent->keyDim * recurrent->valueWidth() +
           tailOf(recurrent->kernel, recurrent->convWidth());
  }
  return 0;
}

void SpecReader::readStateful(const std::string &name, const Json &json,
                              Sublayer &result) {
  if (model.kind != Kind::Decoder) {
    error(json.place, Unsupported,
          "expected no \"" + name +
              "\" but in a model that is a decoder alone (states of others are "
              "not supported by this tfc), got an object");
  }
  if (name == "recurrent") {
    result.f = readRecurrent(json);
    return;
  }
  Conv conv;
  conv.kernel = sizeOf(json, "kernel").value_or(2);
  conv.bias = flagOf(json, "bias", false);
  result.f = conv;
}

Recurrent SpecReader::readSelective(const Json &json) {
  Recurrent f;
  f.kind = Recurrent::Kind::Mamba;
  f.valueDim = sizeOf(json, "width").value_or(1);
  f.keyDim = sizeOf(json, "state").value_or(1);
  f.rank = sizeOf(json, "rank").value_or(1);
  f.kernel = sizeOf(json, "conv").value_or(2);
  f.convBias = flagOf(json, "conv_bias", false);
  f.bias = flagOf(json, "bias", false);
  if (f.keyDim > maxHeadDim) {
    error(json.find("state")->place, Unsupported,
          "expected at most " + std::to_string(maxHeadDim) +
              " (larger states are not supported by this tfc), got " +
              std::to_string(f.keyDim));
    f.keyDim = 1; // what follows from it is no other fault
  }
  const Json *norm = json.find("norm");
  f.norm = readNorm(norm, f.keyDim);
  if (norm && f.norm && f.norm->kind != Norm::Kind::RmsNorm) {
    error(norm->place, BadBlock,
          "expected a norm of kind \"rmsnorm\" (of each row of queries, keys "
          "and times), got another");
  }
  return f;
}

Recurrent SpecReader::readRecurrent(const Json &json) {
  std::string kind = wordOf(json, "kind", "gated_delta");
  if (kind == "mamba") {
    return readSelective(json);
  }
  bool isMamba = kind == "mamba2";
  Recurrent f;
  f.kind = isMamba ? Recurrent::Kind::Mamba2 : Recurrent::Kind::GatedDelta;
  auto nameOf = [&](const char *delta, const char *mamba) {
    return isMamba ? mamba : delta;
  };
  const char *keyHeads = nameOf("key_heads", "groups");
  const char *valueHeads = nameOf("value_heads", "heads");
  const char *keyDim = nameOf("key_dim", "state");
  const char *valueDim = nameOf("value_dim", "head_dim");
  f.keyHeads = sizeOf(json, keyHeads).value_or(1);
  f.valueHeads = sizeOf(json, valueHeads).value_or(1);
  f.keyDim = sizeOf(json, keyDim).value_or(1);
  f.valueDim = sizeOf(json, valueDim).value_or(1);
  f.kernel = sizeOf(json, "conv").value_or(2);
  f.convBias = isMamba && flagOf(json, "conv_bias", false);
  f.normGroups = isMamba ? sizeOf(json, "norm_groups").value_or(1) : 1;
  f.normBeforeGate = isMamba && flagOf(json, "norm_before_gate", false);
  if (const Json *scale = json.find("beta_scale");
      !isMamba && scale && scale->isNumber()) {
    f.betaScale = readPositive(*scale);
  }
  if (!isMamba) {
    f.keyDecay = flagOf(json, "key_decay", false);
    f.decayRank = sizeOf(json, "decay_rank").value_or(0);
    f.gateRank = sizeOf(json, "gate_rank").value_or(0);
    f.gateAct = json.find("gate_act") ? activationOf(json, "gate_act")
                                      : Activation::Silu;
  }
  if (const Json *floor = json.find("step_floor");
      isMamba && floor && floor->isNumber() && floor->real != 0) {
    f.stepFloor = readPositive(*floor);
  }
  if (const Json *scales = isMamba ? json.find("scales") : nullptr) {
    readScales(*scales, f.scales);
  }
  auto placeOf = [&](const char *key) {
    const Json *value = json.find(key);
    return value ? value->place : json.place.child(key);
  };
  if (f.valueHeads % f.keyHeads != 0) {
    error(placeOf(valueHeads), BadHeadDim,
          "expected a multiple of " + std::string(keyHeads) + " (" +
              std::to_string(f.keyHeads) + "), got " +
              std::to_string(f.valueHeads));
  }
  for (auto [heads, key, dim] : {std::tuple(f.keyHeads, keyDim, &f.keyDim),
                                 {f.valueHeads, valueDim, &f.valueDim}}) {
    if (*dim > maxHeadDim || *dim > maxWidth / heads) {
      error(placeOf(key), Unsupported,
            "expected at most " +
                std::to_string(std::min(maxHeadDim, maxWidth / heads)) +
                " (of " + std::to_string(heads) +
                " heads wider ones are not supported by this tfc), got " +
                std::to_string(*dim));
      *dim = 1; // what follows from it is no other fault
    }
  }
  if (f.decayWidth() > maxWidth) {
    error(placeOf("key_decay"), Unsupported,
          "expected value_heads * key_dim to be at most " +
              std::to_string(maxWidth) +
              " (more decays are not supported by this tfc), got " +
              std::to_string(f.valueHeads) + " * " + std::to_string(f.keyDim));
    f.keyDecay = false; // what follows from it is no other fault
  }
  if (f.valueWidth() % f.normGroups != 0) {
    error(placeOf("norm_groups"), BadHeadDim,
          "expected a divisor of heads * head_dim (" +
              std::to_string(f.valueWidth()) + "), got " +
              std::to_string(f.normGroups));
    f.normGroups = 1;
  }
  const Json *norm = json.find("norm");
  f.norm = readNorm(norm, isMamba ? f.valueWidth() / f.normGroups : f.valueDim);
  if (norm && (f.norm ? f.norm->kind != Norm::Kind::RmsNorm : !isMamba)) {
    error(norm->place, BadBlock,
          "expected a norm of kind \"rmsnorm\" (of " +
              std::string(isMamba ? "parts of a row" : "each head's values") +
              "), got another");
  }
  if (norm && !f.norm && f.normBeforeGate) {
    error(placeOf("norm_before_gate"), BadBlock,
          "expected no \"norm_before_gate\" (there is no \"norm\"), got true");
  }
  return f;
}

void SpecReader::readScales(const Json &json, Recurrent::Scales &scales) {
  for (auto [key, scale] : {std::pair("q", &scales.query),
                            {"k", &scales.key},
                            {"v", &scales.value},
                            {"gate", &scales.gate},
                            {"decay", &scales.decay}}) {
    if (const Json *number = json.find(key); number && number->isNumber()) {
      *scale = readPositive(*number);
    }
  }
}

} // namespace tfc::spec
