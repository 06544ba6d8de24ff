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
           tailOf(recurrent->kernel,
                  2 * recurrent->keyWidth() + recurrent->valueWidth());
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

Recurrent SpecReader::readRecurrent(const Json &json) {
  Recurrent f;
  f.keyHeads = sizeOf(json, "key_heads").value_or(1);
  f.valueHeads = sizeOf(json, "value_heads").value_or(1);
  f.keyDim = sizeOf(json, "key_dim").value_or(1);
  f.valueDim = sizeOf(json, "value_dim").value_or(1);
  f.kernel = sizeOf(json, "conv").value_or(2);
  auto placeOf = [&](const char *key) {
    const Json *value = json.find(key);
    return value ? value->place : json.place.child(key);
  };
  if (f.valueHeads % f.keyHeads != 0) {
    error(placeOf("value_heads"), BadHeadDim,
          "expected a multiple of key_heads (" + std::to_string(f.keyHeads) +
              "), got " + std::to_string(f.valueHeads));
  }
  for (auto [heads, key, dim] :
       {std::tuple(f.keyHeads, "key_dim", &f.keyDim),
        std::tuple(f.valueHeads, "value_dim", &f.valueDim)}) {
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
  const Json *norm = json.find("norm");
  std::optional<Norm> read = readNorm(norm, f.valueDim);
  if (!read || read->kind != Norm::Kind::RmsNorm) {
    error(placeOf("norm"), BadBlock,
          "expected a norm of kind \"rmsnorm\" (of each head's values), got "
          "another");
  } else {
    f.norm = *read;
  }
  return f;
}

} // namespace tfc::spec
