// Row-wise ops against numbers worked out by hand.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/reference/InterpretText.h"

#include "compiler/reference/Formulas.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

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

TEST(RowOps, EmbeddingAddsItsOffset) {
  Step step = tokens(3);
  step.inputs["ids"] = {1, 0, 1};
  Matrix y = valueOf(R"(
    %table = arith.constant dense<[[9.0, 9.0], [1.0, 2.0], [3.0, 4.0]]>
      : tensor<3x2xf32>
    %y = transformer.embedding %ids, %table {offset = 1 : i64}
      : tensor<?xi32>, tensor<3x2xf32>)",
                     "tensor<?x2xf32>", step);
  expectMatrix(y, 3, 2, {3, 4, 1, 2, 3, 4});
}

TEST(RowOps, EmbeddingOfAnAbsentIdIsZero) {
  Step step = tokens(2);
  step.inputs["ids"] = {-1, 1};
  Matrix y = valueOf(R"(
    %table = arith.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
    %y = transformer.embedding %ids, %table optional
      : tensor<?xi32>, tensor<2x1xf32>)",
                     "tensor<?x1xf32>", step);
  expectMatrix(y, 2, 1, {0, 2});
}

TEST(RowOps, Linear) {
  const std::string operands = R"(
    %x = arith.constant dense<[[1.0, 2.0], [-1.0, 0.5]]> : tensor<2x2xf32>
    %w = arith.constant dense<[[1.0, 0.0], [0.0, 1.0], [1.0, -2.0]]>
      : tensor<3x2xf32>
    %b = arith.constant dense<[0.5, 0.0, 1.0]> : tensor<3xf32>
  )";
  expectMatrix(valueOf(operands + R"(
      %y = transformer.linear %x, %w : tensor<2x2xf32>, tensor<3x2xf32>)",
                       "tensor<2x3xf32>"),
               2, 3, {1, 2, -3, -1, 0.5, -2});
  expectMatrix(valueOf(operands + R"(
      %y = transformer.linear %x, %w bias %b
        : tensor<2x2xf32>, tensor<3x2xf32>, tensor<3xf32>)",
                       "tensor<2x3xf32>"),
               2, 3, {1.5, 2, -2, -0.5, 0.5, -1});
  // relu (1, 2, -3; -1, 0.5, -2), times the factor, plus the residual.
  expectMatrix(valueOf(operands + R"(
      %f = arith.constant dense<[[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]>
        : tensor<2x3xf32>
      %r = arith.constant dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 2.0]]>
        : tensor<2x3xf32>
      %y = transformer.linear %x, %w factor %f residual %r act relu
        : tensor<2x2xf32>, tensor<3x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>)",
                       "tensor<2x3xf32>"),
               2, 3, {3, 6, 0, 0, 4, 2});
}

TEST(RowOps, QuantizeRows) {
  Program program(R"(
    transformer.parameter @w : tensor<2x3xi8> from <["w"], stored_rows = 2>
    transformer.parameter @w.scales : tensor<2xf32> companion<scales of @w>
  )" + Program::step(R"(
    %x = arith.constant dense<[[254.0, -11.0, 15.0], [0.1, -63.5, 0.0]]>
      : tensor<2x3xf32>
    %b = arith.constant dense<[0.0, 0.5]> : tensor<2xf32>
    %w = transformer.weight @w : tensor<2x3xi8>
    %ws = transformer.weight @w.scales : tensor<2xf32>
    %q, %s = transformer.quantize_rows %x : tensor<2x3xf32>
    %y = transformer.linear %q, %w scales %s, %ws bias %b
      : tensor<2x3xi8>, tensor<2x3xi8>, tensor<2xf32>, tensor<2xf32>,
        tensor<2xf32>
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<2x2xf32>
    })"));
  // In steps of 1/127 and of 1.
  program.weights["w"] = {{1, 0, 0, 0, 127, -2}};
  // In steps of 2 and of 0.5: 127, -6 and 8, half a step being even; 0, -127,
  // 0.
  expectMatrix(program.run(tokens(1))["y"], 2, 2,
               {254, (-6 * 127 - 16) * 2 + 0.5, 0, -127 * 127 * 0.5 + 0.5});
}

