// Runs a module given as text, for the interpreter's tests.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_UNIT_REFERENCE_INTERPRETTEXT_H
#define TFC_TEST_UNIT_REFERENCE_INTERPRETTEXT_H

#include "compiler/reference/Interpreter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace tfc::reference {

/// A module, its weights (by name, one vector a layer) and its cache. Keeps
/// every message, so that tests can look at them.
class Program {
public:
  /// Fails the test when `text` does not parse.
  explicit Program(llvm::StringRef text);
  /// The module of `@step` with `body` and the usual arguments: %ids, %rows,
  /// %batch, and %cache with `layers` layers of `kvHeads` heads, one wide.
  static std::string step(llvm::StringRef body, int layers = 1,
                          int kvHeads = 1);

  /// Runs the module's only function; empty on failure.
  Outputs run(const Step &step);

  std::map<std::string, std::vector<std::vector<double>>> weights;
  Cache cache;
  std::vector<std::string> messages;
  /// "id layer firstElement" of each tap.
  std::vector<std::string> taps;
  /// What taps put in a value's place; may be empty.
  std::function<std::optional<Matrix>(const Matrix &)> replaceTapped;
  /// "kind number row head begin: probabilities" of each row of an attention.
  std::vector<std::string> attentions;

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// One sequence of `count` new tokens, all visible.
Step tokens(int32_t count);

/// Elements are equal within 1e-12.
void expectMatrix(const Matrix &got, int64_t rows, int64_t cols,
                  const std::vector<double> &expected);

} // namespace tfc::reference

#endif // TFC_TEST_UNIT_REFERENCE_INTERPRETTEXT_H
