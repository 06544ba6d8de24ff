// Costs of small functions of the stage linalg, beside sums made by hand.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cost/CostSheet.h"

#include "compiler/cost/WorkOpInterface.h"
#include "compiler/pipeline/Registration.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tfc;
using namespace tfc::cost;

namespace {
/// Peaks that make times easy to read: a nanosecond an operation and a byte.
const Machine kSlow = {"slow", 1e9, 1e9, 1e9, false, ""};

class CostSheetTest : public testing::Test {
protected:
  CostSheetTest() {
    DialectRegistry registry;
    registerTfc(registry);
    registerWorkModels(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Counts the only function of `text`.
  CostSheet count(StringRef text, const Step &step, int64_t wanted = 1) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    auto entry = *module->getOps<func::FuncOp>().begin();
    FailureOr<CostSheet> sheet = countCosts(entry, step, wanted, kSlow, false);
    EXPECT_TRUE(succeeded(sheet));
    return succeeded(sheet) ? *sheet : CostSheet();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

static Step tokens(int64_t sequences, int64_t newTokens, int64_t keys) {
  Step step;
  step.sequences = sequences;
  step.newTokens = newTokens;
  step.keys = keys;
  return step;
}

// Two ops of one path are one line, and what one hands the other is not moved:
// 3 rows of 8 are read and 3 rows of 8 written.
TEST_F(CostSheetTest, OpsOfOnePathAreOneLine) {
  CostSheet sheet = count(R"(
    #rows = affine_map<(d0, d1) -> (d0, d1)>
    #row = affine_map<(d0, d1) -> (d0)>
    func.func @step(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?x8xf32>
      %e = tensor.empty(%n) : tensor<?xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      %s = linalg.generic {indexing_maps = [#rows, #row],
          iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<?x8xf32>) outs(%f : tensor<?xf32>) {
      ^bb0(%a: f32, %b: f32):
        %c = arith.mulf %a, %a : f32
        %d = arith.addf %c, %b : f32
        linalg.yield %d : f32
      } -> tensor<?xf32> loc("norm")
      %g = tensor.empty(%n) : tensor<?x8xf32>
      %y = linalg.generic {indexing_maps = [#rows, #row, #rows],
          iterator_types = ["parallel", "parallel"]}
          ins(%x, %s : tensor<?x8xf32>, tensor<?xf32>)
          outs(%g : tensor<?x8xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %d = math.sqrt %b : f32
        %q = arith.divf %a, %d : f32
        linalg.yield %q : f32
      } -> tensor<?x8xf32> loc("norm")
      return %y : tensor<?x8xf32>
    })",
                          tokens(1, 3, 3));
  ASSERT_EQ(sheet.ops.size(), 1U);
  EXPECT_EQ(sheet.ops[0].path, "norm");
  EXPECT_EQ(sheet.ops[0].work.operations(), 3 * 8 * (2 + 2));
  EXPECT_EQ(sheet.ops[0].work.products, 0);
  EXPECT_EQ(sheet.ops[0].work.bytes, 2 * 3 * 8 * 4);
  EXPECT_NEAR(sheet.seconds, 2 * 3 * 8 * 4e-9, 1e-12);
}

// Layers that are a function are told how many they are, and give 3 tokens.
TEST_F(CostSheetTest, FunctionsOfLayersAreCounted) {
  CostSheet sheet = count(R"(
    #rows = affine_map<(d0, d1) -> (d0, d1)>
    func.func @step(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
      %c2 = arith.constant 2 : index
      %y = func.call @layers(%x, %c2)
          : (tensor<?x8xf32>, index) -> tensor<?x8xf32>
      %z = linalg.generic {indexing_maps = [#rows],
          iterator_types = ["parallel", "parallel"]}
          outs(%y : tensor<?x8xf32>) {
      ^bb0(%a: f32):
        %b = arith.mulf %a, %a : f32
        linalg.yield %b : f32
      } -> tensor<?x8xf32> loc("square")
      return %z : tensor<?x8xf32>
    }
    func.func private @layers(%x: tensor<?x8xf32>, %n: index)
        -> tensor<?x8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x)
          -> (tensor<?x8xf32>) {
        %z = linalg.generic {indexing_maps = [#rows],
            iterator_types = ["parallel", "parallel"]}
            outs(%y : tensor<?x8xf32>) {
        ^bb0(%a: f32):
          %b = arith.addf %a, %a : f32
          linalg.yield %b : f32
        } -> tensor<?x8xf32> loc("layer")
        scf.yield %z : tensor<?x8xf32>
      }
      return %r : tensor<?x8xf32>
    })",
                          tokens(1, 3, 3));
  ASSERT_EQ(sheet.ops.size(), 2U);
  EXPECT_EQ(sheet.ops[0].path, "layer");
  EXPECT_EQ(sheet.ops[0].count, 2);
  EXPECT_EQ(sheet.ops[0].work.operations(), 2 * 3 * 8);
  EXPECT_EQ(sheet.ops[1].work.operations(), 3 * 8);
}

// Layers are counted one by one; a window is each layer's own.
TEST_F(CostSheetTest, AttentionCountsPairsLayerByLayer) {
  CostSheet sheet = count(R"(
    func.func @step(%q: tensor<?x32xf32>, %batch: !transformer.batch,
        %cache: !transformer.cache<layers = 2, kv_heads = 2, head_dim = 8>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %scale = arith.constant 1.0 : f32
      %lefts = arith.constant dense<[0, 2147483647]> : tensor<2xi64>
      %n = tensor.dim %q, %c0 : tensor<?x32xf32>
      %r = scf.for %layer = %c0 to %c2 step %c1 iter_args(%x = %q)
          -> (tensor<?x32xf32>) {
        %k = tensor.extract %lefts[%layer] : tensor<2xi64>
        %left = arith.index_cast %k : i64 to index
        %e = tensor.empty(%n) : tensor<?x32xf32>
        %y = transformer.paged_attention %x, %scale, %cache[%layer], %batch
            causal left %left heads 4 outs(%e : tensor<?x32xf32>)
            : tensor<?x32xf32>, !transformer.cache<layers = 2, kv_heads = 2,
            head_dim = 8> -> tensor<?x32xf32> loc("attn")
        scf.yield %y : tensor<?x32xf32>
      }
      return
    })",
                          tokens(5, 2, 7));
  ASSERT_EQ(sheet.ops.size(), 1U);
  EXPECT_EQ(sheet.ops[0].count, 2);
  // A query sees itself in the first layer, and 6 and 7 keys in the second.
  double scores = 5 * 4 * (2 + 13);
  EXPECT_EQ(sheet.ops[0].work.products, scores * 4 * 8);
  EXPECT_EQ(sheet.ops[0].work.others, scores * 5);
  double rows = 2 * 5 * 2 * 32 * 4 * 2;
  double cache = 2.0 * 5 * (2 + 7) * 2 * 8 * 4;
  EXPECT_EQ(sheet.ops[0].work.bytes, rows + cache);
}

// A sequence of a block is seen as a whole and hashes nothing.
TEST_F(CostSheetTest, HashesCountBlocksOfAllRounds) {
  const char *text = R"(
    func.func @encode(%x: tensor<?x8xf32>, %r: tensor<8x9xf32>,
                      %batch: !transformer.batch) -> tensor<?x8xf32> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?x8xf32>
      %e = tensor.empty(%n) : tensor<?x8xf32>
      %y = transformer.ragged_hashed %x, %x, %x, %r, %batch heads 2
          outs(%e : tensor<?x8xf32>)
          {after = 0 : i64, before = 1 : i64, block = 4 : i64,
           buckets = array<i64: 2, 4>, hashes = 3 : i64, multiple = 4 : i64,
           scale = 0.5 : f64}
          : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x9xf32>
          -> tensor<?x8xf32> loc("attn")
      return %y : tensor<?x8xf32>
    })";
  CostSheet hashed = count(text, tokens(5, 11, 11));
  ASSERT_EQ(hashed.ops.size(), 1U);
  double scores = 5 * 11 * 2 * (3 * 2 * 4);
  EXPECT_EQ(hashed.ops[0].work.products,
            scores * 4 * 4 + 5 * 11 * 2 * (2 * 4 * 9));
  EXPECT_EQ(hashed.ops[0].work.others, scores * 5);
  EXPECT_EQ(hashed.ops[0].work.bytes, 4 * (5 * 11 * 8 * 2 + 8 * 9));
  CostSheet whole = count(text, tokens(5, 4, 4));
  ASSERT_EQ(whole.ops.size(), 1U);
  EXPECT_EQ(whole.ops[0].work.products, 5 * 4 * 2 * 4 * (4 * 4));
  EXPECT_EQ(whole.ops[0].work.others, 5 * 4 * 2 * 4 * 5);
}

// Integers of four bits are two a byte, and a group's scale has all its bytes,
// whatever a device keeps values between ops in.
TEST_F(CostSheetTest, ProductsOfFourBitsAreHalfBytes) {
  Step step = tokens(3, 1, 9);
  step.valueBytes = 2;
  CostSheet sheet = count(R"(
    func.func @step(%x: tensor<?x64xf32>, %w: tensor<2x8x16x4xi8>,
                    %g: tensor<2x2x16xf32>) -> tensor<?x32xf32> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?x64xf32>
      %e = tensor.empty(%n) : tensor<?x32xf32>
      %y = transformer.product %x, %w groups(%g) outs(%e)
          : tensor<?x64xf32>, tensor<2x8x16x4xi8>, tensor<2x2x16xf32>,
            tensor<?x32xf32> -> tensor<?x32xf32> {
      ^bb0(%sum: f32):
        transformer.yield %sum : f32
      } loc("layer.q")
      return %y : tensor<?x32xf32>
    })",
                          step);
  ASSERT_EQ(sheet.ops.size(), 1U);
  EXPECT_EQ(sheet.ops[0].work.bytes,
            2 * 3 * 64 + 32 * 64 / 2 + 4 * 2 * 32 + 2 * 3 * 32);
}

