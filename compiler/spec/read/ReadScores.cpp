// What attention does to its scores beside scaling: slopes of distances, a
// scale that grows with the length, sinks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/SpecReader.h"

#include <cmath>

namespace tfc::spec {

std::vector<double> alibiSlopes(int64_t heads) {
  int64_t power = 1;
  while (2 * power <= heads) {
    power *= 2;
  }
  // Of 2^k heads a geometric sequence that ends at 2^-8; the others have every
  // second one of twice as many.
  std::vector<double> slopes;
  for (int64_t head = 0; head < heads; ++head) {
    double exponent =
        head < power ? 8.0 * double(head + 1) / double(power)
                     : 4.0 * double(2 * (head - power) + 1) / double(power);
    slopes.push_back(std::exp2(-exponent));
  }
  return slopes;
}

void SpecReader::readScores(const Json &attn, Attention &attention) {
  attention.sinks = flagOf(attn, "sinks", false);
  const Json *slopes = attn.find("slopes");
  if (slopes && slopes->isString("alibi")) {
    attention.slopes = alibiSlopes(attention.numHeads);
  } else if (slopes && slopes->isArray()) {
    readSlopes(*slopes, attention);
  }
  attention.roundedSlopes = flagOf(attn, "rounded_slopes", false);
  if (attention.roundedSlopes && attention.slopes.empty() &&
      attention.numHeads > 0 && !(slopes && slopes->isArray())) {
    error(attn.find("rounded_slopes")->place, BadBias,
          "expected false (there are no slopes), got true");
  }
  readSparse(attn, attention);
  const Json *base = attn.find("log_scale_base");
  if (base && base->isNumber()) {
    if (base->real > 1 && std::isfinite(float(base->real))) {
      attention.logBase = base->real;
    } else {
      error(base->place, BadType,
            "expected a number above 1 that f32 can hold, got " +
                describe(*base));
    }
  }
}

/// Which blocks are seen follows from positions, so that nothing else may.
/// Where no sequence is so long that it is seen in part, it is attention as
/// any.
void SpecReader::readSparse(const Json &attn, Attention &attention) {
  const Json *json = attn.find("sparse");
  if (!json || !json->isObject()) {
    return;
  }
  bool isLocal = wordOf(*json, "kind", "") == "chunk_local";
  Sparse sparse;
  sparse.isLocal = isLocal;
  for (auto [key, number, isOf] : {std::tuple("block", &sparse.block, true),
                                   {"random", &sparse.random, !isLocal},
                                   {"before", &sparse.before, isLocal},
                                   {"after", &sparse.after, isLocal}}) {
    const Json *given = json->find(key);
    if (isOf && (!given || !given->isInteger())) {
      return; // it has its diagnostic
    }
    *number = isOf ? given->integer : 0;
  }
  for (const char *key : {"window", "softcap"}) {
    const Json *given = attn.find(key);
    if (given && !given->isString("none")) {
      error(given->place, Unsupported,
            std::string("expected \"none\" (beside \"sparse\" a ") + key +
                " is not supported by this tfc), got " + describe(*given));
    }
  }
  if (stack->name != "encoder" && !isLocal) {
    error(json->place, Unsupported,
          "expected \"none\" (block-sparse attention in a decoder is not "
          "supported by this tfc), got an object");
    return;
  }
  if (stack->name != "encoder" && sparse.after != 0) {
    error(json->find("after")->place, Unsupported,
          "expected 0 (a decoder does not look ahead), got " +
              std::to_string(sparse.after));
  }
  int64_t all = isLocal ? sparse.block : (5 + 2 * sparse.random) * sparse.block;
  if (model.maxPositions == 0 || model.maxPositions > all) {
    attention.sparse = sparse;
  }
}

void SpecReader::readSlopes(const Json &slopes, Attention &attention) {
  if (int64_t(slopes.items.size()) != attention.numHeads) {
    error(slopes.place, BadBias,
          "expected " + std::to_string(attention.numHeads) +
              " slopes (num_heads), got " +
              std::to_string(slopes.items.size()));
    return;
  }
  for (const Json &slope : slopes.items) {
    if (!slope.isNumber()) {
      continue;
    }
    if (!std::isfinite(float(slope.real))) {
      error(slope.place, BadType,
            "expected a number that f32 can hold, got " + describe(slope));
    }
    attention.slopes.push_back(slope.real);
  }
}

} // namespace tfc::spec
