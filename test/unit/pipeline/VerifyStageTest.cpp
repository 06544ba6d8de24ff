// tfc-verify-stage is all that verifies ops on the way through a stage, since
// the passes of an arrow run without.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tfc;

namespace {

TEST(VerifyStage, refusesWhatAnOpsOwnVerifierRefuses) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      "func.func @f(%x: i32) -> i32 { return %x : i32 }", &context);
  ASSERT_TRUE(module);
  PassManager pm(&context);
  pm.enableVerifier(false);
  VerifyStagePassOptions options;
  options.stage = "buffer";
  pm.addPass(createVerifyStagePass(options));
  EXPECT_TRUE(succeeded(pm.run(*module)));

  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message += diagnostic.str(); });
  module->walk([](func::ReturnOp op) { op.getOperandsMutable().clear(); });
  EXPECT_TRUE(failed(pm.run(*module)));
  EXPECT_NE(message.find("has 0 operands"), std::string::npos) << message;
}

} // namespace
