// Memory that the threads of a block have together, in loops that become
// kernels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_THREAD_SHAREDMEMORY_H
#define TFC_COMPILER_GPU_THREAD_SHAREDMEMORY_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {

/// Shared memory that a kernel has without asking the driver for more.
constexpr int64_t kPlainSharedBytes = 48 << 10;

/// Allocates `bytes` of it in a loop that becomes a kernel
/// (tfc-outline-threads), which says what a block is. A pointer.
mlir::Value allocateShared(mlir::ImplicitLocOpBuilder &b, int64_t bytes,
                           int64_t alignment);

} // namespace tfc

#endif // TFC_COMPILER_GPU_THREAD_SHAREDMEMORY_H
