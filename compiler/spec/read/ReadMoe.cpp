// A mixture of experts: its router and what they share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/SpecReader.h"

namespace tfc::spec {

/// Where the value of a key is, or would be.
static Place placeOf(const Json &json, const char *key) {
  const Json *value = json.find(key);
  return value ? value->place : json.place.child(key);
}

static Router::Score scoreOf(const std::string &word) {
  return word == "sigmoid"        ? Router::Score::Sigmoid
         : word == "logits"       ? Router::Score::Logits
         : word == "sparsemixer"  ? Router::Score::Sparsemixer
         : word == "late_sigmoid" ? Router::Score::LateSigmoid
                                  : Router::Score::Softmax;
}

static Router::Renormalize renormalizeOf(const std::string &word) {
  return word == "sum"       ? Router::Renormalize::Sum
         : word == "softmax" ? Router::Renormalize::Softmax
                             : Router::Renormalize::None;
}

/// A number that is added to a sum of scores, or is its least; 0 without one.
double SpecReader::readOfSum(const Json &router, const char *key) {
  const Json *number = router.find(key);
  if (!number || !number->isNumber()) {
    return 0;
  }
  if (wordOf(router, "renormalize", "none") != "sum") {
    error(number->place, BadExperts,
          std::string("expected no \"") + key +
              "\" (it is of the sum that \"renormalize\": \"sum\" divides by), "
              "got " +
              describe(*number));
  }
  return number->real == 0 ? 0 : readPositive(*number);
}

/// The groups divide the experts, and those used have enough of them.
void SpecReader::checkGroups(const Json &json, const Moe &moe) {
  const Router &router = moe.router;
  int64_t experts = moe.experts, size = experts / router.groups;
  if (experts % router.groups != 0) {
    error(placeOf(json, "groups"), BadExperts,
          "expected a divisor of " + std::to_string(experts) +
              " (the experts), got " + std::to_string(router.groups));
    return;
  }
  if (router.groupsUsed > router.groups) {
    error(placeOf(json, "groups_used"), BadExperts,
          "expected at most " + std::to_string(router.groups) +
              " (the groups), got " + std::to_string(router.groupsUsed));
    return;
  }
  if (moe.perToken > size * router.groupsUsed) {
    error(placeOf(json, "groups_used"), BadExperts,
          "expected groups with at least " + std::to_string(moe.perToken) +
              " experts (per_token), got " + std::to_string(router.groupsUsed) +
              " of " + std::to_string(size));
  }
  if (router.groups > 1 && router.groupByTwo && size < 2) {
    error(placeOf(json, "group_by"), BadExperts,
          "expected groups of at least 2 experts (their two best are added), "
          "got groups of 1");
  }
}

/// Whether there is a gate, and what a clamped one is clamped by.
void SpecReader::readGate(const Json &json, Moe &moe) {
  const Json *gated = json.find("gated");
  bool isClamped = gated && gated->isString();
  moe.gated = isClamped || flagOf(json, "gated", true);
  for (auto [key, value] :
       {std::pair("alpha", &moe.alpha), std::pair("limit", &moe.limit)}) {
    const Json *number = json.find(key);
    if (bool(number) != isClamped) {
      error(placeOf(json, key), BadExperts,
            std::string(isClamped ? "expected a number (of the clamped gate)"
                                  : "expected nothing (it is of a clamped "
                                    "gate)") +
                ", got " + (number ? describe(*number) : "nothing"));
    } else if (number && number->isNumber()) {
      *value = readPositive(*number);
    }
  }
  const Json *shared = json.find("shared");
  if (isClamped && shared && shared->isObject()) {
    error(shared->place, Unsupported,
          "expected no \"shared\" (beside clamped gates it is not supported by "
          "this tfc), got an object");
  }
  if (isClamped && moe.act != Activation::Silu) {
    error(placeOf(json, "act"), BadExperts,
          "expected \"silu\" (a clamped gate has no other), got \"" +
              wordOf(json, "act", "") + "\"");
  }
}

/// Sparsemixer says which experts, and their weights, alone.
void SpecReader::readMixer(const Json &router, Moe &moe) {
  Router &result = moe.router;
  bool isMixer = result.score == Router::Score::Sparsemixer;
  const Json *tolerance = router.find("tolerance");
  if (tolerance && tolerance->isNumber()) {
    result.tolerance = tolerance->real == 0 ? 0 : readPositive(*tolerance);
    if (!isMixer) {
      error(tolerance->place, BadExperts,
            "expected no \"tolerance\" (it is of sparsemixer), got " +
                describe(*tolerance));
    }
  }
  for (const char *key : {"choice_bias", "groups", "renormalize", "factor"}) {
    bool isUsual = std::string_view(key) == "choice_bias" ? !result.choiceBias
                   : std::string_view(key) == "groups"    ? result.groups == 1
                   : std::string_view(key) == "factor"
                       ? result.factor == 1
                       : result.renormalize == Router::Renormalize::None;
    if (isMixer && !isUsual) {
      error(placeOf(router, key), BadExperts,
            std::string("expected no \"") + key +
                "\" (sparsemixer says which experts, and their weights), got " +
                describe(*router.find(key)));
    }
  }
}

/// One expert's weight may be its input's, if it is that of the choice.
void SpecReader::checkOnInput(const Json &router, const Moe &moe) {
  const Router &own = moe.router;
  if (!own.onInput) {
    return;
  }
  bool isPlain = own.groups == 1 && !own.choiceBias &&
                 own.score != Router::Score::Sparsemixer &&
                 own.renormalize == Router::Renormalize::None;
  if (moe.perToken != 1 || !isPlain) {
    error(
        placeOf(router, "on_input"), BadExperts,
        "expected false (a row's weight is its input's where it takes one "
        "expert, without \"choice_bias\", \"groups\" and \"renormalize\", and "
        "not by sparsemixer), got true");
  }
}

Moe SpecReader::readMoe(const Json &json) {
  Moe moe;
  moe.experts = sizeOf(json, "experts").value_or(1);
  moe.perToken = sizeOf(json, "per_token").value_or(1);
  moe.width = sizeOf(json, "width").value_or(0);
  moe.latent = sizeOf(json, "latent").value_or(0);
  moe.act = activationOf(json, "act");
  readGate(json, moe);
  moe.bias = flagOf(json, "bias", false);
  if (const Json *shared = json.find("shared"); shared && shared->isObject()) {
    moe.shared = Moe::Shared{sizeOf(*shared, "width").value_or(0),
                             flagOf(*shared, "gate", false),
                             readNorm(shared->find("pre_norm"), model.hidden),
                             readNorm(shared->find("out_norm"), model.hidden)};
  }
  moe.expertsPreNorm = readNorm(json.find("experts_pre_norm"), model.hidden);
  moe.expertsOutNorm = readNorm(json.find("experts_out_norm"), model.hidden);
  if (moe.perToken > moe.experts) {
    error(placeOf(json, "per_token"), BadExperts,
          "expected at most " + std::to_string(moe.experts) +
              " (the experts), got " + std::to_string(moe.perToken));
    return moe;
  }
  const Json *router = json.find("router");
  if (!router || !router->isObject()) {
    return moe;
  }
  Router &result = moe.router;
  result.score = scoreOf(wordOf(*router, "score", "softmax"));
  result.bias = flagOf(*router, "bias", false);
  result.choiceBias = flagOf(*router, "choice_bias", false);
  result.groups = sizeOf(*router, "groups").value_or(1);
  result.groupsUsed = sizeOf(*router, "groups_used").value_or(1);
  result.groupByTwo = wordOf(*router, "group_by", "max") == "top2";
  result.renormalize = renormalizeOf(wordOf(*router, "renormalize", "none"));
  result.plus = readOfSum(*router, "plus");
  result.floor = readOfSum(*router, "floor");
  if (const Json *factor = router->find("factor");
      factor && factor->isNumber()) {
    result.factor = readPositive(*factor);
  }
  result.onInput = flagOf(*router, "on_input", false);
  result.preNorm = readNorm(router->find("pre_norm"), model.hidden);
  if (const Json *scale = router->find("scale"); scale && scale->isNumber()) {
    result.scale = readPositive(*scale);
  }
  result.expertScale = flagOf(*router, "expert_scale", false);
  readMixer(*router, moe);
  checkOnInput(*router, moe);
  checkGroups(*router, moe);
  return moe;
}

} // namespace tfc::spec
