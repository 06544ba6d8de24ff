// What layers read beside their input: of each token something of their own,
// and the embeddings of its neighbours; and keys that other layers keep.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/read/SpecReader.h"

#include <algorithm>

namespace tfc::spec {

void SpecReader::readLayerInputs(const Json *json) {
  if (!json || !json->isObject()) {
    return;
  }
  LayerInputs inputs;
  inputs.width = sizeOf(*json, "width").value_or(0);
  inputs.rows = sizeOf(*json, "rows").value_or(stack->embeddings.tokenRows);
  for (auto [key, number] : {std::pair("scale", &inputs.scale),
                             {"projection_scale", &inputs.projectionScale},
                             {"out_scale", &inputs.outScale}}) {
    if (const Json *given = json->find(key); given && given->isNumber()) {
      *number = readPositive(*given);
    }
  }
  if (std::optional<Norm> norm = readNorm(json->find("norm"), inputs.width)) {
    inputs.norm = *norm;
  } else if (const Json *given = json->find("norm")) {
    error(given->place, BadBlock, "expected a norm, got " + describe(*given));
  }
  const Json *beyond = json->find("beyond");
  if (beyond && beyond->isInteger()) {
    inputs.beyond = beyond->integer;
    if (*inputs.beyond >= inputs.rows) {
      error(beyond->place, BadBlock,
            "expected a row of the table (it has " +
                std::to_string(inputs.rows) + "), got " + describe(*beyond));
    }
  }
  if (const Json *rows = json->find("rows");
      rows && !beyond && inputs.rows < stack->embeddings.tokenRows) {
    error(rows->place, BadBlock,
          "expected at least " + std::to_string(stack->embeddings.tokenRows) +
              " (the rows of the token table, whose ids it has; or "
              "\"beyond\"), got " +
              describe(*rows));
  }
  stack->layerInputs = inputs;
}

LayerInput SpecReader::readLayerInput(const Json &json) {
  if (!stack->layerInputs) {
    error(json.place, BadBlock,
          "expected \"layer_inputs\" in the " + stack->name +
              " (what it reads), got none");
  }
  return {activationOf(json, "act"), flagOf(json, "scaled", false)};
}

Ngram SpecReader::readNgram(const Json &json, const Sublayer &sublayer) {
  Ngram ngram;
  ngram.kernel = sizeOf(json, "kernel").value_or(3);
  ngram.act = activationOf(json, "act");
  if (ngram.kernel % 2 == 0) {
    error(json.find("kernel")->place, BadBlock,
          "expected an odd number (as many tokens behind as before), got " +
              std::to_string(ngram.kernel));
  }
  if (stack->name != "encoder") {
    error(json.place, BadBlock,
          "expected no \"ngram\" but in an encoder (it looks at tokens that "
          "are to come), got an object");
  }
  if (sublayer.preNorm || sublayer.parallel) {
    const Json *given = json.find(sublayer.preNorm ? "pre_norm" : "parallel");
    error(given ? given->place : json.place, BadBlock,
          "expected neither \"pre_norm\" nor \"parallel\" (an ngram reads the "
          "embeddings), got one");
  }
  return ngram;
}

void SpecReader::checkSharedKeys(const Json &json) {
  std::vector<const Attention *> kept;
  bool isByLayer = false, isApart = false;
  int64_t number = -1;
  for (const Attention *attn : stack->selfAttentions()) {
    ++number;
    if (!attn) {
      continue;
    }
    isByLayer |= attn->scaleByInverseLayer;
    isApart |= attn->sharedKeys ||
               (!kept.empty() && !attn->hasKeysLike(*kept.front()));
    if (!attn->sharedKeys) {
      kept.push_back(attn);
      continue;
    }
    bool hasSource =
        std::any_of(kept.begin(), kept.end(), [&](const Attention *other) {
          return other->hasKeysLike(*attn) && other->window == attn->window;
        });
    if (!hasSource) {
      error(json.find("layers")->place, BadBlock,
            "expected before layer " + std::to_string(number) +
                ", which has \"shared_kv\", one with keys of its own, as "
                "many and as wide heads and the same window, got none");
      return;
    }
  }
  if (isByLayer && isApart) {
    error(json.find("layers")->place, Unsupported,
          "expected no \"scale_by_inverse_layer\" where layers share keys or "
          "differ in heads (not supported by this tfc), got true");
  }
}

void SpecReader::checkLayerInputs(const Json &json) {
  if (!stack->layerInputs || stack->layers == 0) {
    return;
  }
  int64_t most = maxWidth / stack->layers;
  if (stack->layerInputs->width > most) {
    error(json.at({"layer_inputs", "width"})->place, BadBlock,
          "expected at most " + std::to_string(most) + " (" +
              std::to_string(maxWidth) + " columns of all layers), got " +
              std::to_string(stack->layerInputs->width));
  }
  bool isRead = false;
  for (const LayerRun &run : stack->runs) {
    for (const Sublayer &sublayer : run.sublayers) {
      isRead |= std::holds_alternative<LayerInput>(sublayer.f);
    }
  }
  if (!isRead) {
    error(json.find("layer_inputs")->place, BadBlock,
          "expected a layer with a \"layer_input\", which reads it, got none");
  }
}

} // namespace tfc::spec
