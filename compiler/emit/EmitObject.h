// LLVM dialect -> LLVM IR -> optimised object file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_EMIT_EMITOBJECT_H
#define TFC_COMPILER_EMIT_EMITOBJECT_H

#include "compiler/target/TargetInfo.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

namespace tfc {

/// Compiles the `llvm` stage for x86-64 Linux and `target` and puts the object
/// file into `object`. Everything but the function `query` and what the
/// IR says to be hidden is internal; the memory functions that LLVM may call
/// are part of it. Diagnostics go to the module's context. Threads may call it
/// at the same time for modules of different contexts.
mlir::LogicalResult emitObject(mlir::ModuleOp module, const TargetInfo &target,
                               llvm::StringRef query,
                               llvm::SmallVectorImpl<char> &object);

} // namespace tfc

#endif // TFC_COMPILER_EMIT_EMITOBJECT_H
