// The one order in which attention of f32 computes a query, whichever kernel
// does it: a row's bits are those that it has in any other step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_FLOATORDER_H
#define TFC_COMPILER_GPU_ATTENTION_FLOATORDER_H

#include "compiler/gpu/thread/WarpBuilder.h"

namespace tfc {

/// A query's positions come in chunks, at multiples of kFloatChunk. Of a chunk:
/// * A product with a key is one chain of fused multiply-adds, from 0, over the
///   head's columns in order.
/// * `highest` becomes the larger of itself and the chunk's scores. The weight
///   of a position is exp(score - highest), or 0 where the query does not see
///   it. The decay is exp(before - highest).
/// * The total is kTotalParts numbers, the part of a position its number modulo
///   as many: part = fma(part, decay, weights of the chunk), where weights 32
///   positions apart are added, then those 16 apart, then those 8 apart.
/// * A column's sum is multiplied by the decay, then a chain of fused
///   multiply-adds over the positions in order.
/// At the end parts 4 apart are added, those 2 apart and both that are left. A
/// sink is a position before all others, of part 0. The result is sum * (1 /
/// total), where no sum is -0.
///
/// Chunks and positions that a query does not see change nothing, as long as
/// their values are finite: a decay of 1, sums to which 0 is added. So a kernel
/// may go through them or not; -0 would become 0, which is why the end says so.
constexpr int64_t kFloatChunk = 64;
constexpr int64_t kTotalParts = 8;

/// The total of the parts, which neighbouring lanes have, in all of them.
mlir::Value addTotalParts(WarpBuilder &warp, mlir::ImplicitLocOpBuilder &b,
                          mlir::Value part);
/// Two exchanges: of a lane's weights, added up, and those of the lanes 16 and
/// 8 from it.
mlir::Value addChunkWeights(WarpBuilder &warp, mlir::ImplicitLocOpBuilder &b,
                            mlir::Value weight);
/// 1 / total
mlir::Value buildShare(mlir::ImplicitLocOpBuilder &b, mlir::Value total);
/// The result of a column.
mlir::Value buildMean(mlir::ImplicitLocOpBuilder &b, mlir::Value sum,
                      mlir::Value share);

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_FLOATORDER_H
