// Which structured ops of an entry are expanded, and what is written of its
// caches: what all expansions have in common.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_EXPANDENTRIES_H
#define TFC_COMPILER_KERNEL_EXPANDENTRIES_H

#include "compiler/kernel/KernelBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// How a target's kernels lie and what they become.
struct KernelExpansion {
  /// The layout of a cache.
  std::function<CacheGeometry(transformer::CacheType)> layOut;
  /// Whether `op` is expanded; an error of its operands is said.
  std::function<mlir::FailureOr<bool>(mlir::Operation *op)> takes;
  /// Expands an op that is taken; `step` and `workers` are those of its
  /// function.
  std::function<mlir::LogicalResult(mlir::Operation *op, mlir::Value step,
                                    mlir::Value workers,
                                    mlir::RewriterBase &rewriter)>
      expand;
};

/// Expands what `expansion` takes of the entries of `module` and of their
/// layers, describes their caches and states, and erases the arguments that
/// stood for these. The number of ops.
mlir::FailureOr<int64_t> expandEntries(mlir::ModuleOp module,
                                       const KernelExpansion &expansion);

/// Buffers are expected, an error otherwise.
mlir::LogicalResult expectBuffers(mlir::Operation *op);

/// Whether the loops of `op` are those of every target but for the width of
/// vectors: pools, neighbours, convolutions, recurrences, choices of experts
/// and the order of their rows; and their expansion in vectors of `lanes`, with
/// 1 in numbers.
bool isLaneKernel(mlir::Operation *op);
void expandLaneKernel(mlir::Operation *op, mlir::Value step, int64_t lanes,
                      mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_EXPANDENTRIES_H
