// The layer loop, weights, taps, outputs, and what is refused.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/reference/InterpretText.h"

#include <gtest/gtest.h>

using namespace tfc::reference;

namespace {

const char *const kParameters = R"(
  transformer.parameter @table : tensor<2x1xf32> from <["t"], stored_rows = 2>
  transformer.parameter @w : tensor<1x1xf32> layers 3
    from <["w.{i}"], stored_rows = 1>
)";

TEST(Loop, EachLayerHasItsWeights) {
  Program program(kParameters + Program::step(R"(
    %c3 = arith.constant 3 : index
    %table = transformer.weight @table : tensor<2x1xf32>
    %x = transformer.embedding %ids, %table : tensor<?xi32>, tensor<2x1xf32>
    transformer.tap "table" %x : tensor<?x1xf32>
    %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %x)
        -> (tensor<?x1xf32>) {
      %w = transformer.weight @w[%i] : tensor<1x1xf32>
      %f = transformer.linear %h, %w : tensor<?x1xf32>, tensor<1x1xf32>
      %s = transformer.add %h, %f : tensor<?x1xf32>, tensor<?x1xf32>
      transformer.tap "sum" layer %i %s : tensor<?x1xf32>
      scf.yield %s : tensor<?x1xf32>
    }
    transformer.output "hidden" tokens take all {
      transformer.yield %y : tensor<?x1xf32>
    }
    transformer.output "last" wanted take all {
      %r = transformer.gather_rows %y, %rows : tensor<?x1xf32>, tensor<?xi32>
      transformer.yield %r : tensor<?x1xf32>
    })"));
  program.weights = {{"table", {{1, 10}}}, {"w", {{1}, {2}, {-3}}}};
  Step step = tokens(2);
  step.inputs["ids"] = {1, 0};
  step.rows = {1};
  Outputs outputs = program.run(step);
  ASSERT_EQ(outputs.size(), 2u);
  // x (1 + 1) (1 + 2) (1 - 3)
  expectMatrix(outputs["hidden"], 2, 1, {-120, -12});
  expectMatrix(outputs["last"], 1, 1, {-12});
  EXPECT_EQ(program.taps,
            (std::vector<std::string>{"table -1 10.00", "sum 0 20.00",
                                      "sum 1 60.00", "sum 2 -120.00"}));
  step.outputs = {"last"};
  EXPECT_EQ(program.run(step).count("hidden"), 0u);
}

/// What @prepare keeps is there for the step, of each layer its own.
TEST(Loop, WeightsAreMadeOfWeightsFirst) {
  std::string text = std::string(kParameters) + R"(
  transformer.parameter @made : tensor<1x1xf32> layers 3 prepared
  func.func @prepare(%rows: tensor<?xi32> {transformer.rows},
                     %batch: !transformer.batch)
      attributes {transformer.prepare} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    scf.for %i = %c0 to %c3 step %c1 {
      %w = transformer.weight @w[%i] : tensor<1x1xf32>
      %f = transformer.linear %w, %w : tensor<1x1xf32>, tensor<1x1xf32>
      transformer.keep %f, @made[%i] : tensor<1x1xf32>
    }
    return
  })" + Program::step(R"(
    %c3 = arith.constant 3 : index
    %table = transformer.weight @table : tensor<2x1xf32>
    %x = transformer.embedding %ids, %table : tensor<?xi32>, tensor<2x1xf32>
    %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %x)
        -> (tensor<?x1xf32>) {
      %w = transformer.weight @made[%i] : tensor<1x1xf32>
      %f = transformer.linear %h, %w : tensor<?x1xf32>, tensor<1x1xf32>
      scf.yield %f : tensor<?x1xf32>
    }
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<?x1xf32>
    })");
  Program program(text);
  program.weights = {{"table", {{1, 10}}}, {"w", {{1}, {2}, {-3}}}};
  Step step = tokens(2);
  step.inputs["ids"] = {1, 0};
  // x 1 2^2 3^2
  expectMatrix(program.run(step)["y"], 2, 1, {360, 36});
  // Nobody makes them.
  size_t keep = text.find("transformer.keep");
  Program without(text.erase(keep, text.find('\n', keep) - keep));
  without.weights = program.weights;
  EXPECT_EQ(without.run(step).count("y"), 0u);
  ASSERT_EQ(without.messages.size(), 1u);
  EXPECT_EQ(without.messages.front(),
            "expected an entry that prepares @made, got none");
}

TEST(Loop, WhatATapGivesTakesThePlaceOfAValue) {
  Program program(kParameters + Program::step(R"(
    %table = transformer.weight @table : tensor<2x1xf32>
    %x = transformer.embedding %ids, %table : tensor<?xi32>, tensor<2x1xf32>
    transformer.tap "table" %x : tensor<?x1xf32>
    %y = transformer.add %x, %x : tensor<?x1xf32>, tensor<?x1xf32>
    transformer.tap "sum" %y : tensor<?x1xf32>
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<?x1xf32>
    })"));
  program.weights = {{"table", {{1, 10}}}};
  program.replaceTapped = [](const Matrix &value) {
    Matrix other = value;
    other.data.front() += 100;
    return other;
  };
  // 10 and 100 twice, and 100.
  expectMatrix(program.run(tokens(1))["y"], 1, 1, {302});
  EXPECT_EQ(program.taps,
            (std::vector<std::string>{"table -1 1.00", "sum -1 202.00"}));
}

