// An attention whose keys and values come of a latent a position.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/read/SpecReader.h"

#include <algorithm>
#include <cmath>

namespace tfc::spec {

/// Whether a norm says that there is none.
static bool isNone(const Json &norm) {
  const Json *kind = norm.isObject() ? norm.find("kind") : &norm;
  return kind && kind->isString("none");
}

Attention SpecReader::readLatentAttention(const Json &attn, const Json &json) {
  Attention result;
  Latent latent;
  latent.rank = sizeOf(json, "rank").value_or(0);
  latent.queryRank = sizeOf(json, "q_rank").value_or(0);
  latent.nopeDim = sizeOf(json, "nope_dim").value_or(0);
  latent.ropeDim = sizeOf(json, "rope_dim").value_or(0);
  latent.valueDim = sizeOf(json, "value_dim").value_or(0);
  if (std::optional<Norm> norm = readNorm(json.find("norm"), latent.rank)) {
    latent.norm = *norm;
  } else if (const Json *none = json.find("norm"); none && isNone(*none)) {
    error(none->place, Unsupported,
          "expected a norm (latents without it are not supported by this tfc), "
          "got none");
  }
  latent.bias = flagOf(json, "bias", false);
  result.numHeads = sizeOf(attn, "num_heads").value_or(0);
  result.numKvHeads = 1;
  // What is turned comes first, and knows of no other columns.
  result.headDim = latent.ropeDim;
  result.causal = flagOf(attn, "causal", false);
  checkCausal(attn, result.causal);
  checkLatent(attn);
  readRotary(attn, result);
  result.headDim = latent.ropeDim + latent.rank;
  const Json *scale = attn.find("scale");
  if (scale && scale->isNumber()) {
    result.scale = readPositive(*scale);
  } else if (latent.nopeDim + latent.ropeDim > 0) {
    result.scale = 1 / std::sqrt(double(latent.nopeDim + latent.ropeDim));
  }
  latent.scale = result.scale;
  result.latent = latent;
  checkLatentWidths(attn, json, result);
  compareCaches(attn, result);
  return result;
}

void SpecReader::checkLatentWidths(const Json &attn, const Json &json,
                                   const Attention &attention) {
  const Latent &latent = *attention.latent;
  if (attention.headDim > maxHeadDim) {
    error(json.place, Unsupported,
          "expected at most " + std::to_string(maxHeadDim) +
              " (rope_dim and rank together; wider keys are not supported by "
              "this tfc), got " +
              std::to_string(attention.headDim));
    return;
  }
  // Each of these is at most maxWidth; 0 has its own diagnostic.
  int64_t widest = std::max(
      {attention.headDim, latent.valueDim, latent.nopeDim + latent.ropeDim});
  int64_t heads = attention.numHeads;
  if (heads > 0 && widest > maxWidth / heads) {
    error(attn.place, BadHeadDim,
          "expected at most " + std::to_string(maxWidth) +
              " (num_heads times the columns of one), got " +
              std::to_string(heads) + " times " + std::to_string(widest));
  }
  if (heads > maxExperts) {
    error(attn.find("num_heads")->place, Unsupported,
          "expected at most " + std::to_string(maxExperts) +
              " heads of latents (more are not supported by this tfc), got " +
              std::to_string(heads));
  }
}

/// What else an attention may have, these have not.
void SpecReader::checkLatent(const Json &attn) {
  if (stack->name != "decoder") {
    error(attn.find("latent")->place, Unsupported,
          "expected no \"latent\" but in a decoder (of encoders it is not "
          "supported by this tfc), got an object");
  }
  const char *sizes = "\"latent\" says how wide heads are";
  const char *other = "of latents it is not supported by this tfc";
  const std::tuple<const char *, std::vector<Json>, const char *> neutral[] = {
      {"num_kv_heads", {}, sizes},
      {"head_dim", {}, sizes},
      {"bias", {false}, "\"bias\" of \"latent\" says which there are"},
      {"scale_by_inverse_layer", {false}, other},
      {"window", {"none"}, other},
      {"qk_norm", {"none"}, other},
      {"v_norm", {"none"}, other},
      {"clip", {"none"}, other},
      {"inner_norm", {"none"}, other},
      {"values_are_keys", {false}, other},
      {"shared_kv", {false}, other},
      {"softcap", {"none"}, other},
      {"slopes", {"none"}, other},
      {"log_scale_base", {"none"}, other},
      {"sinks", {false}, other},
      {"relative", {"none"}, other},
      {"sparse", {"none"}, other},
      {"rounded_slopes", {false}, other},
      {"gate", {"none"}, other}};
  for (const auto &[key, values, why] : neutral) {
    const Json *given = attn.find(key);
    if (given && !(values.size() == 1 && *given == values.front())) {
      error(given->place, values.empty() ? BadHeadDim : Unsupported,
            std::string("expected no \"") + key + "\" (" + why + "), got " +
                describe(*given));
    }
  }
  if (stack->positionBias && flagOf(attn, "use_position_bias", true)) {
    error(attn.place, Unsupported,
          "expected no position bias (of latents it is not supported by this "
          "tfc), got one");
  }
}

} // namespace tfc::spec
