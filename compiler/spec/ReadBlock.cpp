// One layer: from the sugar of a block (placement, one norm, named sublayers)
// to the ordered list of sublayers, and the arithmetic of heads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/SpecReader.h"

#include <cmath>

namespace tfc::spec {

std::vector<Sublayer> SpecReader::readBlock(const Json &block) {
  if (!block.isObject()) {
    return {};
  }
  const Json *list = block.find("sublayers");
  if (!list) {
    return readSugar(block);
  }
  for (const Member &member : block.members) {
    if (member.key != "sublayers") {
      error(member.keyPlace, BadBlock,
            "expected no \"" + member.key +
                "\" (\"sublayers\" says it all), got " +
                describe(member.value));
    }
  }
  std::vector<Sublayer> sublayers;
  for (const Json &item : list->items) {
    if (!item.isObject()) {
      continue;
    }
    if (item.members.size() != 1) {
      error(item.place, BadBlock,
            "expected one of attn and ffn, got " +
                std::to_string(item.members.size()) + " keys");
      continue;
    }
    const Member &member = item.members.front();
    for (const Sublayer &other : sublayers) {
      if (other.name == member.key) {
        error(member.keyPlace, Unsupported,
              "expected every sublayer once (repeated sublayers are not "
              "supported by this tfc), got " +
                  inQuotes(member.key) + " again");
      }
    }
    if (auto sublayer =
            readSublayer(member.key, member.value, "none", nullptr)) {
      sublayers.push_back(std::move(*sublayer));
    }
  }
  return sublayers;
}

std::vector<Sublayer> SpecReader::readSugar(const Json &block) {
  std::string placement = wordOf(block, "placement", "none");
  const Json *norm = block.find("norm");
  if ((placement == "pre" || placement == "post") && !norm) {
    error(block.place.child("norm"), BadBlock,
          "expected \"norm\" (placement is \"" + placement +
              "\"), got nothing");
  }
  if (placement == "none" && norm) {
    error(norm->place, BadBlock,
          "expected no \"norm\" (placement is \"none\"), got " +
              describe(*norm));
  }
  std::vector<Sublayer> sublayers;
  for (const char *name : {"attn", "ffn"}) {
    if (const Json *sublayer = block.find(name)) {
      if (auto read = readSublayer(name, *sublayer, placement, norm)) {
        sublayers.push_back(std::move(*read));
      }
    }
  }
  if (!block.find("attn") && !block.find("ffn") && !block.find("cross") &&
      !block.find("conv")) {
    error(block.place, BadBlock, "expected attn or ffn, got an empty block");
  }
  return sublayers;
}

std::optional<Sublayer> SpecReader::readSublayer(const std::string &name,
                                                 const Json &sublayer,
                                                 const std::string &placement,
                                                 const Json *blockNorm) {
  bool isAttention = name == "attn";
  if (!sublayer.isObject() || (!isAttention && name != "ffn")) {
    return std::nullopt;
  }
  auto normOf = [&](const char *key, bool placed) {
    const Json *own = sublayer.find(key);
    return readNorm(own ? own : placed ? blockNorm : nullptr);
  };
  Sublayer result;
  result.name = name;
  result.preNorm = normOf("pre_norm", placement == "pre");
  result.postNorm = normOf("post_norm", placement == "post");
  if (isAttention) {
    result.f = readAttention(sublayer);
    return result;
  }
  Ffn ffn;
  ffn.width = sizeOf(sublayer, "width").value_or(0);
  ffn.act = activationOf(sublayer, "act");
  ffn.gated = flagOf(sublayer, "gated", false);
  ffn.bias = flagOf(sublayer, "bias", false);
  result.f = ffn;
  return result;
}

Attention SpecReader::readAttention(const Json &attn) {
  Attention result;
  result.numHeads = sizeOf(attn, "num_heads").value_or(0);
  result.numKvHeads = sizeOf(attn, "num_kv_heads").value_or(result.numHeads);
  result.headDim = sizeOf(attn, "head_dim").value_or(0);
  int64_t heads = result.numHeads;
  if (heads > 0 && model.hidden > 0 && !attn.find("head_dim")) {
    result.headDim = model.hidden / heads;
    if (model.hidden % heads != 0) {
      error(attn.place.child("head_dim"), BadHeadDim,
            "expected \"head_dim\" (hidden " + std::to_string(model.hidden) +
                " is no multiple of num_heads " + std::to_string(heads) +
                "), got nothing");
    }
  }
  if (heads > 0 && heads % result.numKvHeads != 0) {
    error(attn.find("num_kv_heads")->place, BadKvHeads,
          "expected a divisor of num_heads (" + std::to_string(heads) +
              "), got " + std::to_string(result.numKvHeads));
  }
  if (heads > 0 && result.headDim > maxWidth / heads) {
    error(attn.place, BadHeadDim,
          "expected at most " + std::to_string(maxWidth) +
              " (num_heads times head_dim), got " + std::to_string(heads) +
              " times " + std::to_string(result.headDim));
  }
  readBiases(attn, result);
  const Json *scale = attn.find("scale");
  if (scale && scale->isNumber()) {
    result.scale = scale->real;
    float single = float(scale->real);
    if (!(single > 0) || !std::isfinite(single)) {
      error(scale->place, BadType,
            "expected a number above 0 that f32 can hold, got " +
                describe(*scale));
    }
  } else if (result.headDim > 0) {
    result.scale = 1 / std::sqrt(double(result.headDim));
  }
  result.scaleByInverseLayer = flagOf(attn, "scale_by_inverse_layer", false);
  result.causal = flagOf(attn, "causal", false);
  checkCausal(attn, result.causal);
  return result;
}

void SpecReader::readBiases(const Json &attn, Attention &attention) {
  const Json *bias = attn.find("bias");
  if (!bias) {
    return;
  }
  bool all = bias->isBoolean() && bias->boolean;
  attention.qBias = flagOf(*bias, "q", all);
  attention.kBias = flagOf(*bias, "k", all);
  attention.vBias = flagOf(*bias, "v", all);
  attention.oBias = flagOf(*bias, "o", all);
}

void SpecReader::checkCausal(const Json &attn, bool causal) {
  const Json *given = attn.find("causal");
  bool wanted = model.kind == Kind::Decoder;
  if (causal == wanted || (given && !given->isBoolean())) {
    return;
  }
  const Place place = given ? given->place : attn.place.child("causal");
  std::string got = given ? describe(*given) : "nothing";
  if (!wanted) {
    error(place, Unsupported,
          "expected false (causal attention in an encoder is not supported by "
          "this tfc), got " +
              got);
  } else if (root.find("generation")) {
    error(place, NotCausal,
          "expected true (generation needs causal attention), got " + got);
  } else {
    error(place, Unsupported,
          "expected true (bidirectional attention in a decoder is not "
          "supported by this tfc), got " +
              got);
  }
}

} // namespace tfc::spec