TEST(RowOps, GroupsOfFourBits) {
  Program program(R"(
    transformer.parameter @w : tensor<2x4xi4> from <["w"], stored_rows = 2>
    transformer.parameter @w.scales : tensor<2x2xf32> companion<scales of @w>
  )" + Program::step(R"(
    %x = arith.constant dense<[[254.0, -11.0, 15.0, 2.0]]> : tensor<1x4xf32>
    %w = transformer.weight @w : tensor<2x4xi4>
    %ws = transformer.weight @w.scales : tensor<2x2xf32>
    %q, %s = transformer.quantize_rows %x : tensor<1x4xf32>
    %y = transformer.linear %q, %w scales %s, %ws
      : tensor<1x4xi8>, tensor<2x4xi4>, tensor<1xf32>, tensor<2x2xf32>
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<1x2xf32>
    })"));
  // In steps of -1 (8 is -8, and -8 one too many: 7), -0.25, 0.5 and -2: of
  // equally great ones the first says the sign.
  program.weights["w"] = {{8, -8, 2, 0.625, -4, 3, 16, 1}};
  // Integers -8 7, -8 -2 (2.5, half a step being even), -8 6, -8 0.
  double first = -(127.0 * -8 + -6 * 7) - 0.25 * (8 * -8 + 1 * -2);
  double second = 0.5 * (127 * -8 + -6 * 6) - 2.0 * (8 * -8);
  expectMatrix(program.run(tokens(1))["y"], 1, 2, {2 * first, 2 * second});
}

TEST(RowOps, GroupsOfBytes) {
  Program program(R"(
    transformer.parameter @w : tensor<1x4xi8> from <["w"], stored_rows = 1>
    transformer.parameter @w.scales : tensor<1x2xf32> companion<scales of @w>
  )" + Program::step(R"(
    %x = arith.constant dense<[[254.0, -11.0, 15.0, 2.0]]> : tensor<1x4xf32>
    %w = transformer.weight @w : tensor<1x4xi8>
    %ws = transformer.weight @w.scales : tensor<1x2xf32>
    %q, %s = transformer.quantize_rows %x : tensor<1x4xf32>
    %y = transformer.linear %q, %w scales %s, %ws
      : tensor<1x4xi8>, tensor<1x4xi8>, tensor<1xf32>, tensor<1x2xf32>
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<1x1xf32>
    })"));
  // In steps of 2 and of 0.25.
  program.weights["w"] = {{254, -3, 31.75, 1}};
  double sum = 2.0 * (127 * 127 + -6 * -2) + 0.25 * (8 * 127 + 1 * 4);
  expectMatrix(program.run(tokens(1))["y"], 1, 1, {2 * sum});
}

TEST(RowOps, IntegersOfAMatrixAlone) {
  Program program(R"(
    transformer.parameter @w : tensor<2x3xi8> from <["w"], stored_rows = 2>
    transformer.parameter @w.scales : tensor<2xf32> companion<scales of @w>
    transformer.parameter @f : tensor<1x4xi4> from <["f"], stored_rows = 1>
    transformer.parameter @f.scales : tensor<1x2xf32> companion<scales of @f>
  )" + Program::step(R"(
    %x = arith.constant dense<[[2.0, -1.0, 0.5]]> : tensor<1x3xf32>
    %b = arith.constant dense<[0.0, 0.5]> : tensor<2xf32>
    %w = transformer.weight @w : tensor<2x3xi8>
    %ws = transformer.weight @w.scales : tensor<2xf32>
    %y = transformer.linear %x, %w scales %ws bias %b
      : tensor<1x3xf32>, tensor<2x3xi8>, tensor<2xf32>, tensor<2xf32>
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<1x2xf32>
    }
    %z = arith.constant dense<[[3.0, 1.0, -1.0, 0.5]]> : tensor<1x4xf32>
    %f = transformer.weight @f : tensor<1x4xi4>
    %fs = transformer.weight @f.scales : tensor<1x2xf32>
    %u = transformer.linear %z, %f scales %fs
      : tensor<1x4xf32>, tensor<1x4xi4>, tensor<1x2xf32>
    transformer.output "u" tokens take all {
      transformer.yield %u : tensor<1x1xf32>
    })"));
  // In steps of 2 and of 1: 127, -50 (49.5, half a step being even) and 0; 0,
  // 127, -2.
  program.weights["w"] = {{254, -99, 0, 0, 127, -2}};
  // In steps of -1 and of 0.5: -8 7 and -8 2.
  program.weights["f"] = {{8, -7, -4, 1}};
  auto outputs = program.run(tokens(1));
  expectMatrix(outputs["y"], 1, 2, {(2 * 127 + 50) * 2, -127 - 1 + 0.5});
  expectMatrix(outputs["u"], 1, 1, {-(3 * -8 + 7) + 0.5 * (8 + 1)});
}

