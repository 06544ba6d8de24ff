// Mixtures of experts against numbers worked out elsewhere.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/reference/InterpretText.h"

#include "compiler/reference/Formulas.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tfc::reference;
using tfc::transformer::Activation;
using tfc::transformer::GroupRank;
using tfc::transformer::Renormalize;
using tfc::transformer::RouterScore;

namespace {

Matrix makeRows(int64_t rows, std::vector<double> data) {
  Matrix matrix(rows, static_cast<int64_t>(data.size()) / rows);
  matrix.data = std::move(data);
  return matrix;
}

/// Experts and weights of one row.
void expectRoute(const Router &router, std::vector<double> logits,
                 const std::vector<int32_t> &ids,
                 const std::vector<double> &weights) {
  std::vector<int32_t> chosen;
  Matrix w = route(makeRows(1, std::move(logits)), router, chosen);
  EXPECT_EQ(chosen, ids);
  ASSERT_EQ(w.data.size(), weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    EXPECT_NEAR(w.data[i], weights[i], 1e-6) << i;
  }
}

Router take(int64_t perToken, RouterScore score, Renormalize renormalize) {
  Router router;
  router.perToken = perToken;
  router.score = score;
  router.renormalize = renormalize;
  return router;
}

TEST(Experts, RoutesByScores) {
  const std::vector<double> z = {2, 1, 0, -1};
  expectRoute(take(2, RouterScore::Softmax, Renormalize::Sum), z, {0, 1},
              {.731059, .268941});
  expectRoute(take(2, RouterScore::Softmax, Renormalize::None), z, {0, 1},
              {.643914, .236883});
  expectRoute(take(2, RouterScore::Logits, Renormalize::Softmax), z, {0, 1},
              {.731059, .268941});
  expectRoute(take(2, RouterScore::Sigmoid, Renormalize::Sum), z, {0, 1},
              {.546449, .453551});
}

TEST(Experts, ABiasChoosesAndWeighsNothing) {
  Matrix bias = makeRows(1, {0, 0, 1, 0});
  Router router = take(2, RouterScore::Sigmoid, Renormalize::Sum);
  router.choiceBias = &bias;
  router.factor = 2.5;
  expectRoute(router, {2, 1, 0, -1}, {0, 2}, {1.594726, .905274});
}

// The sigmoids of the first two are nearer than what the bias of the second one
// makes of their logits.
TEST(Experts, LogitsChooseAndTheirSigmoidsWeigh) {
  Matrix bias = makeRows(1, {0, 0, 2, 0});
  Router router = take(2, RouterScore::LateSigmoid, Renormalize::None);
  expectRoute(router, {2, 1, 0, -1}, {0, 1}, {.880797, .731059});
  router.choiceBias = &bias;
  expectRoute(router, {5, 4, 3.5, -1}, {0, 2}, {.993307, .970688});
  router.renormalize = Renormalize::Sum;
  expectRoute(router, {2, 1, 0, -1}, {0, 2}, {.637890, .362110});
}

TEST(Experts, OfGroupsTheBestAreUsed) {
  std::vector<double> z = {.4, .1, .3, .2, .25, .35, .05, .15};
  for (double &each : z) {
    each = std::log(each);
  }
  Router router = take(3, RouterScore::Softmax, Renormalize::None);
  router.groups = 4;
  router.groupsUsed = 2;
  expectRoute(router, z, {0, 4, 5}, {.222222, .138889, .194444});
  router.score = RouterScore::Sigmoid;
  router.renormalize = Renormalize::Sum;
  router.groupRank = GroupRank::Top2;
  expectRoute(router, z, {2, 4, 5}, {.334434, .289843, .375723});
}

TEST(Experts, OfEqualOnesTheLowerNumberGoesFirst) {
  expectRoute(take(2, RouterScore::Logits, Renormalize::None), {1, 1, 1, 1},
              {0, 1}, {1, 1});
  expectRoute(take(2, RouterScore::Logits, Renormalize::None), {0, 1, 0, 1},
              {1, 3}, {1, 1});
}

TEST(Experts, MixesSparsely) {
  Router router = take(2, RouterScore::Sparsemixer, Renormalize::None);
  router.tolerance = .02;
  expectRoute(router, {2, 1, 0, -1}, {0, 1}, {1, 1});
  // (2 - 1) / 2 is near; of those left then, (1 - 0) / 1 is not.
  router.tolerance = .6;
  expectRoute(router, {2, 1, 0, -1}, {0, 1}, {.731059, 1});
}

TEST(Experts, AClampedGateIsClampedAboveAndItsFactorOnBothSides) {
  Matrix y = clampedGate(makeRows(1, {2, -8}), makeRows(1, {1, 9}), 1.702, 7);
  ASSERT_EQ(y.data.size(), 2u);
  EXPECT_NEAR(y.data[0], 2.537387, 1e-6);
  EXPECT_NEAR(y.data[1], -41.999719, 1e-6);
}

/// Two heads of 3 columns, of which 2 are multiplied.
TEST(Experts, AHeadHasAMatrixOfItsOwn) {
  Matrix y = headLinear(makeRows(1, {1, 2, 3, 4, 5, 6}),
                        makeRows(2, {1, 10, 100, 1000}), 2, 1);
  expectMatrix(y, 1, 4, {3, 21, 6, 5400});
}

/// Equal scores: a row's result is the mean of the latents up to its own.
TEST(Experts, LatentsAreTheEndsOfTheirKeys) {
  tfc::reference::Cache::Layer layer;
  Sequence sequence;
  sequence.first = 0, sequence.count = 2, sequence.past = 0, sequence.keys = 2;
  latentWrite(makeRows(2, {7, 7}), makeRows(2, {1, 2, 3, 6}), sequence, layer);
  EXPECT_EQ(layer.keys.data, (std::vector<double>{7, 1, 2, 7, 3, 6}));
  Matrix y(2, 4);
  latentAttention(makeRows(2, {1, 0, 0, -1, 0, 0, 1, 0, 0, 0, 2, -1}), sequence,
                  2, .5, layer, y, {});
  expectMatrix(y, 2, 4, {1, 2, 1, 2, 2, 4, 2, 4});
}

TEST(Experts, ASumHasALeastAndMore) {
  Router router = take(1, RouterScore::Logits, Renormalize::Sum);
  router.floor = 4;
  expectRoute(router, {0, 2}, {1}, {.5});
  router.plus = 6;
  expectRoute(router, {0, 2}, {1}, {.25});
}

/// Two experts of width 1 over rows of 1: f0 = 2 x, f1 = relu(3 x + 1) 5 - 1.
TEST(Experts, AddsWhatTheChosenMake) {
  Matrix up = makeRows(2, {2, 3}), down = makeRows(2, {1, 5});
  Matrix upBias = makeRows(2, {0, 1}), downBias = makeRows(2, {0, -1});
  FfnWeights matrices{&up, &down, nullptr, &upBias, nullptr, &downBias};
  Matrix y = experts(makeRows(2, {1, 2}), {0, 1, 1, 0},
                     makeRows(2, {.5, .25, 1, 0}), matrices, Activation::Relu);
  expectMatrix(y, 2, 1, {.5 * 2 + .25 * 19, 34});
}

TEST(Experts, SortsRowsByExpert) {
  GroupedRows grouped = groupBy({0, 2, 1, 2, 0, 1}, 2, 4);
  EXPECT_EQ(grouped.rows, (std::vector<int32_t>{0, 2, 1, 2, 0, 1}));
  EXPECT_EQ(grouped.experts, (std::vector<int32_t>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(grouped.places, (std::vector<int32_t>{0, 4, 2, 5, 1, 3}));
}

/// The ops hand their operands and options on: one row, of which experts 2 and
/// 0 make 10 and 20.
TEST(Experts, OpsAreTheirFormulas) {
  Program program(Program::step(R"(
    %z = arith.constant dense<[[2.0, 1.0, 0.0, -1.0]]> : tensor<1x4xf32>
    %b = arith.constant dense<[0.0, 0.0, 1.0, 0.0]> : tensor<4xf32>
    %i, %w = transformer.route sigmoid %z bias %b take 2 renormalize sum
      {factor = 2.5 : f64} : (tensor<1x4xf32>, tensor<4xf32>)
        -> (tensor<1x2xi32>, tensor<1x2xf32>)
    %sorted, %own, %places = transformer.group_by %i of 4 : tensor<1x2xi32>
    %made = arith.constant dense<[[20.0], [10.0]]> : tensor<2x1xf32>
    %sum = transformer.combine %made, %places, %w
      : (tensor<2x1xf32>, tensor<1x2xi32>, tensor<1x2xf32>) -> tensor<1x1xf32>
    %gate = arith.constant dense<[[0.0]]> : tensor<1x1xf32>
    %y = transformer.gate_rows %sum by %gate act sigmoid
      : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<1x1xf32> })"));
  Outputs outputs = program.run(tokens(1));
  ASSERT_EQ(outputs.size(), 1u)
      << (program.messages.empty() ? "" : program.messages.front());
  EXPECT_NEAR(outputs["y"].data[0], (1.594726 * 20 + .905274 * 10) / 2, 1e-5);
}

TEST(Experts, PartsOfRowsHaveGatesOfTheirOwn) {
  Matrix y = gateRows(makeRows(1, {2, 4, 8, 16}), makeRows(1, {3, 5}),
                      Activation::Identity);
  expectMatrix(y, 1, 4, {6, 12, 40, 80});
}

} // namespace
