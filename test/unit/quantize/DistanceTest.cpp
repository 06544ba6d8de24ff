// How far outputs are from each other, by numbers that are known.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/quantize/Distance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tfc;
using namespace tfc::quantize;

namespace {

rt::OutputTensor rowsOf(std::vector<float> values, int64_t width) {
  rt::OutputTensor tensor;
  tensor.shape = {static_cast<int64_t>(values.size()) / width, width};
  tensor.floats = std::move(values);
  return tensor;
}

TEST(DistanceTest, SignalNoiseAndWorstCosine) {
  Distance distance;
  distance.add(rowsOf({3, 4, 1, 0}, 2), rowsOf({3, 4, 1, 1}, 2));
  EXPECT_EQ(distance.rows(), 2);
  EXPECT_NEAR(distance.snr(), 10 * std::log10(26.0), 1e-9);
  EXPECT_NEAR(distance.worstCosine(), std::sqrt(0.5), 1e-9);
}

TEST(DistanceTest, EqualRowsAreAsNearAsCanBe) {
  Distance distance(/*isLogits=*/true);
  distance.add(rowsOf({3, 4}, 2), rowsOf({3, 4}, 2));
  EXPECT_EQ(distance.snr(), 200);
  EXPECT_NEAR(distance.worstCosine(), 1, 1e-9);
  EXPECT_EQ(distance.top1(), 1);
  EXPECT_NEAR(distance.meanKl(), 0, 1e-12);
}

TEST(DistanceTest, LogitsHaveADivergence) {
  Distance distance(/*isLogits=*/true);
  // Probabilities (1/2, 1/2) and (1/4, 3/4), then the same twice.
  auto log3 = static_cast<float>(std::log(3.0));
  distance.add(rowsOf({1, 1, 0, 2}, 2), rowsOf({5, 5 + log3, 0, 2}, 2));
  double divergence = 0.5 * std::log(2.0) + 0.5 * std::log(2.0 / 3);
  EXPECT_NEAR(distance.meanKl(), divergence / 2, 1e-6);
  EXPECT_NEAR(distance.p99Kl(), 0, 1e-6);
  EXPECT_EQ(distance.top1(), 0.5);
}

TEST(DistanceTest, WhatIsNoNumberIsFarAway) {
  Distance distance;
  distance.add(rowsOf({1, 0}, 2),
               rowsOf({std::numeric_limits<float>::quiet_NaN(), 0}, 2));
  EXPECT_EQ(distance.snr(), -200);
  EXPECT_EQ(distance.worstCosine(), -1);
}

} // namespace
