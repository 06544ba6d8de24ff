// Draws: a random token of a row of scores. The generator counts instead of
// remembering, so that a draw depends on nothing but its key: not on the other
// rows of a batch, nor on threads, nor on which draws came before.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_CHOOSE_SAMPLING_H
#define TFC_RUNTIME_SRC_CHOOSE_SAMPLING_H

#include <array>
#include <cstdint>

namespace tfc::rt {

/// Which draw it is: of which seed, for which of the sequences returned for a
/// prompt, and for which of its new tokens (from 0 on).
struct DrawKey {
  uint64_t seed = 0;
  uint32_t returnIndex = 0;
  uint32_t position = 0;
};

/// Philox4x32-10 of Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As
/// Easy as 1, 2, 3 (SC 2011): four random words of a counter and a key.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                               std::array<uint32_t, 2> key);

/// The index of the greatest score, the first among equals; a NaN is greater
/// than anything, as it is for torch.
int64_t greatestScore(const float *scores, int64_t width);

/// Draws a token with the probabilities softmax(scores); one with minus
/// infinity never comes. Where the scores are no distribution (a NaN, plus
/// infinity, minus infinity everywhere), it is greatestScore.
int64_t drawToken(const float *scores, int64_t width, const DrawKey &key);

/// A value of the standard Gumbel distribution for candidate `index` of a draw:
/// the candidates with the greatest sums of logarithmic probability and noise
/// are a draw without replacement, in its order.
class GumbelNoise {
public:
  explicit GumbelNoise(const DrawKey &key) : key(key) {}
  float operator()(int64_t index);

private:
  DrawKey key;
  int64_t group = -1; // of four indices, whose words are here
  std::array<uint32_t, 4> words{};
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_CHOOSE_SAMPLING_H
