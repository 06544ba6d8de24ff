// Which experts a row takes: a warp does a row.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_EXPERTS_WARPCHOICE_H
#define TFC_COMPILER_GPU_EXPERTS_WARPCHOICE_H

#include "dialect/TransformerDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// Whether a warp's registers hold a row's scores (of at most 1024 experts),
/// its lanes have one of the experts that it takes each, and the choice is by
/// scores alone, not by what is left of them.
bool fitsWarp(transformer::ChooseExpertsOp op);

/// Expands `op`, which fits a warp, into a parallel loop over rows and the 32
/// lanes of a warp: each has every 32nd expert. Sums go over lanes, in an order
/// that no other row changes.
void expandWarpChoice(transformer::ChooseExpertsOp op,
                      mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_GPU_EXPERTS_WARPCHOICE_H
