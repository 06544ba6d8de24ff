// The passes of this folder: constructors and registration.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_PASSES_H
#define TFC_COMPILER_CPU_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tfc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc

#endif // TFC_COMPILER_CPU_PASSES_H
