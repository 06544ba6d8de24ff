// Recurrences whose numbers decay each by itself.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_EXPANDSELECTIVE_H
#define TFC_COMPILER_KERNEL_EXPANDSELECTIVE_H

#include "compiler/kernel/ColumnTile.h"

namespace tfc {

/// The tokens of a sequence, one after the other, of the columns `tile` of head
/// `head` of a recurrence with a log_rate. `state` is of the op's layer, from
/// its first number on. A column's sums are in the order that the op says.
void emitSelective(KernelBuilder &k, transformer::RaggedRecurrenceOp op,
                   const SequenceState &state, mlir::Value head,
                   ColumnTile &tile);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_EXPANDSELECTIVE_H
