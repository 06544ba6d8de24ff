// Streams of rows, learned residuals, and what is left of a sparse gate.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/SpecReader.h"

namespace tfc::spec {

void SpecReader::readStreams(const Json *json) {
  if (!json || !json->isObject()) {
    return;
  }
  if (wordOf(*json, "kind", "") == "two_stream") {
    stack->hasTargets = true;
    return;
  }
  Streams streams;
  streams.reversible = wordOf(*json, "kind", "") == "reversible";
  if (streams.reversible) {
    if (model.kind == Kind::EncoderDecoder) {
      error(json->place, Unsupported,
            "expected none (streams that are side by side at the end are not "
            "supported by this tfc in an encoder_decoder), got an object");
      return;
    }
    stack->streams = streams;
    return;
  }
  streams.count = sizeOf(*json, "count").value_or(2);
  if (const Json *active = json->find("active");
      active && active->isInteger()) {
    streams.active = active->integer;
    if (streams.active >= streams.count) {
      error(active->place, BadBlock,
            "expected a stream (there are " + std::to_string(streams.count) +
                "), got " + describe(*active));
      streams.active = 0;
    }
  }
  if (std::optional<Norm> norm = readNorm(json->find("norm"))) {
    streams.norm = *norm;
  } else if (const Json *given = json->find("norm")) {
    error(given->place, BadBlock, "expected a norm, got " + describe(*given));
  }
  for (auto [key, number] : {std::pair("router_scale", &streams.routerScale),
                             {"floor", &streams.floor}}) {
    if (const Json *given = json->find(key); given && given->isNumber()) {
      *number = readPositive(*given);
    }
  }
  stack->streams = streams;
}

/// Tokens whose content nobody may see: it is in no row, and whoever asks sees
/// the same tokens, in whatever layer.
void SpecReader::checkTargets(const Json &json) {
  if (model.kind != Kind::Encoder) {
    error(json.place, Unsupported,
          "expected none, or another kind (targets are not supported by this "
          "tfc in a decoder, nor beside one), got \"two_stream\"");
    return;
  }
  const Embeddings &embeddings = stack->embeddings;
  if (embeddings.patches || embeddings.adaptive || stack->layerInputs) {
    error(json.place, BadBlock,
          "expected tokens of one table, which nothing else tells of (the row "
          "of a target stands in the place of its token's), got another");
    return;
  }
  for (const LayerRun &run : stack->runs) {
    for (const Sublayer &sublayer : run.sublayers) {
      const Attention *attn = sublayer.attention();
      if (attn &&
          (attn->window || attn->cap || attn->logBase || attn->sparse)) {
        error(json.place, BadBlock,
              "expected attention without window, softcap, log_scale_base and "
              "sparse (a target sees all other tokens that are none), got "
              "another");
        return;
      }
    }
  }
}

/// What a layer_input makes goes to other streams than the layer's, so that it
/// comes last and is nothing but added.
void SpecReader::checkStreams(const Json &json) {
  if (stack->hasTargets) {
    checkTargets(*json.find("streams"));
  }
  if (!stack->streams) {
    return;
  }
  for (const LayerRun &run : stack->runs) {
    for (const Sublayer &sublayer : run.sublayers) {
      if (stack->streams->reversible) {
        if (sublayer.parallel) {
          error(json.find("streams")->place, BadBlock,
                "expected no sublayer that is parallel to another (each reads "
                "the stream that the one before is added to), got one");
          return;
        }
        continue;
      }
      if (!std::holds_alternative<LayerInput>(sublayer.f)) {
        continue;
      }
      bool isPlain = !sublayer.parallel && !sublayer.postNorm &&
                     !sublayer.postScale && sublayer.postFactor == 1 &&
                     !sublayer.gruGate;
      if (!isPlain || &sublayer != &run.sublayers.back()) {
        error(json.find("streams")->place, BadBlock,
              "expected layers whose \"layer_input\" is the last sublayer, "
              "without parallel, post_norm, post_scale and residual (it is "
              "added to streams that the layer does not compute), got another");
        return;
      }
    }
  }
}

LowRank SpecReader::readLowRank(const Json &json) {
  return {sizeOf(json, "rank").value_or(1), readNorm(json.find("norm"))};
}

void SpecReader::readPostScale(const Json &json, Sublayer &sublayer) {
  const Json *scale = json.find("post_scale");
  if (scale && scale->isNumber()) {
    sublayer.postFactor = readPositive(*scale);
  } else {
    sublayer.postScale = flagOf(json, "post_scale", false);
  }
}

void SpecReader::readSparsity(const Json &json, Ffn &ffn) {
  const Json *sparsity = json.find("sparsity");
  if (!sparsity || !sparsity->isNumber()) {
    return;
  }
  if (!ffn.gated) {
    error(sparsity->place, BadBlock,
          "expected no \"sparsity\" (\"gated\" is false), got " +
              describe(*sparsity));
    return;
  }
  // In f32, as deviations are computed.
  float part = 2 * float(sparsity->real) - 1;
  if (!(part > -1 && part < 1)) {
    error(sparsity->place, BadBlock,
          "expected a number between 0 and 1 (the part of a gate's columns "
          "that becomes zeros), got " +
              describe(*sparsity));
    return;
  }
  ffn.sparsity = sparsity->real;
}

} // namespace tfc::spec
