// Products with packed weights: parallel items of tiles, then the epilogue.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_EXPANDPRODUCT_H
#define TFC_COMPILER_CPU_EXPANDPRODUCT_H

#include "dialect/TransformerDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// product, on buffers -> parallel loop over (panel, rows of an item), whose
/// tiles are calls of the functions of ProductTiles, or, of dots with
/// `onTiles`, of AmxTiles. `step` points to the step, `workers` is the number
/// of workers. An error when nobody has chosen the op's tile, or the input's
/// rows do not lie a constant distance apart, or those of a head are not
/// written where the entry's output is.
mlir::LogicalResult expandProduct(transformer::ProductOp op, mlir::Value step,
                                  mlir::Value workers, bool onTiles,
                                  mlir::RewriterBase &rewriter);

} // namespace tfc

#endif // TFC_COMPILER_CPU_EXPANDPRODUCT_H
