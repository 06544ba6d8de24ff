// One layer: from the sugar of a block (placement, one norm, named sublayers)
// to the ordered list of sublayers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/read/SpecReader.h"

#include <algorithm>
#include <iterator>

namespace tfc::spec {

/// In the order that they have in a block.
static constexpr const char *sublayerNames[] = {
    "attn", "cross", "low_rank", "conv",       "recurrent",
    "ffn",  "moe",   "ngram",    "layer_input"};

/// "attn, cross, ... and layer_input", with `last` before the last.
static std::string listNames(const std::string &last) {
  std::string text = sublayerNames[0];
  for (size_t i = 1; i < std::size(sublayerNames); ++i) {
    bool isLast = i + 1 == std::size(sublayerNames);
    text += (isLast ? " " + last + " " : ", ") + sublayerNames[i];
  }
  return text;
}

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
            "expected one of " + listNames("and") + ", got " +
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
  checkParallel(block, sublayers);
  return sublayers;
}

/// What is parallel is so to the sublayer before, whose sum it adds to.
void SpecReader::checkParallel(const Json &block,
                               const std::vector<Sublayer> &sublayers) {
  const Sublayer *before = nullptr;
  for (const Sublayer &sublayer : sublayers) {
    if (sublayer.parallel && (!before || before->postNorm)) {
      error(block.place, BadBlock,
            "expected a sublayer without post_norm before \"" + sublayer.name +
                "\" (it is parallel to it), got " +
                (before ? "one with it" : "none"));
    }
    before = &sublayer;
  }
}

std::vector<Sublayer> SpecReader::readSugar(const Json &block) {
  std::string placement = wordOf(block, "placement", "none");
  const Json *norm = block.find("norm");
  if (placement != "none" && !norm) {
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
  for (const char *name : sublayerNames) {
    if (const Json *sublayer = block.find(name)) {
      // The first one's norm is that of all: what is parallel to it has one
      // where it says so.
      bool isAfter = placement == "parallel" && !sublayers.empty();
      std::string own = placement != "parallel" ? placement
                        : isAfter               ? "none"
                                                : "pre";
      if (auto read = readSublayer(name, *sublayer, own, norm)) {
        read->parallel |= isAfter;
        sublayers.push_back(std::move(*read));
      }
    }
  }
  checkParallel(block, sublayers);
  bool isEmpty = true;
  for (const char *name : sublayerNames) {
    isEmpty = isEmpty && !block.find(name);
  }
  if (isEmpty) {
    error(block.place, BadBlock,
          "expected " + listNames("or") + ", got an empty block");
  }
  return sublayers;
}

std::optional<Sublayer> SpecReader::readSublayer(const std::string &name,
                                                 const Json &sublayer,
                                                 const std::string &placement,
                                                 const Json *blockNorm) {
  bool isAttention = name == "attn" || name == "cross";
  if (!sublayer.isObject() ||
      std::find(std::begin(sublayerNames), std::end(sublayerNames), name) ==
          std::end(sublayerNames)) {
    return std::nullopt;
  }
  if (name == "cross" &&
      (model.kind != Kind::EncoderDecoder || stack->name == "encoder")) {
    error(sublayer.place, BadCross,
          stack->name == "encoder"
              ? "expected no cross-attention in the encoder, got an object"
              : "expected no cross-attention (there is no encoder), got an "
                "object");
    return std::nullopt;
  }
  auto normOf = [&](const char *key, bool placed) {
    const Json *own = sublayer.find(key);
    return readNorm(own ? own : placed ? blockNorm : nullptr);
  };
  Sublayer result;
  result.name = name;
  result.preNorm = normOf("pre_norm", placement == "pre");
  result.outNorm = normOf("out_norm", false);
  if (const Json *scale = sublayer.find("out_scale")) {
    result.outScale = scale->isNumber() ? readPositive(*scale) : 1;
    result.outScales = scale->isString("learned");
  }
  result.parallel = flagOf(sublayer, "parallel", false);
  if (sublayer.find("out_act")) {
    result.outAct = activationOf(sublayer, "out_act");
  }
  result.gruGate = wordOf(sublayer, "residual", "add") == "gru_gate";
  if (result.gruGate && result.parallel) {
    error(sublayer.find("residual")->place, Unsupported,
          "expected \"add\" (a gate of parallel parts is not supported by this "
          "tfc), got \"gru_gate\"");
  }
  result.postNorm = normOf("post_norm", placement == "post");
  readPostScale(sublayer, result);
  if (isAttention) {
    result.f = readAttention(name, sublayer);
    return result;
  }
  if (name == "moe") {
    result.f = readMoe(sublayer);
    return result;
  }
  if (name == "layer_input") {
    result.f = readLayerInput(sublayer);
    return result;
  }
  if (name == "low_rank") {
    result.f = readLowRank(sublayer);
    return result;
  }
  if (name == "ngram") {
    result.f = readNgram(sublayer, result);
    return result;
  }
  if (name == "conv" || name == "recurrent") {
    readStateful(name, sublayer, result);
    return result;
  }
  Ffn ffn;
  ffn.width = sizeOf(sublayer, "width").value_or(0);
  ffn.xielu = wordOf(sublayer, "act", "") == "xielu";
  ffn.act = ffn.xielu ? Activation::Identity : activationOf(sublayer, "act");
  ffn.gated = flagOf(sublayer, "gated", false);
  if (ffn.xielu && ffn.gated) {
    error(sublayer.find("gated")->place, BadBlock,
          "expected false (xielu is of no gate), got true");
  }
  ffn.bias = flagOf(sublayer, "bias", false);
  if (const Json *scale = sublayer.find("gate_scale");
      scale && scale->isNumber()) {
    ffn.gateScale = readPositive(*scale);
    if (!ffn.gated) {
      error(scale->place, BadBlock,
            "expected no \"gate_scale\" (\"gated\" is false), got " +
                describe(*scale));
    }
  }
  readSparsity(sublayer, ffn);
  ffn.innerNorm = readNorm(sublayer.find("inner_norm"), ffn.width);
  result.f = ffn;
  return result;
}

} // namespace tfc::spec
