// What a program adds to tfc that links it as a library (docs/extending.md).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_PIPELINE_EXTENSION_H
#define TFC_COMPILER_PIPELINE_EXTENSION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace tfc {

/// Dialects, and passes behind a stage.
struct Extension {
  /// May be null, as the next one.
  void (*registerDialects)(mlir::DialectRegistry &registry) = nullptr;
  /// Adds passes that `tfc compile` runs whenever a program has reached `stage`
  /// and its check is passed. What they leave is the next arrow's input: behind
  /// `fused`, ops of the dialect and of linalg.
  void (*addPasses)(mlir::OpPassManager &pm) = nullptr;
  llvm::StringRef stage;
};

/// Before anything is compiled, and not from several threads.
void addExtension(const Extension &extension);

/// In the order in which they were added.
llvm::ArrayRef<Extension> listExtensions();

} // namespace tfc

#endif // TFC_COMPILER_PIPELINE_EXTENSION_H
