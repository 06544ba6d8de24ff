// Copies from device memory to shared memory that go on while threads compute.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_THREAD_ASYNCCOPIES_H
#define TFC_COMPILER_GPU_THREAD_ASYNCCOPIES_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {

/// Bytes of a copy.
constexpr int32_t kCopyBytes = 16;

/// Asks for 16 bytes of device memory in shared memory, both multiples of 16.
/// `fill`, an i32 of 0 to 16, is how many of them are read; the rest is zero.
/// With 0 the source is not looked at.
void copyAsync(mlir::ImplicitLocOpBuilder &b, mlir::Value to, mlir::Value from,
               mlir::Value fill);

/// What the thread has asked for since the last time becomes a group, also of
/// none.
void commitCopies(mlir::ImplicitLocOpBuilder &b);

/// Waits until all but the thread's latest `pending` groups are there. Other
/// threads see them after a barrier.
void waitForCopies(mlir::ImplicitLocOpBuilder &b, unsigned pending);

} // namespace tfc

#endif // TFC_COMPILER_GPU_THREAD_ASYNCCOPIES_H
