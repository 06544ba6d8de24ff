// Runs a module given as text, for the interpreter's tests.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/reference/InterpretText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace tfc::reference {

Program::Program(llvm::StringRef text) {
  context
      .loadDialect<transformer::TransformerDialect, func::FuncDialect,
                   arith::ArithDialect, scf::SCFDialect, math::MathDialect>();
  context.getDiagEngine().registerHandler(
      [this](Diagnostic &diagnostic) { messages.push_back(diagnostic.str()); });
  module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  EXPECT_TRUE(module) << (messages.empty() ? "" : messages.front());
}

std::string Program::step(llvm::StringRef body, int layers, int kvHeads) {
  return llvm::formatv(R"(
    func.func @step(
        %ids: tensor<?xi32> {{transformer.input =
          #transformer.input<"ids", fill = required, limit = 100>},
        %rows: tensor<?xi32> {{transformer.rows},
        %batch: !transformer.batch,
        %cache: !transformer.cache<layers = {0}, kv_heads = {1},
                                   head_dim = 1>) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      {2}
      return
    })",
                       layers, kvHeads, body);
}

Outputs Program::run(const Step &step) {
  if (!module) {
    return {};
  }
  func::FuncOp entry;
  module->walk([&](func::FuncOp function) { entry = function; });
  auto provider = [this](transformer::ParameterOp parameter,
                         int64_t layer) -> FailureOr<std::vector<double>> {
    auto found = weights.find(parameter.getSymName().str());
    if (found == weights.end()) {
      return parameter.emitError() << "expected values in the test, got none";
    }
    return found->second[layer];
  };
  auto tap = [this](transformer::TapOp op, int64_t layer, const Matrix &value) {
    taps.push_back(
        llvm::formatv("{0} {1} {2}", op.getId(), layer, value.data.front()));
    return replaceTapped ? replaceTapped(value) : std::nullopt;
  };
  auto watch = [this](const AttentionRow &row) {
    std::string text =
        llvm::formatv("{0} {1} {2} {3} {4}:", row.isCross ? "cross" : "self",
                      row.number, row.row, row.head, row.begin);
    for (double probability : row.probabilities) {
      text += llvm::formatv(" {0:f3}", probability);
    }
    attentions.push_back(std::move(text));
  };
  FailureOr<Outputs> outputs =
      runEntry(entry, step, provider, cache, tap, watch);
  return succeeded(outputs) ? *outputs : Outputs();
}

Step tokens(int32_t count) {
  Step step;
  step.inputs["ids"].resize(count);
  step.sequences = {{0, 0, count, 0, count}};
  return step;
}

void expectMatrix(const Matrix &got, int64_t rows, int64_t cols,
                  const std::vector<double> &expected) {
  ASSERT_EQ(got.rows, rows);
  ASSERT_EQ(got.cols, cols);
  ASSERT_EQ(got.data.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(got.data[i], expected[i], 1e-12) << "element " << i;
  }
}

} // namespace tfc::reference
