// Attention by hashes against numbers worked out by hand: scores are 0 but a
// token's own, so that a row is the mean of what else it sees.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/reference/InterpretText.h"

#include <gtest/gtest.h>

using namespace tfc::reference;

namespace {

/// Of five tokens, with `queries` of one column, that have 1, 2, 4, 8 and 16.
/// A query's bucket is its sign, 0 for what is not below zero.
Matrix attend(const std::string &queries, const Step &step, int hashes = 1,
              int block = 2, int after = 0) {
  std::string rounds = std::to_string(hashes);
  Program program(Program::step(R"(
    %q = arith.constant dense<)" +
                                queries + R"(> : tensor<5x1xf32>
    %k = arith.constant dense<0.0> : tensor<5x1xf32>
    %v = arith.constant dense<[[1.0], [2.0], [4.0], [8.0], [16.0]]>
      : tensor<5x1xf32>
    %r = arith.constant dense<1.0> : tensor<1x)" +
                                rounds + R"(xf32>
    %y = transformer.hashed_attention %q, %k, %v, %r, %batch heads 1
           {before = 1 : i64, buckets = array<i64: 2>, scale = 1.0 : f64,
            after = )" + std::to_string(after) +
                                " : i64, hashes = " + rounds +
                                " : i64, multiple = " + std::to_string(block) +
                                " : i64, block = " + std::to_string(block) +
                                R"( : i64}
      : (tensor<5x1xf32>, tensor<5x1xf32>, tensor<5x1xf32>, tensor<1x)" +
                                rounds +
                                R"(xf32>, !transformer.batch) -> tensor<5x1xf32>
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<5x1xf32> })"));
  Outputs outputs = program.run(step);
  EXPECT_EQ(outputs.size(), 1u)
      << (program.messages.empty() ? "" : program.messages.front());
  return outputs["y"];
}

const char *const turns = "[[1.0], [-1.0], [2.0], [-2.0], [3.0]]";

TEST(HashedAttention, ChunksOfTheOrderAreACircle) {
  // Tokens 0 2 | 4 1 | 3, each chunk with the one before it.
  expectMatrix(attend(turns, tokens(5)), 5, 1, {6, 7, 4.5, 9, 7.0 / 3});
}

TEST(HashedAttention, TwoChunksThatAreOnBothSidesCountTwice) {
  // 0 2 4 | 1 3: what is in the other chunk is there before and behind.
  expectMatrix(attend(turns, tokens(5), 1, 3, 1), 5, 1,
               {40.0 / 6, 50.0 / 7, 37.0 / 6, 44.0 / 7, 25.0 / 6});
}

TEST(HashedAttention, RoundsAreOneSoftmax) {
  expectMatrix(attend(turns, tokens(5), 2), 5, 1, {6, 7, 4.5, 9, 7.0 / 3});
}

TEST(HashedAttention, OfEqualProductsTheFirstIsTaken) {
  // 1 and 3 are neither above nor below zero: 0 1 | 2 3 | 4.
  expectMatrix(attend("[[1.0], [0.0], [2.0], [-0.0], [3.0]]", tokens(5)), 5, 1,
               {9, 8.5, 11.0 / 3, 7.0 / 3, 6});
}

TEST(HashedAttention, AShortSequenceIsSeenAsAWhole) {
  // Of three tokens two are visible; the third one sees both, and a token that
  // is alone sees itself.
  Step step = tokens(5);
  step.sequences = {{0, 0, 3, 0, 2, 0}, {1, 3, 1, 0, 1, 0}, {2, 4, 1, 0, 1, 0}};
  expectMatrix(attend(turns, step), 5, 1, {2, 1, 1.5, 8, 16});
}

TEST(HashedAttention, WhatIsNotVisibleIsWhereTheLastOneIs) {
  // Of 0 2 | 1 token 3 and 4 are not visible: they see both chunks.
  Step step = tokens(5);
  step.sequences = {{0, 0, 5, 0, 3, 0}};
  expectMatrix(attend(turns, step), 5, 1, {3, 2.5, 1.5, 7.0 / 3, 7.0 / 3});
}

} // namespace