// What a layout pads is neither computed for anybody nor needed.
TEST_F(CostSheetTest, ProductsCountWithoutPadding) {
  CostSheet sheet = count(R"(
    func.func @step(%x: tensor<?x10xf32>, %w: tensor<2x10x16xf32>,
                    %b: tensor<20xf32>) -> tensor<?x20xf32> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?x10xf32>
      %e = tensor.empty(%n) : tensor<?x20xf32>
      %y = transformer.product %x, %w columns(%b) outs(%e)
          : tensor<?x10xf32>, tensor<2x10x16xf32>, tensor<20xf32>,
            tensor<?x20xf32> -> tensor<?x20xf32> {
      ^bb0(%sum: f32, %bias: f32):
        %z = arith.addf %sum, %bias : f32
        transformer.yield %z : f32
      } loc(fused["layer.q", "layer.k", "layer"])
      return %y : tensor<?x20xf32>
    })",
                          tokens(3, 1, 9));
  ASSERT_EQ(sheet.ops.size(), 1U);
  EXPECT_EQ(sheet.ops[0].path, "layer.q + k");
  EXPECT_EQ(sheet.ops[0].work.products, 2 * 3 * 20 * 10);
  EXPECT_EQ(sheet.ops[0].work.others, 3 * 20);
  EXPECT_EQ(sheet.ops[0].work.bytes, 4 * (3 * 10 + 20 * 10 + 20 + 3 * 20));
}

TEST_F(CostSheetTest, RowsOfDataAreRefused) {
  std::string message;
  ScopedDiagnosticHandler keep(
      &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  module = parseSourceString<ModuleOp>(R"(
    #rows = affine_map<(d0) -> (d0)>
    func.func @step(%n: index) -> tensor<?xf32> {
      %e = tensor.empty(%n) : tensor<?xf32>
      %y = linalg.generic {indexing_maps = [#rows],
          iterator_types = ["parallel"]} outs(%e : tensor<?xf32>) {
      ^bb0(%a: f32):
        linalg.yield %a : f32
      } -> tensor<?xf32>
      return %y : tensor<?xf32>
    })",
                                       &context);
  auto entry = *module->getOps<func::FuncOp>().begin();
  EXPECT_TRUE(failed(countCosts(entry, tokens(1, 1, 1), 1, kSlow, false)));
  EXPECT_NE(message.find("expected sizes that follow from the step"),
            std::string::npos);
}
