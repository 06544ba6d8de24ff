// Shared memory of a loop whose innermost items are the threads of blocks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_SHAREDBUFFER_H
#define TFC_COMPILER_GPU_ATTENTION_SHAREDBUFFER_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {

/// The address of `bytes` of the block's memory, a multiple of `alignment`. A
/// loop has one such buffer; of more than 48 KiB a launch has to be given it.
mlir::Value allocateShared(mlir::ImplicitLocOpBuilder &b, int64_t bytes,
                           int64_t alignment);

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_SHAREDBUFFER_H
