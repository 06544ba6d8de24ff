// Kernels in the LLVM dialect -> PTX.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_IMAGE_GENERATEPTX_H
#define TFC_COMPILER_GPU_IMAGE_GENERATEPTX_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <string>

namespace tfc {

/// Version of the PTX language: the oldest that has all that is used, so that
/// drivers from CUDA 12.0 on take it.
inline constexpr llvm::StringLiteral kPtxFeature = "+ptx80";

/// The PTX of `kernels` for LLVM's architecture `chip` ("sm_80"). No product is
/// joined with a sum, and quotients and roots are rounded as IEEE 754 says.
/// Fails, with a diagnostic, where a kernel calls what nobody defines.
mlir::FailureOr<std::string> generatePtx(mlir::gpu::GPUModuleOp kernels,
                                         llvm::StringRef chip);

} // namespace tfc

#endif // TFC_COMPILER_GPU_IMAGE_GENERATEPTX_H