TEST(RowOps, RowsThatAreNotFiniteGiveNoNumbers) {
  Matrix scales;
  Matrix zeros = quantizeRows(Matrix(2, 3), scales);
  EXPECT_EQ(zeros.data, std::vector<double>(6, 0.0));
  EXPECT_GT(scales.at(0, 0), 0.0);
  Matrix x(2, 2);
  x.at(0, 1) = std::numeric_limits<double>::infinity();
  x.at(1, 0) = std::numeric_limits<double>::quiet_NaN();
  quantizeRows(x, scales);
  EXPECT_TRUE(std::isnan(scales.at(0, 0)));
  EXPECT_TRUE(std::isnan(scales.at(0, 1)));
}

TEST(RowOps, LayerNorm) {
  // Mean 2, biased variance 1, eps 3: (x - 2) / 2.
  const std::string operands = R"(
    %x = arith.constant dense<[[1.0, 3.0]]> : tensor<1x2xf32>
    %w = arith.constant dense<[2.0, 4.0]> : tensor<2xf32>
    %b = arith.constant dense<[10.0, 20.0]> : tensor<2xf32>
  )";
  expectMatrix(valueOf(operands + R"(
      %y = transformer.layer_norm %x, %w {eps = 3.0 : f64}
        : tensor<1x2xf32>, tensor<2xf32>)",
                       "tensor<1x2xf32>"),
               1, 2, {-1, 2});
  expectMatrix(valueOf(operands + R"(
      %y = transformer.layer_norm %x, %w bias %b {eps = 3.0 : f64}
        : tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>)",
                       "tensor<1x2xf32>"),
               1, 2, {9, 22});
}

TEST(RowOps, RmsNorm) {
  // Mean of squares 25, eps 11: x / 6.
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[1.0, -7.0]]> : tensor<1x2xf32>
    %w = arith.constant dense<[6.0, 12.0]> : tensor<2xf32>
    %y = transformer.rms_norm %x, %w {eps = 11.0 : f64}
      : tensor<1x2xf32>, tensor<2xf32>)",
                     "tensor<1x2xf32>");
  expectMatrix(y, 1, 2, {1, -14});
}

TEST(RowOps, Scale) {
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[1.0, -7.0]]> : tensor<1x2xf32>
    %y = transformer.scale %x by 0.5 : tensor<1x2xf32>)",
                     "tensor<1x2xf32>");
  expectMatrix(y, 1, 2, {0.5, -3.5});
}

TEST(RowOps, Activations) {
  auto activated = [](const std::string &act) {
    return valueOf(R"(
      %x = arith.constant dense<[[-2.0, 0.0, 1.0]]> : tensor<1x3xf32>
      %y = transformer.activation )" +
                       act + " %x : tensor<1x3xf32>",
                   "tensor<1x3xf32>");
  };
  expectMatrix(activated("identity"), 1, 3, {-2, 0, 1});
  expectMatrix(activated("relu"), 1, 3, {0, 0, 1});
  // Phi(1), the normal distribution; -2 Phi(-2).
  expectMatrix(activated("gelu"), 1, 3,
               {-0.0455002638963584, 0, 0.8413447460685429});
  expectMatrix(activated("gelu_new"), 1, 3,
               {-0.04540230591222494, 0, 0.8411919906082768});
  expectMatrix(activated("silu"), 1, 3,
               {-0.2384058440442351, 0, 0.7310585786300049});
  expectMatrix(activated("tanh"), 1, 3,
               {-0.9640275800758169, 0, 0.7615941559557649});
}

