// The passes of this folder: constructors and registration.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_PASSES_H
#define TFC_COMPILER_KERNEL_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tfc {

/// Whose approximations of exp, tanh and erf a program uses.
enum class Polynomials { Upstream, Own };

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/kernel/Passes.h.inc"
} // namespace tfc

#endif // TFC_COMPILER_KERNEL_PASSES_H
