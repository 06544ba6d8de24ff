// What attention does to its scores beside scaling: slopes of distances, a
// scale that grows with the length, sinks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/read/SpecReader.h"

#include <algorithm>
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
  std::string kind = wordOf(*json, "kind", "");
  bool isHashed = kind == "lsh", isLocal = kind == "chunk_local" || isHashed;
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
  if (isHashed) {
    readHashes(attn, *json, sparse, attention);
    return;
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

/// Keys are queries divided by their lengths, and which rows are near follows
/// from the whole sequence: nothing else has a say in scores.
void SpecReader::readHashes(const Json &attn, const Json &json, Sparse sparse,
                            Attention &attention) {
  if (stack->name != "encoder") {
    error(json.place, Unsupported,
          "expected no \"lsh\" but in an encoder (of a decoder the rows that a "
          "hash puts nearby change with each token; not supported by this "
          "tfc), got an object");
    return;
  }
  for (const auto &[key, value] :
       std::initializer_list<std::pair<const char *, Json>>{
           {"rotary", "none"},
           {"qk_norm", "none"},
           {"v_norm", "none"},
           {"values_are_keys", false},
           {"slopes", "none"},
           {"log_scale_base", "none"},
           {"sinks", false},
           {"relative", "none"},
           {"gate", "none"},
           {"clip", "none"},
           {"inner_norm", "none"},
           {"scale_by_inverse_layer", false}}) {
    const Json *given = attn.find(key);
    if (given && !(*given == value)) {
      error(given->place, Unsupported,
            std::string("expected no \"") + key + "\" but " + describe(value) +
                " (beside hashes it is not supported by this tfc), got " +
                describe(*given));
    }
  }
  if (attention.positionBias) {
    error(json.place, Unsupported,
          "expected \"use_position_bias\" to be false (beside hashes a bias is "
          "not supported by this tfc), got true");
  }
  if (attention.numKvHeads != attention.numHeads && attention.numHeads > 0) {
    error(attn.find("num_kv_heads")->place, BadKvHeads,
          "expected " + std::to_string(attention.numHeads) +
              " (num_heads: keys are queries), got " +
              std::to_string(attention.numKvHeads));
  }
  Hashes hashes;
  const Json *buckets = json.find("buckets"), *seed = json.find("seed");
  const Json *count = json.find("hashes");
  if (!buckets || !seed || !seed->isInteger() || !count ||
      !count->isInteger()) {
    return; // it has its diagnostic
  }
  hashes.count = count->integer;
  hashes.seed = seed->integer;
  int64_t product = 1;
  for (const Json &factor :
       buckets->isArray() ? buckets->items : std::vector<Json>{*buckets}) {
    if (!factor.isInteger() || factor.integer < 2 ||
        factor.integer > maxBuckets) {
      return;
    }
    product = std::min(product * factor.integer, maxBuckets + 1);
    hashes.buckets.push_back(factor.integer);
    if (factor.integer % 2 != 0) {
      error(factor.place, BadType,
            "expected an even number (each product has an opposite), got " +
                std::to_string(factor.integer));
      return;
    }
  }
  if (hashes.buckets.empty()) {
    return; // likewise
  }
  int64_t columns = attention.numHeads * attention.headDim;
  int64_t most = maxRotations / std::max<int64_t>(1, columns);
  if (product > maxBuckets || hashes.width() > most) {
    error(buckets->place, Unsupported,
          "expected at most " + std::to_string(maxBuckets) +
              " buckets, and at most " + std::to_string(most) +
              " products in all rounds (more are not supported by this tfc), "
              "got " +
              std::to_string(hashes.width()) + " products");
    return;
  }
  if (columns > 0 && columns * hashes.width() < 16) {
    error(buckets->place, Unsupported,
          "expected at least 16 rotations (fewer are drawn otherwise, which is "
          "not supported by this tfc), got " +
              std::to_string(columns * hashes.width()));
    return;
  }
  const Json *multiple = json.find("multiple");
  hashes.multiple =
      multiple ? sizeOf(json, "multiple").value_or(sparse.block) : sparse.block;
  if (hashes.multiple % sparse.block != 0) {
    error(multiple->place, BadType,
          "expected a multiple of block (" + std::to_string(sparse.block) +
              "), got " + std::to_string(hashes.multiple));
    return;
  }
  sparse.isLocal = false;
  sparse.hashes = std::move(hashes);
  attention.sparse = std::move(sparse);
  attention.kBias = false;
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
