// Rotary angles and distance biases against numbers worked out by hand.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/reference/InterpretText.h"

#include <gtest/gtest.h>

using namespace tfc::reference;

namespace {

/// The output of `@step` that yields %y of `type` after `body`.
Matrix valueOf(const std::string &body, const std::string &type,
               const Step &step = tokens(1)) {
  Program program(Program::step(body +
                                "\ntransformer.output \"y\" tokens take all {"
                                "transformer.yield %y : " +
                                type + " }"));
  Outputs outputs = program.run(step);
  EXPECT_EQ(outputs.size(), 1u)
      << (program.messages.empty() ? "" : program.messages.front());
  return outputs["y"];
}

TEST(PositionOps, RotaryAnglesAreCosinesThenSines) {
  Step step = tokens(2);
  step.inputs["ids"] = {0, 2};
  Matrix y = valueOf(R"(
    %y = transformer.rotary_angles %ids times [0.5, 1.0] factors [2.0]
      : tensor<?xi32>)",
                     "tensor<?x4xf32>", step);
  expectMatrix(y, 2, 4,
               {2, 2, 0, 0, 1.0806046117362795, -0.8322936730942848,
                1.682941969615793, 1.8185948536513634});
}

TEST(PositionOps, RotaryAnglesAreFloats) {
  Step step = tokens(1);
  step.inputs["ids"] = {3};
  Matrix y = valueOf(R"(
    %y = transformer.rotary_angles %ids times [0.1] factors [1.0]
      : tensor<?xi32>)",
                     "tensor<?x2xf32>", step);
  // Of 0.30000001192092896. Those of 0.3 end in ...6489 and ...0666.
  expectMatrix(y, 1, 2, {0.9553364856027305, 0.29552021804983797});
}

TEST(PositionOps, SinusoidsHaveTwoLayouts) {
  Step step = tokens(2);
  step.inputs["ids"] = {0, 1};
  Matrix half = valueOf(R"(
    %y = transformer.sinusoid half %ids times [0.5, 1.0]
      {offset = 1, zero_row = 1} : tensor<?xi32>)",
                        "tensor<?x4xf32>", step);
  double sin1 = 0.8414709848078965, cos1 = 0.5403023058681398;
  double sin2 = 0.9092974268256817, cos2 = -0.4161468365471424;
  expectMatrix(half, 2, 4, {0, 0, 0, 0, sin1, sin2, cos1, cos2});
  Matrix mixed = valueOf(R"(
    %y = transformer.sinusoid interleaved %ids times [0.5, 1.0]
      {offset = 1} : tensor<?xi32>)",
                         "tensor<?x4xf32>", step);
  ASSERT_EQ(mixed.data.size(), 8u);
  EXPECT_NEAR(mixed.at(1, 0), sin1, 1e-12);
  EXPECT_NEAR(mixed.at(1, 1), cos1, 1e-12);
  EXPECT_NEAR(mixed.at(1, 2), sin2, 1e-12);
  EXPECT_NEAR(mixed.at(1, 3), cos2, 1e-12);
}

// The first pair turns by a quarter, the second stays.
const char *const kQuarter = R"(
  %x = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]> : tensor<1x6xf32>
  %a = arith.constant dense<[[0.0, 1.0, 1.0, 0.0]]> : tensor<1x4xf32>
)";

TEST(PositionOps, RotaryHalf) {
  Matrix y = valueOf(std::string(kQuarter) + R"(
    %y = transformer.rotary half %x, %a heads 1
      : tensor<1x6xf32>, tensor<1x4xf32>)",
                     "tensor<1x6xf32>");
  expectMatrix(y, 1, 6, {-3, 2, 1, 4, 5, 6});
}

TEST(PositionOps, RotaryInterleaved) {
  Matrix y = valueOf(std::string(kQuarter) + R"(
    %y = transformer.rotary interleaved %x, %a heads 1
      : tensor<1x6xf32>, tensor<1x4xf32>)",
                     "tensor<1x6xf32>");
  expectMatrix(y, 1, 6, {-2, 1, 3, 4, 5, 6});
}

TEST(PositionOps, RotaryByTheAnglesOfAKind) {
  // Cosines of two kinds, then their sines: the second is a quarter.
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>
    %a = arith.constant dense<[[1.0, 0.0, 0.0, 1.0]]> : tensor<1x4xf32>
    %kind = transformer.per_layer index [0, 1][%c1]
    %y = transformer.rotary half %x, %a kind %kind of 2 heads 1
      : tensor<1x3xf32>, tensor<1x4xf32>)",
                     "tensor<1x3xf32>");
  expectMatrix(y, 1, 3, {-2, 1, 3});
}

TEST(PositionOps, AFactorForEachFrequency) {
  Step step = tokens(1);
  step.inputs["ids"] = {0};
  Matrix y = valueOf(R"(
    %y = transformer.rotary_angles %ids times [0.5, 1.0] factors [2.0, 3.0]
      : tensor<?xi32>)",
                     "tensor<?x4xf32>", step);
  expectMatrix(y, 1, 4, {2, 3, 0, 0});
}

TEST(PositionOps, RotaryTurnsEveryHead) {
  Matrix y = valueOf(std::string(kQuarter) + R"(
    %b = arith.constant dense<[[0.0, 1.0]]> : tensor<1x2xf32>
    %y = transformer.rotary half %x, %b heads 2
      : tensor<1x6xf32>, tensor<1x2xf32>)",
                     "tensor<1x6xf32>");
  expectMatrix(y, 1, 6, {-2, 1, 3, -5, 4, 6});
}

TEST(PositionOps, BidirectionalDistances) {
  // 4 buckets a side: distances 0 and 1, then 2 and 3, then 4 to 8.
  Matrix y = valueOf(R"(
    %t = arith.constant dense<[[0.0, 10.0], [1.0, 11.0], [2.0, 12.0],
      [3.0, 13.0], [4.0, 14.0], [5.0, 15.0], [6.0, 16.0], [7.0, 17.0]]>
      : tensor<8x2xf32>
    %y = transformer.distance_bias %t bidirectional max_distance 8
      : tensor<8x2xf32>)",
                     "tensor<2x17xf32>");
  expectMatrix(y, 2, 17, {3,  3,  3,  3,  3,  2,  2,  1,  0,  5,  6,  6,
                          7,  7,  7,  7,  7,  13, 13, 13, 13, 13, 12, 12,
                          11, 10, 15, 16, 16, 17, 17, 17, 17, 17});
}

TEST(PositionOps, CausalDistances) {
  // Keys after the query have the bucket of distance 0.
  Matrix y = valueOf(R"(
    %t = arith.constant dense<[[0.0], [1.0], [2.0], [3.0]]> : tensor<4x1xf32>
    %y = transformer.distance_bias %t causal max_distance 5 : tensor<4x1xf32>)",
                     "tensor<1x11xf32>");
  // ln(3/2) / ln(5/2) * 2 is 0.89, ln(4/2) / ln(5/2) * 2 is 1.51.
  expectMatrix(y, 1, 11, {3, 3, 2, 2, 1, 0, 0, 0, 0, 0, 0});
}

} // namespace
