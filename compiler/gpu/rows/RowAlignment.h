// Where vectors of a row begin in memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ROWS_ROWALIGNMENT_H
#define TFC_COMPILER_GPU_ROWS_ROWALIGNMENT_H

#include "mlir/IR/Value.h"
#include "llvm/Support/Alignment.h"

namespace tfc {

/// Bytes, at most 16, that the address of an element of a buffer is a multiple
/// of, when its last index is a multiple of `multiple`: in a part of wider rows
/// it depends on where the part begins and how far rows are apart. Buffers
/// themselves, and constant tables, begin at multiples of 16 bytes at least.
llvm::Align alignmentOfRow(mlir::Value buffer, int64_t multiple);

} // namespace tfc

#endif // TFC_COMPILER_GPU_ROWS_ROWALIGNMENT_H
