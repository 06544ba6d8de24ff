// The numbers of hashes beside those that PyTorch 2.13 prints of a seed, which
// rounds on its way to them where vectors do.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/LayerSpec.h"

#include <gtest/gtest.h>

using namespace tfc::spec;

namespace {

constexpr float kRounding = 1e-6F;

Hashes hashes(int64_t count, std::vector<int64_t> buckets, int64_t seed) {
  Hashes made;
  made.count = count;
  made.buckets = std::move(buckets);
  made.seed = seed;
  return made;
}

TEST(HashRotations, SixteenNumbers) {
  // torch.manual_seed(11); torch.randn(16)
  std::vector<float> numbers = hashes(2, {8}, 11).rotations(2);
  ASSERT_EQ(numbers.size(), 16U);
  EXPECT_NEAR(numbers[0], -0.5107976F, kRounding);
  EXPECT_NEAR(numbers[1], 1.0282718F, kRounding);
  EXPECT_NEAR(numbers[2], -0.3531516F, kRounding);
  EXPECT_NEAR(numbers[3], 0.1229913F, kRounding);
  EXPECT_NEAR(numbers[8], -0.2487371F, kRounding);
  EXPECT_NEAR(numbers[15], -0.0079922F, kRounding);
}

TEST(HashRotations, TheLastSixteenAreDrawnAgainWhereTheyAreNotWhole) {
  // torch.manual_seed(2026); torch.randn(24)
  std::vector<float> numbers = hashes(1, {6, 10}, 2026).rotations(3);
  ASSERT_EQ(numbers.size(), 24U);
  EXPECT_NEAR(numbers[0], -0.1839104F, kRounding);
  EXPECT_NEAR(numbers[7], -0.0220015F, kRounding);
  EXPECT_NEAR(numbers[8], 0.9588548F, kRounding);
  EXPECT_NEAR(numbers[15], -0.7631530F, kRounding);
  EXPECT_NEAR(numbers[16], -1.4140260F, kRounding);
  EXPECT_NEAR(numbers[23], 0.7103500F, kRounding);
}

TEST(HashRotations, TheGreatestSeed) {
  // torch.manual_seed(4294967295); torch.randn(2, 3, 4, 5)
  std::vector<float> numbers = hashes(4, {10}, 4294967295).rotations(6);
  ASSERT_EQ(numbers.size(), 120U);
  EXPECT_NEAR(numbers[117], 0.2001154F, kRounding);
  EXPECT_NEAR(numbers[119], 0.2969972F, kRounding);
}

} // namespace
