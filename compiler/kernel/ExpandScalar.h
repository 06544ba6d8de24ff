// The plain expansion of the structured ops, kept as the second opinion: one
// query at a time, keys and values as rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_EXPANDSCALAR_H
#define TFC_COMPILER_KERNEL_EXPANDSCALAR_H

#include "compiler/kernel/KernelBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// A cache block of the scalar kernels: per layer, the keys of its positions as
/// rows [kv_heads * head_dim], of a quantized cache with scales [kv_heads]
/// behind each, then the values.
CacheGeometry getScalarCache(transformer::CacheType type);

/// Expands `op`; `step` is the pointer to the step, `workers` their number.
void expandScalar(transformer::CacheWriteOp op, mlir::Value step,
                  mlir::RewriterBase &rewriter);
void expandScalar(transformer::PagedAttentionOp op, mlir::Value step,
                  mlir::Value workers, mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_EXPANDSCALAR_H