const char *const kFfn = R"(
  %x = arith.constant dense<[[1.0, -1.0]]> : tensor<1x2xf32>
  %u = arith.constant dense<[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]>
    : tensor<3x2xf32>
  %g = arith.constant dense<[[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]]>
    : tensor<3x2xf32>
  %d = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]>
    : tensor<2x3xf32>
  %ub = arith.constant dense<[0.0, 0.0, 2.0]> : tensor<3xf32>
  %gb = arith.constant dense<[3.0, 0.0, 0.0]> : tensor<3xf32>
  %db = arith.constant dense<[1.0, -1.0]> : tensor<2xf32>
)";

TEST(RowOps, Ffn) {
  // up x + bias = (1, -1, 2), relu: (1, 0, 2).
  Matrix y = valueOf(std::string(kFfn) + R"(
    %y = transformer.ffn %x up %u down %d up_bias %ub down_bias %db act relu
      : tensor<1x2xf32>, tensor<3x2xf32>, tensor<2x3xf32>, tensor<3xf32>,
        tensor<2xf32>)",
                     "tensor<1x2xf32>");
  expectMatrix(y, 1, 2, {8, 15});
}

TEST(RowOps, GatedFfn) {
  // gate x + bias = (2, 1, 2), up x + bias = (1, -1, 2): the product is
  // (2, -1, 4). The gate, not up, is activated: no -1 is lost.
  Matrix y = valueOf(std::string(kFfn) + R"(
    %y = transformer.ffn %x up %u down %d gate %g up_bias %ub gate_bias %gb
      act relu : tensor<1x2xf32>, tensor<3x2xf32>, tensor<2x3xf32>,
        tensor<3x2xf32>, tensor<3xf32>, tensor<3xf32>)",
                     "tensor<1x2xf32>");
  expectMatrix(y, 1, 2, {12, 27});
}

TEST(RowOps, AddGatherSlice) {
  Step step = tokens(3);
  step.rows = {2, 0};
  Matrix y = valueOf(R"(
    %a = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0],
                               [7.0, 8.0, 9.0]]> : tensor<3x3xf32>
    %b = arith.constant dense<10.0> : tensor<3x3xf32>
    %s = transformer.add %a, %b : tensor<3x3xf32>, tensor<3x3xf32>
    %r = transformer.gather_rows %s, %rows : tensor<3x3xf32>, tensor<?xi32>
    %y = transformer.slice_columns %r[1, 2] : tensor<?x3xf32>)",
                     "tensor<?x2xf32>", step);
  expectMatrix(y, 2, 2, {18, 19, 12, 13});
}

TEST(RowOps, NormsOfPartsHaveAnOffset) {
  // sqrt((9 + 16) / 2) = 3.5355, sqrt((1 + 1) / 2) = 1.
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[3.0, 4.0, 1.0, -1.0]]> : tensor<1x4xf32>
    %w = arith.constant dense<[0.0, 1.0]> : tensor<2xf32>
    %y = transformer.rms_norm %x, %w parts 2
      {eps = 1.0e-30 : f64, offset = 1.0 : f64}
      : tensor<1x4xf32>, tensor<2xf32>)",
                     "tensor<1x4xf32>");
  ASSERT_EQ(y.data.size(), 4u);
  double expected[] = {0.8485281, 2.2627417, 1, -2};
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(y.data[i], expected[i], 1e-6) << "element " << i;
  }
}

TEST(RowOps, NormsWithoutWeight) {
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[1.0, 3.0, 10.0, 30.0]]> : tensor<1x4xf32>
    %y = transformer.layer_norm %x parts 2 {eps = 1.0e-30 : f64}
      : tensor<1x4xf32>)",
                     "tensor<1x4xf32>");
  expectMatrix(y, 1, 4, {-1, 1, -1, 1});
}

TEST(RowOps, LayerNormByTheDeviationOfASample) {
  // Around the mean 4: squares 9, 0, 9, of two degrees 9; x / (3 + 3).
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[1.0, 4.0, 7.0]]> : tensor<1x3xf32>
    %y = transformer.layer_norm %x {eps = 3.0 : f64, unbiased_std}
      : tensor<1x3xf32>)",
                     "tensor<1x3xf32>");
  expectMatrix(y, 1, 3, {-0.5, 0, 0.5});
}

