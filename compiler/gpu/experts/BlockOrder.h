// Rows sorted by expert: a block does them all.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_EXPERTS_BLOCKORDER_H
#define TFC_COMPILER_GPU_EXPERTS_BLOCKORDER_H

#include "dialect/TransformerDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// Whether shared memory has a counter for each expert and warp.
bool fitsBlock(transformer::SortByExpertOp op);

/// Expands `op`, which fits a block, into a parallel loop over the threads of
/// one: its warps count a part of the pairs of a row and an expert each, one
/// finds where every expert's begin in each part, and then all put them there.
/// Of few pairs a thread for each expert looks at all of them instead.
void expandBlockOrder(transformer::SortByExpertOp op,
                      mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_GPU_EXPERTS_BLOCKORDER_H
