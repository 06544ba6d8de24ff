// A convolution over stretches of tokens, all at once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_RECURRENT_STRETCHCONVOLUTION_H
#define TFC_COMPILER_GPU_RECURRENT_STRETCHCONVOLUTION_H

#include "dialect/TransformerDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// Whether what a convolution reads of the tokens before a stretch is no longer
/// than one (at most 9 taps).
bool fitsStretch(transformer::RaggedConvOp op);

/// Expands `op`, which fits a stretch, into a parallel loop over stretches of 8
/// tokens and vectors of columns; `step` is the pointer to the step. Sums are
/// those of a plain loop, to the bit.
void expandStretchConvolution(transformer::RaggedConvOp op, mlir::Value step,
                              mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_GPU_RECURRENT_STRETCHCONVOLUTION_H
