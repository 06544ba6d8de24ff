// MPT's attn_config: an object of its own, of which transformers reads some.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/family/Rules.h"

#include <cmath>

using namespace tfc;
using namespace tfc::family;
using spec::Json;

/// Of 2^k heads the slopes of Press et al. 2021 (arXiv:2108.12409); of fewer
/// than 2^k every second of those, then the others.
static std::vector<double> slopesOf(int64_t heads) {
  int64_t power = 1;
  while (power < heads) {
    power *= 2;
  }
  std::vector<double> all, slopes;
  for (int64_t i = 1; i <= power; ++i) {
    all.push_back(std::exp2(-8.0 * double(i) / double(power)));
  }
  if (power == heads) {
    return all;
  }
  for (size_t first : {size_t(1), size_t(0)}) {
    for (size_t i = first; i < all.size(); i += 2) {
      slopes.push_back(all[i]);
    }
  }
  slopes.resize(size_t(heads));
  return slopes;
}

static void checkKeys(Config &own) {
  const char *same = "transformers runs this model type so, whatever the key "
                     "says";
  own.expectBoolean("alibi", true, same);
  own.expectBoolean("prefix_lm", false, same);
  own.expectBoolean("qk_ln", false, same);
  if (own.integer("alibi_bias_max", 8, 0, INT32_MAX) != 8) {
    own.fault("alibi_bias_max",
              std::string("expected 8 (") + same + "), got " +
                  spec::describe(*own.value("alibi_bias_max")));
  }
  std::string type = own.string("attn_type", "multihead_attention");
  if (type != "multihead_attention") {
    own.fault("attn_type", "expected \"multihead_attention\" (all heads have "
                           "keys of their own), got " +
                               spec::inQuotes(type));
  }
}

std::optional<Json> family::attnConfigRule(Instantiator &made,
                                           const Json &hole) {
  const Json none = Json::object();
  const Json *given = made.config.value("attn_config");
  if (given && !given->isObject()) {
    made.config.fault("attn_config",
                      "expected an object, got " + spec::describe(*given));
    given = nullptr;
  }
  Config own(given ? *given : none, made.diagnostics);
  if (hole.find("part")->isString("scale")) {
    checkKeys(own);
    const Json *scale = own.value("softmax_scale");
    return scale ? *scale : Json("rsqrt_head_dim");
  }
  if (hole.find("part")->isString("clip")) {
    const Json *clip = own.value("clip_qkv");
    return clip && clip->real != 0 ? *clip : Json("none");
  }
  Json slopes = Json::array();
  int64_t heads = made.integer(hole, "heads", 1, 1, spec::maxWidth);
  for (double slope : slopesOf(heads)) {
    slopes.items.push_back(slope);
  }
  return slopes;
}
