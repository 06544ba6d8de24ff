// An attention of a layer: the arithmetic of its heads, what it sees, and how
// it knows positions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/Rotary.h"
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/read/SpecReader.h"

#include <algorithm>
#include <cmath>

namespace tfc::spec {

Attention SpecReader::readAttention(const std::string &name, const Json &attn) {
  const Json *latent = attn.find("latent");
  if (name != "cross" && latent && latent->isObject()) {
    return readLatentAttention(attn, *latent);
  }
  Attention result;
  result.cross = name == "cross";
  readHeadSizes(attn, result);
  compareCaches(attn, result);
  readBiases(attn, result);
  const Json *scale = attn.find("scale");
  if (scale && scale->isNumber()) {
    result.scale = readPositive(*scale);
  } else if (result.headDim > 0) {
    result.scale = 1 / std::sqrt(double(result.headDim));
  }
  result.scaleByInverseLayer = flagOf(attn, "scale_by_inverse_layer", false);
  result.causal = flagOf(attn, "causal", false);
  if (const Json *cap = attn.find("softcap"); cap && cap->isNumber()) {
    result.cap = readPositive(*cap);
  }
  if (result.cross) {
    checkCross(attn);
    return result;
  }
  checkCausal(attn, result.causal);
  readOutputGate(attn, result);
  result.positionBias =
      stack->positionBias && flagOf(attn, "use_position_bias", true);
  readWindow(attn, result);
  readRotary(attn, result);
  readQkNorm(attn, result);
  if (const Json *clip = attn.find("clip"); clip && clip->isNumber()) {
    result.clip = readPositive(*clip);
  }
  result.innerNorm =
      readNorm(attn.find("inner_norm"), result.numHeads * result.headDim);
  readScores(attn, result);
  readRelativeTerms(attn, result);
  readValues(attn, result);
  return result;
}

void SpecReader::readHeadSizes(const Json &attn, Attention &attention) {
  attention.numHeads = sizeOf(attn, "num_heads").value_or(0);
  attention.numKvHeads =
      sizeOf(attn, "num_kv_heads").value_or(attention.numHeads);
  attention.headDim = sizeOf(attn, "head_dim").value_or(0);
  int64_t heads = attention.numHeads;
  if (heads > 0 && model.hidden > 0 && !attn.find("head_dim")) {
    attention.headDim = model.hidden / heads;
    if (model.hidden % heads != 0) {
      error(attn.find("num_heads")->place, BadHeadDim,
            "expected a divisor of hidden (" + std::to_string(model.hidden) +
                ") where no \"head_dim\" is given, got " +
                std::to_string(heads));
      attention.headDim = 0; // what follows from it is no other fault
    }
  }
  if (heads > 0 && heads % attention.numKvHeads != 0) {
    error(attn.find("num_kv_heads")->place, BadKvHeads,
          "expected a divisor of num_heads (" + std::to_string(heads) +
              "), got " + std::to_string(attention.numKvHeads));
  }
  if (attention.headDim > maxHeadDim) {
    const Json *given = attn.find("head_dim");
    error(given ? given->place : attn.place.child("head_dim"), Unsupported,
          "expected at most " + std::to_string(maxHeadDim) +
              " (wider heads are not supported by this tfc), got " +
              std::to_string(attention.headDim));
  } else if (heads > 0 && attention.headDim > maxWidth / heads) {
    error(attn.place, BadHeadDim,
          "expected at most " + std::to_string(maxWidth) +
              " (num_heads times head_dim), got " + std::to_string(heads) +
              " times " + std::to_string(attention.headDim));
  }
}

/// Keys and values of all layers lie in one cache, whose rows have one width
/// but where it has parts: what a decoder keeps of its own tokens, and not
/// latents.
void SpecReader::compareCaches(const Json &attn, const Attention &attention) {
  std::optional<Attention> &first = firstAttention[attention.cross];
  if (attention.numKvHeads < 1 || attention.headDim < 1 || cacheFault) {
    return;
  }
  if (!attention.cross && stack->name == "decoder" && !attention.latent &&
      !(first && first->latent)) {
    first = attention;
    return;
  }
  if (!first) {
    first = attention;
    return;
  }
  auto compare = [&](const char *key, int64_t wanted, int64_t got) {
    if (wanted != got && !cacheFault) {
      const Json *given = attn.find(key);
      cacheFault = {given ? given->place : attn.place.child(key),
                    "expected " + std::to_string(wanted) +
                        ", as in the layers before (layers whose keys differ "
                        "in heads or their widths are not supported by this "
                        "tfc), got " +
                        std::to_string(got)};
    }
  };
  compare("num_kv_heads", first->numKvHeads, attention.numKvHeads);
  compare("head_dim", first->headDim, attention.headDim);
}

/// A factor of f32 arithmetic.
double SpecReader::readPositive(const Json &number) {
  float single = float(number.real);
  if (!(single > 0) || !std::isfinite(single)) {
    error(number.place, BadType,
          "expected a number above 0 that f32 can hold, got " +
              describe(number));
  }
  return number.real;
}

void SpecReader::readOutputGate(const Json &attn, Attention &attention) {
  std::string act = wordOf(attn, "gate", "none");
  bool perHead = wordOf(attn, "gate_per", "column") == "head";
  if (act != "none") {
    attention.gate = OutputGate{act == "softplus", perHead};
  } else if (perHead) {
    error(attn.find("gate_per")->place, BadBlock,
          "expected no \"gate_per\" (there is no \"gate\"), got \"head\"");
  }
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
  bool wanted = stack->name == "decoder";
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

/// All of the encoder's positions are seen, and none has a place relative to
/// the query's.
void SpecReader::checkCross(const Json &attn) {
  const char *places = "positions of the decoder mean nothing in the encoder";
  const char *other = "of attention to an encoder it is not supported by this "
                      "tfc";
  const std::tuple<const char *, Json, const char *> neutral[] = {
      {"causal", false, places},         {"window", "none", places},
      {"rotary", "none", places},        {"use_position_bias", false, places},
      {"qk_norm", "none", other},        {"v_norm", "none", other},
      {"values_are_keys", false, other}, {"shared_kv", false, other},
      {"slopes", "none", places},        {"log_scale_base", "none", other},
      {"sinks", false, other},           {"relative", "none", places},
      {"sparse", "none", other},         {"rounded_slopes", false, places},
      {"gate", "none", other},           {"gate_per", "column", other},
      {"latent", "none", other},         {"clip", "none", other},
      {"inner_norm", "none", other}};
  for (const auto &[key, value, why] : neutral) {
    const Json *given = attn.find(key);
    if (given && !(*given == value)) {
      error(given->place, BadCross,
            std::string("expected no \"") + key + "\" but " + describe(value) +
                " (" + why + "), got " + describe(*given));
    }
  }
}

void SpecReader::readWindow(const Json &attn, Attention &attention) {
  const Json *window = attn.find("window");
  if (!window || !window->isObject()) {
    return;
  }
  const Json *left = window->find("left"), *right = window->find("right");
  if (!left || !left->isInteger() || !right || !right->isInteger()) {
    return;
  }
  if (attention.causal && right->integer > 0) {
    error(right->place, BadWindow,
          "expected 0 (causal attention does not look to the right), got " +
              describe(*right));
  }
  attention.window = {left->integer, right->integer};
}

void SpecReader::readQkNorm(const Json &attn, Attention &attention) {
  const Json *json = attn.find("qk_norm");
  std::string over =
      json && json->isObject() ? wordOf(*json, "over", "head") : std::string();
  // Of rows, the shorter one.
  std::optional<Norm> norm = readNorm(
      json, attention.headDim * (over == "row" ? attention.numKvHeads : 1));
  if (!norm) {
    return;
  }
  QkNorm result{*norm, over == "row", flagOf(*json, "after_rotary", false),
                over == "each_head"};
  if (result.perHead && (norm->bias || !norm->weight)) {
    error(json->find("over")->place, BadBlock,
          "expected a norm with a weight and without a bias (each head has a "
          "weight of its own), got another");
  }
  if (result.afterRotary && !attention.rotary) {
    error(json->find("after_rotary")->place, BadRotary,
          "expected false (the attention has no rotary), got true");
  }
  attention.qkNorm = result;
}

/// What has no keys of its own has no values either, nor what makes them.
void SpecReader::readValues(const Json &attn, Attention &attention) {
  attention.sharedKeys = flagOf(attn, "shared_kv", false);
  std::optional<Norm> norm = readNorm(attn.find("v_norm"), attention.headDim);
  if (attention.sharedKeys) {
    if (stack->name == "encoder") {
      error(attn.find("shared_kv")->place, Unsupported,
            "expected false (an encoder keeps no keys, and shared ones are not "
            "supported by this tfc), got true");
      attention.sharedKeys = false; // what follows from it is no other fault
    }
    if (attention.relative) {
      error(attn.find("relative")->place, Unsupported,
            "expected \"none\" (relative terms of shared keys are not "
            "supported by this tfc), got an object");
    }
    attention.kBias = attention.vBias = false;
    return;
  }
  if (norm && attention.zeroMemory) {
    error(attn.find("v_norm")->place, Unsupported,
          "expected \"none\" (norms of a memory of zeros are not supported by "
          "this tfc), got a norm");
  }
  attention.vNorm = norm;
  attention.valuesAreKeys = flagOf(attn, "values_are_keys", false);
  attention.vBias &= !attention.valuesAreKeys;
}

void SpecReader::readRotary(const Json &attn, Attention &attention) {
  const Json *json = attn.find("rotary");
  if (!json || !json->isObject()) {
    return;
  }
  Rotary rotary;
  rotary.interleaved = wordOf(*json, "style", "half") == "interleaved";
  rotary.reverse = flagOf(*json, "reverse", false);
  rotary.dim = sizeOf(*json, "dim").value_or(attention.headDim);
  const Json *dim = json->find("dim"), *theta = json->find("theta");
  bool good = attention.headDim > 0 && rotary.dim > 0 && theta &&
              theta->isNumber() && !(dim && !dim->isInteger());
  int64_t most = std::min(attention.headDim, maxRotary);
  if (good && (rotary.dim % 2 != 0 || rotary.dim > most)) {
    error(dim ? dim->place : json->place.child("dim"), BadRotary,
          "expected an even number, at most " +
              (most < maxRotary ? "head_dim (" + std::to_string(most) + ")"
                                : std::to_string(most)) +
              ", got " + std::to_string(rotary.dim));
    good = false;
  }
  const Json *turned = json->find("turned");
  rotary.turned = sizeOf(*json, "turned").value_or(rotary.dim);
  if (good && (rotary.turned % 2 != 0 || rotary.turned > rotary.dim)) {
    error(turned->place, BadRotary,
          "expected an even number, at most " + std::to_string(rotary.dim) +
              " (the rotary dim), got " + std::to_string(rotary.turned));
    good = false;
  }
  if (theta && theta->isNumber()) {
    rotary.theta = theta->real;
    if (!(float(theta->real) > 1 && std::isfinite(float(theta->real)))) {
      error(theta->place, BadRotary,
            "expected a number above 1 that f32 can hold, got " +
                describe(*theta));
      good = false;
    }
  }
  const Json *scaling = json->find("scaling");
  if (scaling && scaling->isObject()) {
    good &= readScaling(*scaling, rotary);
  }
  if (const Json *grid = json->find("grid"); grid && good) {
    good = readGrid(*grid, *json, rotary);
  }
  if (good) {
    resolveFrequencies(rotary);
    attention.rotary = std::move(rotary);
  }
}

/// True when frequencies follow from it.
bool SpecReader::readGrid(const Json &json, const Json &whole, Rotary &rotary) {
  size_t before = diagnostics.size();
  rotary.grid = {sizeOf(json, "columns").value_or(1),
                 sizeOf(json, "rows").value_or(1),
                 sizeOf(json, "front").value_or(0)};
  if (stack->name != "encoder") {
    error(json.place, Unsupported,
          "expected no grid but in an encoder (not supported by this tfc), got "
          "an object");
  }
  for (const char *key : {"scaling", "turned"}) {
    const Json *other = whole.find(key);
    if (other && !other->isString("none")) {
      error(other->place, BadRotary,
            std::string("expected no \"") + key +
                "\" (places of a grid have two coordinates), got " +
                describe(*other));
    }
  }
  if (rotary.dim % 4 != 0) {
    const Json *dim = whole.find("dim");
    error(dim ? dim->place : whole.place.child("dim"), BadRotary,
          "expected a multiple of 4 (places of a grid have two coordinates), "
          "got " +
              std::to_string(rotary.dim));
  }
  int64_t tokens = rotary.grid->tokens(), most = maxAngles / rotary.dim;
  if (model.maxPositions == 0 || model.maxPositions > tokens || tokens > most) {
    error(json.place, BadRotary,
          "expected places for dims.max_positions (" +
              std::to_string(model.maxPositions) + ") tokens, at most " +
              std::to_string(most) + ", got " + std::to_string(tokens));
  }
  return diagnostics.size() == before;
}

/// 0: none, as in transformers.
double SpecReader::readMscale(const Json &scaling, const char *key) {
  const Json *given = scaling.find(key);
  if (!given || !given->isNumber()) {
    return 0;
  }
  if (!(given->real >= 0 && given->real <= 1e9)) {
    error(given->place, BadRotary,
          "expected a number from 0 to 1000000000, got " + describe(*given));
  }
  return given->real;
}

/// True when frequencies follow from it.
bool SpecReader::readScaling(const Json &json, Rotary &rotary) {
  size_t before = diagnostics.size();
  RotaryScaling &scaling = rotary.scaling;
  std::string kind = wordOf(json, "kind", "");
  scaling.kind = kind == "linear"     ? RotaryScaling::Kind::Linear
                 : kind == "dynamic"  ? RotaryScaling::Kind::Dynamic
                 : kind == "llama3"   ? RotaryScaling::Kind::Llama3
                 : kind == "yarn"     ? RotaryScaling::Kind::Yarn
                 : kind == "longrope" ? RotaryScaling::Kind::Longrope
                                      : RotaryScaling::Kind::None;
  if (const Json *factor = json.find("factor"); factor && factor->isNumber()) {
    scaling.factor = factor->real;
    if (!(factor->real >= 1 && factor->real <= 1e9)) {
      error(factor->place, BadRotary,
            "expected a number from 1 to 1000000000, got " + describe(*factor));
    }
  }
  for (auto [key, value] :
       {std::pair("low_freq_factor", &scaling.lowFreqFactor),
        {"high_freq_factor", &scaling.highFreqFactor},
        {"beta_fast", &scaling.betaFast},
        {"beta_slow", &scaling.betaSlow}}) {
    if (const Json *given = json.find(key); given && given->isNumber()) {
      *value = readPositive(*given);
    }
  }
  scaling.truncate = flagOf(json, "truncate", true);
  if (scaling.kind == RotaryScaling::Kind::Llama3) {
    const Json *high = json.find("high_freq_factor");
    if (high && scaling.highFreqFactor <= scaling.lowFreqFactor) {
      error(high->place, BadRotary,
            "expected more than low_freq_factor, got " + describe(*high));
    }
  }
  if (scaling.kind == RotaryScaling::Kind::Dynamic && rotary.dim == 2) {
    error(json.place, BadRotary,
          "expected no dynamic scaling (the rotary dim is 2), got an object");
  }
  if (scaling.kind == RotaryScaling::Kind::Llama3 ||
      scaling.kind == RotaryScaling::Kind::Yarn ||
      scaling.kind == RotaryScaling::Kind::Longrope) {
    const Json *given = json.find("original_max");
    scaling.originalMax =
        given ? sizeOf(json, "original_max").value_or(0) : model.maxPositions;
    if (scaling.originalMax == 0 && !given) {
      error(json.place.child("original_max"), BadRotary,
            "expected the longest context of the training (here or in "
            "dims.max_positions), got nothing");
    }
  }
  if (scaling.kind == RotaryScaling::Kind::Yarn) {
    double scale = readMscale(json, "mscale");
    double all = readMscale(json, "mscale_all_dim");
    rotary.factor = scale > 0 && all > 0 ? yarnFactor(scaling.factor, scale) /
                                               yarnFactor(scaling.factor, all)
                                         : yarnFactor(scaling.factor, 1);
    if (const Json *own = json.find("attention_factor");
        own && own->isNumber()) {
      rotary.factor = readPositive(*own);
    }
  }
  if (scaling.kind == RotaryScaling::Kind::Longrope) {
    readLongrope(json, rotary);
  }
  return diagnostics.size() == before;
}

/// Sequences that are longer than those of the training have other frequencies,
/// all of their positions, and there are none of those.
void SpecReader::readLongrope(const Json &json, Rotary &rotary) {
  RotaryScaling &scaling = rotary.scaling;
  const Json *factors = json.find("short_factor");
  for (const Json &factor : factors ? factors->items : std::vector<Json>()) {
    scaling.shortFactors.push_back(readPositive(factor));
  }
  if (factors && int64_t(scaling.shortFactors.size()) != rotary.dim / 2) {
    error(factors->place, BadRotary,
          "expected " + std::to_string(rotary.dim / 2) +
              " numbers (one for each pair of columns), got " +
              std::to_string(scaling.shortFactors.size()));
  }
  const Json *original = json.find("original_max");
  if (original && scaling.originalMax == 1) {
    error(original->place, BadRotary,
          "expected more than 1 (its logarithm divides), got 1");
  }
  if (model.maxPositions == 0 || model.maxPositions > scaling.originalMax) {
    const Json *most = root.at({"dims", "max_positions"});
    error(most ? most->place : json.place, Unsupported,
          "expected dims.max_positions of at most original_max (" +
              std::to_string(scaling.originalMax) +
              "; the frequencies of longer sequences are not supported by this "
              "tfc), got " +
              (most ? describe(*most) : "nothing"));
  }
  rotary.factor = std::sqrt(1 + std::log(scaling.factor) /
                                    std::log(double(scaling.originalMax)));
  if (const Json *own = json.find("attention_factor"); own && own->isNumber()) {
    rotary.factor = readPositive(*own);
  }
}

} // namespace tfc::spec
