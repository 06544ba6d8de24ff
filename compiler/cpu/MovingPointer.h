// Loops that move pointers from round to round.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_MOVINGPOINTER_H
#define TFC_COMPILER_CPU_MOVINGPOINTER_H

#include "compiler/kernel/KernelBuilder.h"

namespace tfc {

/// A pointer that a loop moves by `bytes` a round. It may be null: then it
/// stays so.
struct MovingPointer {
  mlir::Value pointer;
  int64_t bytes;
};

/// for i in [from, to) by step: values = body(i, values), where the pointers
/// are those of the round; afterwards they are behind the last one. Returns the
/// last values.
///
/// What is read with a stride that no addressing mode multiplies with is read
/// so: nobody looks for such addresses later (docs/rationale/0016).
KernelBuilder::Values loopMoving(
    KernelBuilder &k, mlir::Value from, mlir::Value to, int64_t step,
    llvm::MutableArrayRef<MovingPointer> pointers, mlir::ValueRange inits,
    llvm::function_ref<KernelBuilder::Values(mlir::Value, mlir::ValueRange)>
        body);

} // namespace tfc

#endif // TFC_COMPILER_CPU_MOVINGPOINTER_H
