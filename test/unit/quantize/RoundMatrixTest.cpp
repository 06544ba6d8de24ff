// Rounding of matrices: what a reader makes of them again.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/quantize/RoundMatrix.h"

#include "compiler/quantize/Checkpoint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace tfc;
using namespace tfc::quantize;

namespace {

constexpr int64_t columns = 61;

/// Rows of very different sizes, the last one all zeros; some with a number
/// that is far greater than the others.
std::vector<float> makeMatrix(int64_t rows) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> elements;
  for (int64_t row = 0; row < rows; ++row) {
    float size = std::ldexp(1.0F, static_cast<int>(row % 20) - 16);
    for (int64_t column = 0; column < columns; ++column) {
      float value = normal(random) * size;
      elements.push_back(row + 1 == rows                           ? 0
                         : row % 3 == 0 && column == row % columns ? 9 * value
                                                                   : value);
    }
  }
  return elements;
}

class RoundMatrixTest : public testing::TestWithParam<rt::DType> {};

TEST_P(RoundMatrixTest, WhoeverRoundsAgainGetsTheSameIntegers) {
  constexpr int64_t rows = 200;
  std::vector<float> exact = makeMatrix(rows);
  RoundedMatrix made = roundMatrix(exact, rows, {}, GetParam());
  std::vector<float> decoded = made.decode();
  for (int64_t row = 0; row + 1 < rows; ++row) {
    const float *own = decoded.data() + row * columns;
    float greatest = 0;
    for (int64_t i = 0; i < columns; ++i) {
      greatest = std::max(greatest, std::fabs(own[i]));
    }
    // The rule of int8 programs.
    ASSERT_EQ(greatest / 127, made.scale(row)) << "row " << row;
    for (int64_t i = 0; i < columns; ++i) {
      ASSERT_EQ(std::nearbyintf(own[i] * (127 / greatest)),
                made.integers[row * columns + i])
          << "row " << row;
    }
  }
  // Zeros stay zeros, with a scale that is a number.
  for (int64_t i = (rows - 1) * columns; i < rows * columns; ++i) {
    EXPECT_EQ(decoded[i], 0);
  }
  EXPECT_GT(made.scale(rows - 1), 0);
}

INSTANTIATE_TEST_SUITE_P(Scales, RoundMatrixTest,
                         testing::Values(rt::DType::BF16, rt::DType::F16));

/// Of every third row.
double errorOf(const std::vector<float> &exact, const RoundedMatrix &made,
               const std::vector<double> &importance) {
  std::vector<float> decoded = made.decode();
  double sum = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    if (i / columns % 3 != 0) {
      continue;
    }
    double error = exact[i] - decoded[i];
    sum += error * error * (importance.empty() ? 1 : importance[i % columns]);
  }
  return sum;
}

TEST(RoundMatrixTest, WhatCountsMoreIsNearer) {
  constexpr int64_t rows = 40;
  std::vector<float> exact = makeMatrix(rows);
  // The far one of a row of three counts for nothing.
  std::vector<double> importance(columns, 1);
  for (int64_t row = 0; row < rows; row += 3) {
    importance[row] = 1e-6;
  }
  RoundedMatrix alike = roundMatrix(exact, rows, {}, rt::DType::BF16);
  RoundedMatrix weighed = roundMatrix(exact, rows, importance, rt::DType::BF16);
  EXPECT_LT(errorOf(exact, weighed, importance),
            0.8 * errorOf(exact, alike, importance));
  EXPECT_LE(errorOf(exact, alike, {}), errorOf(exact, weighed, {}));
}

TEST(RoundGroupsTest, EachGroupHasTheScaleThatLeavesLeast) {
  constexpr int64_t rows = 30, group = 32, width = 3 * group;
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<float> exact;
  for (int64_t i = 0; i < rows * width; ++i) {
    // The last group is zeros.
    exact.push_back(
        i < (rows * width - group)
            ? std::ldexp(normal(random), static_cast<int>(i / group % 9) - 4)
            : 0);
  }
  RoundedMatrix made = roundGroups(exact, rows, group, {}, rt::DType::F16);
  ASSERT_EQ(made.groups, 3);
  ASSERT_EQ(made.scales.size(), static_cast<size_t>(rows * made.groups));
  std::vector<float> decoded = made.decode();
  double signal = 0, noise = 0, plain = 0;
  for (int64_t i = 0; i < rows * width; ++i) {
    EXPECT_GE(made.integers[i], -8);
    EXPECT_LE(made.integers[i], 7);
    float greatest = 0;
    for (int64_t j = i / group * group; j < (i / group + 1) * group; ++j) {
      greatest = std::max(greatest, std::fabs(exact[j]));
    }
    float scale = made.scale(i / width, i % width / group);
    ASSERT_EQ(decoded[i], static_cast<float>(made.integers[i]) * scale);
    double error = exact[i] - decoded[i];
    double step = greatest / 7;
    double other =
        greatest == 0 ? 0 : exact[i] - std::nearbyint(exact[i] / step) * step;
    signal += exact[i] * exact[i];
    noise += error * error;
    plain += other * other;
  }
  // Nearer than scales by the greatest element alone.
  EXPECT_LT(noise, 0.95 * plain);
  EXPECT_GT(10 * std::log10(signal / noise), 19);
}

TEST(RoundTo16Test, RoundsToNearestEven) {
  for (rt::DType dtype : {rt::DType::BF16, rt::DType::F16}) {
    EXPECT_EQ(widen16(roundTo16(1.5F, dtype), dtype), 1.5F);
    EXPECT_EQ(widen16(roundTo16(-0.0F, dtype), dtype), 0.0F);
  }
  // Halfway between two neighbours of bf16, and of f16.
  EXPECT_EQ(roundTo16(1 + 0x1p-8F, rt::DType::BF16), 0x3f80);
  EXPECT_EQ(roundTo16(1 + 0x3p-8F, rt::DType::BF16), 0x3f82);
  EXPECT_EQ(roundTo16(1 + 0x1p-11F, rt::DType::F16), 0x3c00);
  EXPECT_EQ(roundTo16(1 + 0x3p-11F, rt::DType::F16), 0x3c02);
}

} // namespace
