// The counter-based generator and what is drawn with it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/choose/Sampling.h"

#include <cmath>
#include <limits>

namespace tfc::rt {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                               std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * counter[0];
    uint64_t b = uint64_t(0xCD9E8D57) * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// The words of a draw; `stream` tells its parts apart.
static std::array<uint32_t, 4> wordsOf(const DrawKey &key, uint64_t stream) {
  return philox(
      {key.position, key.returnIndex, static_cast<uint32_t>(stream),
       static_cast<uint32_t>(stream >> 32)},
      {static_cast<uint32_t>(key.seed), static_cast<uint32_t>(key.seed >> 32)});
}

int64_t greatestScore(const float *scores, int64_t width) {
  int64_t best = 0;
  for (int64_t i = 1; i < width && !std::isnan(scores[best]); ++i) {
    if (scores[i] > scores[best] || std::isnan(scores[i])) {
      best = i;
    }
  }
  return best;
}

int64_t drawToken(const float *scores, int64_t width, const DrawKey &key) {
  constexpr float never = -std::numeric_limits<float>::infinity();
  int64_t best = greatestScore(scores, width);
  auto weightOf = [&](int64_t i) {
    // Most scores are minus infinity once some have been removed.
    return scores[i] == never ? 0 : std::exp(scores[i] - scores[best]);
  };
  double total = 0;
  for (int64_t i = 0; i < width; ++i) {
    total += weightOf(i);
  }
  if (!std::isfinite(total)) {
    return best;
  }
  // 53 bits, of [0, 1).
  std::array<uint32_t, 4> words = wordsOf(key, 0);
  uint64_t bits = uint64_t(words[0]) << 21 | words[1] >> 11;
  double target = static_cast<double>(bits) * 0x1p-53 * total;
  double sum = 0;
  for (int64_t i = 0; i < width; ++i) {
    sum += weightOf(i);
    if (sum > target) {
      return i;
    }
  }
  return best;
}

float GumbelNoise::operator()(int64_t index) {
  if (index / 4 != group) {
    group = index / 4;
    words = wordsOf(key, static_cast<uint64_t>(group) + 1);
  }
  // Of (0, 1), both ends out.
  double uniform = (words[index % 4] + 0.5) * 0x1p-32;
  return static_cast<float>(-std::log(-std::log(uniform)));
}

} // namespace tfc::rt
