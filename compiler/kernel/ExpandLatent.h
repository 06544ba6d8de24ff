// Latent attention: appending and reading what heads share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_EXPANDLATENT_H
#define TFC_COMPILER_KERNEL_EXPANDLATENT_H

#include "compiler/kernel/KernelBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// Emits the op's two loops over work items: all rows into the cache, then the
/// attention, with heads in the lanes of vectors; with one lane in numbers. A
/// block of `cache` holds, per layer, the keys as they are,
/// [positions][head_dim]. An op that is erased; `step` and `workers` are those
/// of the function.
void expandLatent(transformer::PagedLatentOp op, const CacheGeometry &cache,
                  mlir::Value step, mlir::Value workers, int64_t lanes,
                  mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_EXPANDLATENT_H
