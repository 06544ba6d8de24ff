// Convolutions and recurrences against numbers worked out elsewhere, whole and
// in pieces.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/reference/Formulas.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tfc::reference;

namespace {

Matrix makeRows(int64_t rows, std::vector<double> data) {
  Matrix matrix(rows, static_cast<int64_t>(data.size()) / rows);
  matrix.data = std::move(data);
  return matrix;
}

Sequence piece(int32_t first, int32_t count) {
  Sequence sequence;
  sequence.first = first;
  sequence.count = count;
  return sequence;
}

TEST(Recurrent, AConvolutionSeesTheTokensBefore) {
  Matrix x = makeRows(3, {1, -1, 2}), w = makeRows(1, {1, 2, 3, 4}), y(3, 1);
  std::vector<double> state(3);
  causalConv(x, w, nullptr, piece(0, 3), state.data(), y);
  EXPECT_EQ(y.data, (std::vector<double>{4, -1, 7}));
  EXPECT_EQ(state, (std::vector<double>{1, -1, 2}));
  Matrix bias = makeRows(1, {10});
  causalConv(x, w, &bias, piece(2, 1), state.data(), y);
  // 10 + 1 * 1 + 2 * -1 + 3 * 2 + 4 * 2
  EXPECT_EQ(y.at(2, 0), 23);
  EXPECT_EQ(state, (std::vector<double>{-1, 2, 2}));
}

TEST(Recurrent, AConvolutionInPiecesIsTheSame) {
  Matrix x = makeRows(5, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  Matrix w = makeRows(2, {.5, -1, 2, 3, .25, -2}), whole(5, 2), cut(5, 2);
  std::vector<double> state(4), kept(4);
  causalConv(x, w, nullptr, piece(0, 5), state.data(), whole);
  for (auto [first, count] : {std::pair(0, 1), {1, 3}, {4, 1}}) {
    causalConv(x, w, nullptr, piece(first, count), kept.data(), cut);
  }
  EXPECT_EQ(whole.data, cut.data);
  EXPECT_EQ(state, kept);
}

TEST(Recurrent, TheGatedDeltaRule) {
  // Queries and keys as they are after their norms.
  double length = std::sqrt(2.0);
  Matrix q = makeRows(2, {.6 / length, .8 / length, 1 / length, 0});
  Matrix k = makeRows(2, {1, 0, .6, .8}), v = makeRows(2, {2, 1});
  Matrix e = makeRows(2, {1, std::exp(-.5)}), beta = makeRows(2, {.5, 1});
  Matrix y(2, 1);
  std::vector<double> state(2);
  recurrence({q, k, v, e, beta, 1, 1}, piece(0, 2), state.data(), y);
  EXPECT_NEAR(y.at(0, 0), .42426385, 1e-6);
  EXPECT_NEAR(y.at(1, 0), .69874797, 1e-6);
  EXPECT_NEAR(state[0], .98817935, 1e-6);
  EXPECT_NEAR(state[1], .50886532, 1e-6);
}

TEST(Recurrent, EachKeyOfAHeadDecays) {
  Matrix q = makeRows(2, {1, 2, 3, 1}), k = makeRows(2, {1, 0, .5, 1});
  Matrix v = makeRows(2, {2, -1, 1, 3}), beta = makeRows(2, {.5, 1, 1, .25});
  // Two heads of one key head: a decay for each key of each.
  Matrix e = makeRows(2, {1, 1, 1, 1, .5, .25, .125, 1}), y(2, 2);
  std::vector<double> state(4);
  recurrence({q, k, v, e, beta, 2, 1}, piece(0, 2), state.data(), y);
  // S = [1, 0], then [.5, 0] + [.5, 1] (1 - .25).
  EXPECT_DOUBLE_EQ(state[0], .875);
  EXPECT_DOUBLE_EQ(state[1], .75);
  EXPECT_DOUBLE_EQ(y.at(1, 0), 3 * .875 + .75);
  // S = [-1, 0], then [-.125, 0] + [.5, 1] .25 (3 + .0625).
  EXPECT_DOUBLE_EQ(state[2], -.125 + .5 * .765625);
  EXPECT_DOUBLE_EQ(state[3], .765625);
  EXPECT_DOUBLE_EQ(y.at(1, 1), 3 * state[2] + state[3]);
}

TEST(Recurrent, ARateForEachPartOfARow) {
  Matrix y = decay(makeRows(1, {0, 1, 0, 1}), makeRows(1, {0, std::log(2)}));
  double log2 = std::log(2), one = std::log1p(std::exp(1));
  EXPECT_DOUBLE_EQ(y.at(0, 0), std::exp(-log2));
  EXPECT_DOUBLE_EQ(y.at(0, 1), std::exp(-one));
  EXPECT_NEAR(y.at(0, 2), std::exp(-2 * log2), 1e-15);
  EXPECT_NEAR(y.at(0, 3), std::exp(-2 * one), 1e-15);
}

TEST(Recurrent, TokensThatAdd) {
  Matrix q = makeRows(2, {1, 2, 3, 1}), k = makeRows(2, {1, 0, .5, 1});
  Matrix v = makeRows(2, {2, 1}), beta = makeRows(2, {.5, 2});
  Matrix e = makeRows(2, {std::exp(-1), std::exp(-.5)}), y(2, 1);
  std::vector<double> state(2);
  RecurrenceInputs inputs{q,    k, v, e,
                          beta, 1, 1, tfc::transformer::RecurrenceRule::Add};
  recurrence(inputs, piece(0, 2), state.data(), y);
  EXPECT_NEAR(y.at(0, 0), 1, 1e-8);
  EXPECT_NEAR(y.at(1, 0), 6.81959198, 1e-8);
  EXPECT_NEAR(state[0], 1.60653066, 1e-8);
  EXPECT_NEAR(state[1], 2, 1e-8);
  Matrix skip = makeRows(1, {10}), whole(2, 1);
  std::vector<double> other(2);
  inputs.skip = &skip;
  recurrence(inputs, piece(0, 2), other.data(), whole);
  EXPECT_EQ(state, other);
  EXPECT_NEAR(whole.at(0, 0), 21, 1e-8);
  EXPECT_NEAR(whole.at(1, 0), 16.81959198, 1e-8);
}

TEST(Recurrent, EveryNumberDecaysAtItsOwnRate) {
  Matrix q = makeRows(2, {1, 2, 3, 1}), k = makeRows(2, {1, .5, -1, 2});
  Matrix v = makeRows(2, {2, 1, -1, 4}), time = makeRows(2, {.5, 1, 2, .25});
  Matrix rate = makeRows(2, {0, std::log(2), std::log(.5), -1});
  Matrix skip = makeRows(1, {10, -1}), y(2, 2);
  std::vector<double> state(4);
  RecurrenceInputs inputs{q,    k, v, time,
                          time, 1, 1, tfc::transformer::RecurrenceRule::Add};
  inputs.skip = &skip;
  inputs.logRate = &rate;
  recurrence(inputs, piece(0, 2), state.data(), y);
  EXPECT_NEAR(y.at(0, 0), 22, 1e-12);
  EXPECT_NEAR(y.at(0, 1), 1, 1e-12);
  EXPECT_NEAR(y.at(1, 0), -7.410054429704440, 1e-12);
  EXPECT_NEAR(y.at(1, 1), -2.724341700591369, 1e-12);
  EXPECT_NEAR(state[0], 2.135335283236613, 1e-12);
  EXPECT_NEAR(state[1], -.393469340287367, 1e-12);
  EXPECT_NEAR(state[2], -3.816060279414279, 1e-12);
  EXPECT_NEAR(state[3], 2.456066320270731, 1e-12);
  Matrix pieces(2, 2);
  std::vector<double> other(4);
  recurrence(inputs, piece(0, 1), other.data(), pieces);
  recurrence(inputs, piece(1, 1), other.data(), pieces);
  EXPECT_EQ(pieces.data, y.data);
  EXPECT_EQ(other, state);
}

TEST(Recurrent, ANormOfEachPartWithAWeightForEachColumn) {
  Matrix weight = makeRows(1, {1, 2, 3, 4});
  NormShape shape;
  shape.weight = &weight;
  shape.parts = 2;
  Matrix y = rmsNorm(makeRows(1, {3, 3, -5, 5}), shape);
  EXPECT_EQ(y.data, (std::vector<double>{1, 2, -3, 4}));
}

TEST(Recurrent, ValueHeadsShareKeysAndNothingElse) {
  // Two of each of two key heads; keys of the second are 0.
  Matrix q = makeRows(1, {1, 1}), k = makeRows(1, {1, 0});
  Matrix v = makeRows(1, {2, 3, 4, 5}), e = makeRows(1, {1, 1, 1, 1});
  Matrix beta = makeRows(1, {1, .5, 1, 1}), y(1, 4);
  std::vector<double> state(4);
  recurrence({q, k, v, e, beta, 4, 2}, piece(0, 1), state.data(), y);
  EXPECT_EQ(y.data, (std::vector<double>{2, 1.5, 0, 0}));
  EXPECT_EQ(state, y.data);
}

TEST(Recurrent, Decay) {
  Matrix y = decay(makeRows(1, {0, -40, 40}), makeRows(1, {0, 1, 0}));
  EXPECT_NEAR(y.at(0, 0), .5, 1e-12); // exp(-ln 2)
  EXPECT_NEAR(y.at(0, 1), 1, 1e-12);
  EXPECT_NEAR(y.at(0, 2), std::exp(-40.0), 1e-20);
}

TEST(Recurrent, Softplus) {
  using tfc::transformer::Activation;
  EXPECT_NEAR(activate(Activation::Softplus, 0), std::log(2.0), 1e-15);
  EXPECT_NEAR(activate(Activation::Softplus, -40) / std::exp(-40.0), 1, 1e-12);
  EXPECT_EQ(activate(Activation::Softplus, 800), 800);
}

TEST(Recurrent, Sigmoid) {
  EXPECT_EQ(activate(tfc::transformer::Activation::Sigmoid, 0), .5);
  EXPECT_NEAR(activate(tfc::transformer::Activation::Sigmoid, -2), .119203,
              1e-6);
}

} // namespace