// softplus(40) is 40, and half is added to it below 0.
TEST(RowOps, XieluHasSlopesOfItsOwn) {
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[3.0, 0.0, -2.0]]> : tensor<1x3xf32>
    %s = arith.constant dense<[40.0]> : tensor<1xf32>
    %y = transformer.xielu %x positive %s negative %s
      {beta = 0.5 : f64, least = -1.0e-6 : f64}
      : (tensor<1x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3xf32>)",
                     "tensor<1x3xf32>");
  expectMatrix(
      y, 1, 3,
      {361.5, 40.5 * std::expm1(-1e-6), 40.5 * (std::exp(-2.0) + 1) - 1});
}

TEST(RowOps, LayerScaleHasANumberAColumnOrOne) {
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %w = arith.constant dense<[10.0, 100.0]> : tensor<2xf32>
    %n = arith.constant dense<[0.5]> : tensor<1xf32>
    %each = transformer.layer_scale %x, %w
      : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    %y = transformer.layer_scale %each, %n
      : (tensor<2x2xf32>, tensor<1xf32>) -> tensor<2x2xf32>)",
                     "tensor<2x2xf32>");
  expectMatrix(y, 2, 2, {5, 100, 15, 200});
}

TEST(RowOps, ColumnsOfALayer) {
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]>
      : tensor<1x6xf32>
    %layer = arith.constant 2 : index
    %y = transformer.slice_columns %x[0, 2] layer %layer : tensor<1x6xf32>)",
                     "tensor<1x2xf32>");
  expectMatrix(y, 1, 2, {5, 6});
}

TEST(RowOps, Relu2IsASquare) {
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[-2.0, 3.0]]> : tensor<1x2xf32>
    %y = transformer.activation relu2 %x : tensor<1x2xf32>)",
                     "tensor<1x2xf32>");
  expectMatrix(y, 1, 2, {0, 9});
}

/// A sequence of three tokens of which two are visible, and one of one.
TEST(RowOps, PoolsWhatIsVisible) {
  Step step = tokens(4);
  step.sequences = {{0, 0, 3, 0, 2, 0}, {1, 3, 1, 0, 1, 0}};
  step.rows = {3, 1};
  auto pooled = [&](const std::string &how) {
    return valueOf(R"(
    %x = arith.constant dense<[[1.0, -4.0], [3.0, 2.0], [90.0, 90.0],
                               [5.0, 6.0]]> : tensor<4x2xf32>
    %y = transformer.pool_rows )" +
                       how + R"( %x, %rows, %batch
      : tensor<4x2xf32>, tensor<?xi32>)",
                   "tensor<?x2xf32>", step);
  };
  expectMatrix(pooled("mean"), 2, 2, {5, 6, 2, -1});
  expectMatrix(pooled("max"), 2, 2, {5, 6, 3, 2});
  double root = std::sqrt(2.0);
  expectMatrix(pooled("mean_sqrt_len"), 2, 2, {5, 6, 4 / root, -2 / root});
}

TEST(RowOps, L2NormalizeDividesByTheLength) {
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[3.0, 4.0], [0.0, 0.25], [0.0, 0.0]]>
      : tensor<3x2xf32>
    %y = transformer.l2_normalize %x {eps = 0.5 : f64} : tensor<3x2xf32>)",
                     "tensor<3x2xf32>");
  expectMatrix(y, 3, 2, {0.6, 0.8, 0, 0.5, 0, 0});
}

TEST(RowOps, CutRowsLeavesWhatIsAboveSomeDeviations) {
  // Means 4 and 2, deviations 2 and 0.
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[6.0, 2.0, 6.0, 2.0], [2.0, 2.0, 2.0, 2.0]]>
      : tensor<2x4xf32>
    %y = transformer.cut_rows %x {deviations = 0.5 : f64} : tensor<2x4xf32>)",
                     "tensor<2x4xf32>");
  expectMatrix(y, 2, 4, {1, 0, 1, 0, 0, 0, 0, 0});
}

