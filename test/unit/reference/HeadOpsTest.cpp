// What heads make of rows beyond products, and memories of zeros, against
// numbers worked out by hand.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/reference/InterpretText.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tfc::reference;

namespace {

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

TEST(HeadOps, EmbeddingHasThePieceFromAnId) {
  Step step = tokens(4);
  step.inputs["ids"] = {2, 3, 4, 5};
  Matrix y = valueOf(R"(
    %table = arith.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
    %y = transformer.embedding %ids, %table from 3
      : tensor<?xi32>, tensor<2x1xf32>)",
                     "tensor<?x1xf32>", step);
  expectMatrix(y, 4, 1, {0, 1, 2, 0});
}

/// Three tokens of a sequence, of which two are visible, and one of another.
Step twoSequences() {
  Step step = tokens(4);
  step.sequences = {{0, 0, 3, 0, 2, 0}, {1, 3, 1, 0, 1, 0}};
  step.rows = {3, 1};
  return step;
}

const std::string rows = R"(
    %x = arith.constant dense<[[1.0], [3.0], [90.0], [5.0]]> : tensor<4x1xf32>)";

TEST(HeadOps, PairsAreWithTheVisibleRowThatAsks) {
  auto pairs = [&](const std::string &query) {
    return valueOf(rows + "%y = transformer.pair_rows " + query + R"( %x, %batch
      : (tensor<4x1xf32>, !transformer.batch) -> tensor<4x4xf32>)",
                   "tensor<4x4xf32>", twoSequences());
  };
  expectMatrix(pairs("last"), 4, 4,
               {3, 1, 2, 3, 3, 3, 0, 9, 3, 90, -87, 270, 5, 5, 0, 25});
  expectMatrix(pairs("first"), 4, 4,
               {1, 1, 0, 1, 1, 3, -2, 3, 1, 90, -89, 90, 5, 5, 0, 25});
}

TEST(HeadOps, WeightsAreNoSoftmaxAndLeaveOutTheOneThatAsks) {
  auto weighed = [&](const std::string &query) {
    return valueOf(rows + R"(
    %w = arith.constant dense<[[2.0], [-4.0], [7.0], [8.0]]> : tensor<4x1xf32>
    %y = transformer.weigh_rows )" +
                       query + R"( %x by %w, %rows, %batch
      : (tensor<4x1xf32>, tensor<4x1xf32>, tensor<?xi32>, !transformer.batch)
        -> tensor<?x2xf32>)",
                   "tensor<?x2xf32>", twoSequences());
  };
  expectMatrix(weighed("last"), 2, 2, {0, 5, 2, 3});
  expectMatrix(weighed("first"), 2, 2, {0, 5, -12, 1});
}

TEST(HeadOps, LogSoftmaxOfClusters) {
  Matrix y = valueOf(R"(
    %x = arith.constant dense<[[0.0, 1.0]]> : tensor<1x2xf32>
    %g = arith.constant dense<[[2.0]]> : tensor<1x1xf32>
    %z = arith.constant dense<[[-1.0, 0.5]]> : tensor<1x2xf32>
    %y = transformer.log_softmax %x gates %g clusters %z
      : (tensor<1x2xf32>, tensor<1x1xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>)",
                     "tensor<1x4xf32>");
  double all = std::log(1 + std::exp(1.0) + std::exp(2.0));
  double own = std::log(std::exp(-1.0) + std::exp(0.5));
  expectMatrix(y, 1, 4,
               {-all, 1 - all, 2 - all - 1 - own, 2 - all + 0.5 - own});
}

TEST(HeadOps, ZerosBeforeTheBeginningHaveTheirDistance) {
  // Two tokens after one; each sees three before itself, of which the last
  // distances share a row.
  Step step = tokens(2);
  step.sequences = {{0, 0, 2, 1, 3, 0}};
  Matrix y = valueOf(R"(
    %q = arith.constant dense<[[2.0], [1.0]]> : tensor<2x1xf32>
    %a = arith.constant dense<[[7.0], [0.0], [0.25], [0.5]]> : tensor<4x1xf32>
    %v = arith.constant dense<[1.0]> : tensor<1xf32>
    %left = arith.constant 3 : index
    %y = transformer.memory_sinks %q, %a, %batch left %left heads 1 span 3
           bias %v {scale = 2.0 : f64}
      : (tensor<2x1xf32>, tensor<4x1xf32>, !transformer.batch, index,
         tensor<1xf32>) -> tensor<2x1xf32>)",
                     "tensor<2x1xf32>", step);
  // Of the first (p = 1) distances 2 and 3, of the other one 3.
  expectMatrix(y, 2, 1, {3 + std::log(2.0), 2});
}

TEST(HeadOps, BeyondTheMemoryThereIsNothing) {
  Matrix y = valueOf(R"(
    %q = arith.constant dense<[[2.0]]> : tensor<1x1xf32>
    %a = arith.constant dense<[[7.0]]> : tensor<1x1xf32>
    %left = arith.constant 0 : index
    %y = transformer.memory_sinks %q, %a, %batch left %left heads 1 span 1
           {scale = 2.0 : f64}
      : (tensor<1x1xf32>, tensor<1x1xf32>, !transformer.batch, index)
        -> tensor<1x1xf32>)",
                     "tensor<1x1xf32>");
  expectMatrix(y, 1, 1, {-1e30});
}

} // namespace
