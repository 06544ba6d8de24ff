// The passes of this folder: constructors and registration.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_LOWERING_PASSES_H
#define TFC_COMPILER_LOWERING_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tfc {

/// What rows of integers are for kernels of products: of 16 bits, or bytes
/// without a sign, each 128 more than it stands for, or with one, of which a
/// word has four, or eight where matrices are multiplied.
enum class IntegerRows { Wide, Excess, Signed, Matrices };

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/lowering/Passes.h.inc"
} // namespace tfc

#endif // TFC_COMPILER_LOWERING_PASSES_H
