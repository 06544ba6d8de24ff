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
  if (std::optional<Norm> norm = readNorm(json->find("norm"))) {
    inputs.norm = *norm;
  } else if (const Json *given = json->find("norm")) {
    error(given->place, BadBlock, "expected a norm, got " + describe(*given));
  }
  if (const Json *rows = json->find("rows");
      rows && inputs.rows < stack->embeddings.tokenRows) {
    error(rows->place, BadBlock,
          "expected at least " + std::to_string(stack->embeddings.tokenRows) +
              " (the rows of the token table, whose ids it has), got " +
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
  return {activationOf(json, "act")};
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

/// The layers of the stack in their order; the stack's own.
static std::vector<const std::vector<Sublayer> *>
listLayers(const Stack &stack) {
  std::vector<const std::vector<Sublayer> *> layers(size_t(stack.layers));
  for (const LayerRun &run : stack.runs) {
    int64_t i = 0;
    for (const LayerGroup &group : run.groups) {
      for (int64_t end = i + group.count; i < end; ++i) {
        layers[size_t(run.layerOf(i))] = &group.sublayers;
      }
    }
  }
  return layers;
}

void SpecReader::checkSharedKeys(const Json &json) {
  std::vector<const Attention *> kept;
  bool isByLayer = false, isApart = false;
  int64_t number = 0;
  for (const std::vector<Sublayer> *layer : listLayers(*stack)) {
    for (const Sublayer &sublayer : *layer) {
      const Attention *attn = sublayer.attention();
      if (!attn || attn->cross) {
        continue;
      }
      auto isLike = [&](const Attention *other) {
        return other->numKvHeads == attn->numKvHeads &&
               other->headDim == attn->headDim;
      };
      auto isSource = [&](const Attention *other) {
        return isLike(other) && other->window == attn->window;
      };
      isByLayer |= attn->scaleByInverseLayer;
      isApart |= attn->sharedKeys || (!kept.empty() && !isLike(kept.front()));
      if (!attn->sharedKeys) {
        kept.push_back(attn);
      } else if (std::none_of(kept.begin(), kept.end(), isSource)) {
        error(json.find("layers")->place, BadBlock,
              "expected before layer " + std::to_string(number) +
                  ", which has \"shared_kv\", one with keys of its own, as "
                  "many and as wide heads and the same window, got none");
        return;
      }
    }
    ++number;
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
