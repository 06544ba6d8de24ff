// The gpu.module of a program's kernels, which several passes fill.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_THREAD_KERNELMODULE_H
#define TFC_COMPILER_GPU_THREAD_KERNELMODULE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {

/// @kernels of `module`, which gets one where it has none. Fails, with an
/// error, where the name is taken: kernels that are an image take no more.
mlir::FailureOr<mlir::gpu::GPUModuleOp> findKernelModule(mlir::ModuleOp module);

/// An empty kernel at the end of `kernels`, in blocks of `threads` threads,
/// which a launch gives `sharedBytes` of shared memory.
mlir::gpu::GPUFuncOp createKernel(mlir::ImplicitLocOpBuilder &b,
                                  mlir::gpu::GPUModuleOp kernels,
                                  llvm::StringRef name, mlir::TypeRange types,
                                  int32_t threads, int32_t sharedBytes);

/// In a kernel, the address of the shared memory that its launch gives it: a
/// multiple of 128 bytes.
mlir::Value findSharedMemory(mlir::ImplicitLocOpBuilder &b,
                             mlir::gpu::GPUModuleOp kernels);

} // namespace tfc

#endif // TFC_COMPILER_GPU_THREAD_KERNELMODULE_H
