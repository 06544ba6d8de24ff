// Products of tiles in the registers of a warp: tensor cores.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCT_MATRIXFRAGMENTS_H
#define TFC_COMPILER_GPU_PRODUCT_MATRIXFRAGMENTS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <array>

namespace tfc {

/// Pairs of elements of 16 bits as i32. Of a matrix of 16 rows and 16 columns,
/// lane l has, with g = l / 4 and t = l % 4, the pairs at (g, 2t), (g + 8, 2t),
/// (g, 2t + 8) and (g + 8, 2t + 8); of one of 16 rows and 8 columns that is a
/// product's right side, the elements of column g in rows 2t, 2t + 1 and 2t +
/// 8, 2t + 9. (PTX ISA, "Matrix Fragments for mma.m16n8k16".)
using LeftFragment = std::array<mlir::Value, 4>;
using RightFragment = std::array<mlir::Value, 2>;
/// Sums in f32 of 16 rows and 8 columns: (g, 2t), (g, 2t + 1), (g + 8, 2t),
/// (g + 8, 2t + 1).
using SumFragment = std::array<mlir::Value, 4>;

/// left x right + sums by all lanes of a warp, which come together there. The
/// elements are bf16 or f16, as `element` says.
SumFragment multiplyFragments(mlir::ImplicitLocOpBuilder &b, mlir::Type element,
                              const LeftFragment &left,
                              const RightFragment &right,
                              const SumFragment &sums);

/// Four tiles of 8 x 8 elements of 16 bits from shared memory, by all lanes of
/// a warp. Lane 8 i + r has the address of row r of tile i, a multiple of 16
/// bytes; lane l gets the pair at (l / 4, 2 (l % 4)) of each tile, or of its
/// transpose.
LeftFragment loadTiles(mlir::ImplicitLocOpBuilder &b, mlir::Value address,
                       bool isTransposed = false);

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCT_MATRIXFRAGMENTS_H