TEST(RowOps, MixRowsAddsTermsByTheRowsOwnWeights) {
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %z = arith.constant dense<[[10.0, 20.0], [30.0, 40.0]]> : tensor<2x2xf32>
    %w = arith.constant dense<[[9.0, 2.0, -1.0], [9.0, 0.0, 1.0]]>
      : tensor<2x3xf32>
    %y = transformer.mix_rows %x plus %x, %z by %w[1] {offset = 1.0 : f64}
      : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x3xf32>)
        -> tensor<2x2xf32>)",
                     "tensor<2x2xf32>");
  expectMatrix(y, 2, 2, {1 + 3 * 1, 2 + 3 * 2, 3 + 3 + 2 * 30, 4 + 4 + 2 * 40});
}

TEST(RowOps, MatchMagnitudeGivesRowsTheLengthOfOthers) {
  // Roots of means of squares 5 and 10; the last row's is below the floor's.
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[5.0, -5.0], [0.5, 0.0]]> : tensor<2x2xf32>
    %z = arith.constant dense<[[-10.0, 10.0], [4.0, 4.0]]> : tensor<2x2xf32>
    %y = transformer.match_magnitude %x to %z {floor = 4.0 : f64}
      : tensor<2x2xf32>, tensor<2x2xf32>)",
                     "tensor<2x2xf32>");
  expectMatrix(y, 2, 2, {10, -10, 1, 0});
}

TEST(RowOps, IdsBeyondATableHaveOneOfItsRows) {
  Step step = tokens(3);
  step.inputs["ids"] = {1, 3, 7};
  Matrix y = valueOf(R"(
    %table = arith.constant dense<[[9.0, 9.0], [1.0, 2.0], [3.0, 4.0]]>
      : tensor<3x2xf32>
    %y = transformer.embedding %ids, %table beyond 2
      : tensor<?xi32>, tensor<3x2xf32>)",
                     "tensor<?x2xf32>", step);
  expectMatrix(y, 3, 2, {1, 2, 3, 4, 3, 4});
}

TEST(RowOps, IdsInTurnsHaveTheRowOfTheirTurn) {
  Step step = tokens(4);
  step.inputs["ids"] = {1, 2, 5, 7};
  Matrix y = valueOf(R"(
    %table = arith.constant dense<[[9.0, 8.0], [1.0, 2.0], [3.0, 4.0]]>
      : tensor<3x2xf32>
    %y = transformer.embedding %ids, %table every 2
      : tensor<?xi32>, tensor<3x2xf32>)",
                     "tensor<?x2xf32>", step);
  expectMatrix(y, 4, 2, {9, 8, 1, 2, 3, 4, 9, 8});
}

TEST(RowOps, JoinColumnsPutsRowsSideBySide) {
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %z = arith.constant dense<[[5.0], [6.0]]> : tensor<2x1xf32>
    %y = transformer.join_columns %z, %x, %z
      : (tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x1xf32>)
        -> tensor<2x4xf32>)",
                     "tensor<2x4xf32>");
  expectMatrix(y, 2, 4, {5, 1, 2, 5, 6, 3, 4, 6});
}

TEST(RowOps, ResultsOfSixteenBitsAreRoundedOnce) {
  // 257 lies between two numbers of bf16, 256 and 258; their sum is one.
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[257.0, 1.0]]> : tensor<1x2xf32>
    %a = transformer.add %x, %x : tensor<1x2xf32>, tensor<1x2xf32>
      -> tensor<1x2xbf16>
    %b = transformer.activation identity %x : tensor<1x2xf32>
      -> tensor<1x2xbf16>
    %y = transformer.add %a, %b : tensor<1x2xbf16>, tensor<1x2xbf16>)",
                     "tensor<1x2xf32>");
  expectMatrix(y, 1, 2, {514 - 2 + 256, 3});
}

TEST(RowOps, NormsOfPartsMayHaveAWeightEach) {
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[1.0, 3.0, 10.0, 30.0]]> : tensor<1x4xf32>
    %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %y = transformer.layer_norm %x, %w parts 2 {eps = 1.0e-30 : f64}
      : tensor<1x4xf32>, tensor<2x2xf32>)",
                     "tensor<1x4xf32>");
  expectMatrix(y, 1, 4, {-1, 2, -3, 4});
}

} // namespace
