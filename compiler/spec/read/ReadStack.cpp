// The stacks of a model: which there are, and what the layers of each must have
// in common.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/SpecReader.h"

namespace tfc::spec {

/// Makes the stacks of the kind; a diagnostic for each one that is missing, or
/// else for one that the kind does not have.
void SpecReader::readKind(const std::string &kind) {
  model.kind = kind == "encoder"   ? Kind::Encoder
               : kind == "decoder" ? Kind::Decoder
                                   : Kind::EncoderDecoder;
  bool missing = false;
  const Json *extra = nullptr;
  for (auto [name, made] : {std::pair("encoder", &model.encoder),
                            std::pair("decoder", &model.decoder)}) {
    const Json *json = root.find(name);
    if (model.kind != Kind::EncoderDecoder && kind != name) {
      extra = json;
      continue;
    }
    made->emplace().name = name;
    if (!json) {
      missing = true;
      Place place = root.find("kind")->place;
      place.path = root.place.child(name).path;
      error(place, BadKind,
            "expected " + inQuotes(name) + " (kind is \"" + kind +
                "\"), got nothing");
    }
  }
  if (extra && !missing) {
    std::string name = kind == "encoder" ? "decoder" : "encoder";
    error(extra->place, BadKind,
          "expected no " + inQuotes(name) + " (kind is \"" + kind +
              "\"), got " + describe(*extra));
  }
}

void SpecReader::readShared() {
  const Json *token = root.at({"shared", "token"});
  if (token && token->isObject()) {
    readTokenRows(*token);
    model.sharedRows = sizeOf(*token, "rows").value_or(model.vocab);
  }
}

void SpecReader::readStack(Stack &target, const Json &json) {
  stack = &target;
  firstAttention[0] = firstAttention[1] = std::nullopt;
  cacheFault.reset();
  if (const Json *embeddings = json.find("embeddings")) {
    readEmbeddings(*embeddings);
  }
  readPositionBias(json.find("position_bias"));
  readRelativeTable(json.find("relative"));
  readLayerInputs(json.find("layer_inputs"));
  readStreams(json.find("streams"));
  if (const Json *layers = json.find("layers")) {
    readLayers(*layers);
    checkDecoderLayers(*layers);
  }
  stack->finalNorm =
      readNorm(json.find("final_norm"), stack->resultWidth(model.hidden));
  checkStack(json);
  checkRelative(json);
  checkSharedKeys(json);
  checkLayerInputs(json);
  checkStreams(json);
  warnWithoutFinalNorm(json);
  stack = nullptr;
}

/// Without a layer nothing of a decoder would see its encoder.
void SpecReader::checkDecoderLayers(const Json &layers) {
  const Json *repeat = layers.find("repeat");
  bool isNone = repeat ? repeat->isInteger() && repeat->integer == 0
                       : layers.isArray() && layers.items.empty();
  if (isNone && model.kind == Kind::EncoderDecoder &&
      stack->name == "decoder") {
    error(repeat ? repeat->place : layers.place, Unsupported,
          "expected at least one layer (a decoder that does not see its "
          "encoder is not supported by this tfc), got none");
  }
}

/// What the layers of a stack must have in common.
void SpecReader::checkStack(const Json &json) {
  const Attention *biased = nullptr;
  bool rotary = false;
  for (const LayerRun &run : stack->runs) {
    bool cross = false;
    for (const Sublayer &sublayer : run.sublayers) {
      const Attention *attn = sublayer.attention();
      cross |= attn && attn->cross;
      rotary |= attn && attn->rotary;
      if (!attn || !attn->positionBias) {
        continue;
      }
      biased = biased ? biased : attn;
      if (attn->numHeads != biased->numHeads &&
          !stack->positionBias->perLayer) {
        error(json.find("position_bias")->place, BadBias,
              "expected as many heads in every attention that it is added to "
              "(the table has a column a head), got " +
                  std::to_string(biased->numHeads) + " and " +
                  std::to_string(attn->numHeads));
        return;
      }
    }
    if (model.kind == Kind::EncoderDecoder && stack->name == "decoder" &&
        !cross) {
      error(json.find("layers")->place, Unsupported,
            "expected a cross-attention in every layer of the decoder (others "
            "are not supported by this tfc), got none in layer " +
                std::to_string(run.first));
      return;
    }
  }
  if (cacheFault) {
    error(cacheFault->place, Unsupported, cacheFault->message);
  }
  if (stack->positionBias && !biased && stack->layers > 0) {
    error(json.find("position_bias")->place, BadBias,
          "expected an attention that it is added to, got none");
  }
  if (rotary && stack->embeddings.position) {
    report(diagnostics, json.at({"embeddings", "position"})->place,
           TwoPositions,
           std::string("expected kind \"none\" (positions are in the rotary "
                       "attention already), got ") +
               (stack->embeddings.position->sinusoid ? "\"sinusoid\""
                                                     : "\"learned\""),
           Severity::Warning);
  }
}

void SpecReader::warnWithoutFinalNorm(const Json &json) {
  bool pre =
      !stack->runs.empty() && !stack->finalNorm && !json.find("final_norm");
  for (const LayerRun &run : stack->runs) {
    for (const Sublayer &sublayer : run.sublayers) {
      pre =
          pre && (sublayer.preNorm || sublayer.parallel) && !sublayer.postNorm;
    }
  }
  if (pre) {
    report(diagnostics, json.place.child("final_norm"), BadBlock,
           "expected a final norm (every layer has its norms in front), got "
           "nothing; \"none\" says that there is none",
           Severity::Warning);
  }
}

} // namespace tfc::spec