TEST(Loop, LayersMayBeAFunction) {
  Program program(std::string(kParameters) + R"(
    func.func private @step.layers(%h: tensor<?x1xf32>, %i: index)
        -> tensor<?x1xf32> attributes {transformer.layers_of = @step} {
      %w = transformer.weight @w[%i] : tensor<1x1xf32>
      %f = transformer.linear %h, %w : tensor<?x1xf32>, tensor<1x1xf32>
      return %f : tensor<?x1xf32>
    })" + Program::step(R"(
    %c2 = arith.constant 2 : index
    %table = transformer.weight @table : tensor<2x1xf32>
    %x = transformer.embedding %ids, %table : tensor<?xi32>, tensor<2x1xf32>
    %y = func.call @step.layers(%x, %c2)
      : (tensor<?x1xf32>, index) -> tensor<?x1xf32>
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<?x1xf32>
    })"));
  program.weights = {{"table", {{1, 10}}}, {"w", {{1}, {2}, {-3}}}};
  expectMatrix(program.run(tokens(1))["y"], 1, 1, {-3});
}

TEST(Loop, PartsAreRowsOneAfterTheOther) {
  Program program(R"(
    transformer.parameter @k : tensor<1x1xf32> layers 2
      from <["k.{i}"], stored_rows = 1>
    transformer.parameter @v : tensor<2x1xf32> layers 2
      from <["v.{i}"], stored_rows = 2>
    transformer.parameter @k_v : tensor<3x1xf32> layers 2 parts [@k, @v]
  )" + Program::step(R"(
    %x = arith.constant dense<2.0> : tensor<1x1xf32>
    %w = transformer.weight @k_v[%c1] : tensor<3x1xf32>
    %y = transformer.linear %x, %w : tensor<1x1xf32>, tensor<3x1xf32>
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<1x3xf32>
    })"));
  program.weights = {{"k", {{1}, {4}}}, {"v", {{2, 3}, {5, 6}}}};
  expectMatrix(program.run(tokens(1))["y"], 1, 3, {8, 10, 12});
}

TEST(Loop, RunsNoTimesOverAnEmptyRange) {
  Program program(Program::step(R"(
    %x = arith.constant dense<5.0> : tensor<1x1xf32>
    %y = scf.for %i = %c1 to %c1 step %c1 iter_args(%h = %x)
        -> (tensor<1x1xf32>) {
      %s = transformer.add %h, %h : tensor<1x1xf32>, tensor<1x1xf32>
      scf.yield %s : tensor<1x1xf32>
    }
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<1x1xf32>
    })"));
  expectMatrix(program.run(tokens(1))["y"], 1, 1, {5});
}

TEST(Loop, LayersMayBeOffset) {
  Program program(kParameters + Program::step(R"(
    %i = arith.addi %c1, %c1 : index
    %y = transformer.weight @w[%i] : tensor<1x1xf32>
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<1x1xf32>
    })"));
  program.weights["w"] = {{1}, {2}, {3}};
  expectMatrix(program.run(tokens(1))["y"], 1, 1, {3});
}

/// The first message of a run that must fail.
std::string refusal(const std::string &text, const Step &step) {
  Program program(text);
  program.weights = {{"table", {{1, 10}}}, {"w", {{1}, {2}}}};
  EXPECT_TRUE(program.run(step).empty());
  return program.messages.empty() ? "" : program.messages.front();
}

TEST(Refusals, UnknownOp) {
  EXPECT_EQ(refusal(Program::step(R"(
              %x = arith.constant dense<5.0> : tensor<1x1xf32>
              %y = math.exp %x : tensor<1x1xf32>)"),
                    tokens(1)),
            "expected an op that the interpreter knows, got math.exp");
}

TEST(Refusals, MissingInput) {
  EXPECT_EQ(refusal(Program::step(""), Step()),
            "expected values of input \"ids\", got none");
}

TEST(Refusals, IdOutOfRange) {
  const std::string text = kParameters + Program::step(R"(
    %table = transformer.weight @table : tensor<2x1xf32>
    %x = transformer.embedding %ids, %table {offset = 1 : i64}
      : tensor<?xi32>, tensor<2x1xf32>)");
  Step step = tokens(1);
  step.inputs["ids"] = {1};
  EXPECT_EQ(refusal(text, step), "expected an id in [0, 1), got 1");
  step.inputs["ids"] = {-1};
  EXPECT_EQ(refusal(text, step), "expected an id in [0, 1), got -1");
}

TEST(Refusals, RowOutOfRange) {
  Step step = tokens(1);
  step.rows = {1};
  EXPECT_EQ(refusal(Program::step(R"(
              %x = arith.constant dense<5.0> : tensor<1x1xf32>
              %y = transformer.gather_rows %x, %rows
                : tensor<1x1xf32>, tensor<?xi32>)"),
                    step),
            "expected a row in [0, 1), got 1");
}

TEST(Refusals, LayerOutOfRange) {
  EXPECT_EQ(refusal(kParameters + Program::step(R"(
              %c2 = arith.constant 2 : index
              %i = arith.addi %c1, %c2 : index
              %w = transformer.weight @w[%i] : tensor<1x1xf32>)"),
                    tokens(1)),
            "expected a layer in [0, 3) of @w, got 3");
}

TEST(Refusals, WeightOfTheWrongSize) {
  EXPECT_EQ(refusal(R"(transformer.parameter @table : tensor<3x1xf32>
                         from <["t"], stored_rows = 3>)" +
                        Program::step(R"(
              %w = transformer.weight @table : tensor<3x1xf32>)"),
                    tokens(1)),
            "expected 3 elements of @table, got 2");
}

} // namespace
