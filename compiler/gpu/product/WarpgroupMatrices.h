// Products of tiles in shared memory by four warps together: wgmma, which
// compute capability 9.0 has and no later one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCT_WARPGROUPMATRICES_H
#define TFC_COMPILER_GPU_PRODUCT_WARPGROUPMATRICES_H

#include "compiler/gpu/product/MatrixFragments.h"

namespace tfc {

/// Warps beside each other, the first of which has a multiple of 4 for its
/// number.
constexpr int32_t kWarpgroupWarps = 4;
constexpr int32_t kWarpgroupThreads = kWarpgroupWarps * 32;
/// Rows of a product of theirs.
constexpr int32_t kWarpgroupRows = 64;
/// Of rows that are 128 bytes long and swizzled, eight of which repeat.
constexpr int32_t kSwizzleBytes = 1024;

/// Says where a tile lies: rows of 64 elements of 16 bits one after the other,
/// chunk c of 16 bytes of row r at place c xor r % 8, the first at a multiple
/// of 1024 bytes. A product of 16 columns of it begins at `address`, a pointer
/// to shared memory, with the first two chunks of a row that is a multiple of
/// 8; those of the next 16 columns begin `kNextColumns` behind. An i64. (PTX
/// ISA, "Matrix Descriptor Format" of wgmma; swizzle of 128 bytes.)
mlir::Value describeTile(mlir::ImplicitLocOpBuilder &b, mlir::Value address);
constexpr int64_t kNextColumns = 2;
/// `bytes`, a multiple of 16, as an addend of such a description.
constexpr int64_t describeBytes(int64_t bytes) { return bytes / 16; }

/// The same tile as the right side of a product, transposed: its rows are the
/// steps of k, and its columns those of the result. Those beyond 64 are in
/// further panels, each `panelBytes` behind the one before; the next 16 rows
/// begin `kNextRows` behind.
mlir::Value describeRows(mlir::ImplicitLocOpBuilder &b, mlir::Value address,
                         int64_t panelBytes);
constexpr int64_t kNextRows = 16 * 128 / 16;

/// The sums of a warpgroup in f32: of 64 rows and `columns` of them, a multiple
/// of 8, all zero. Warp w has rows 16 w to 16 w + 15, as fragments of 8 columns
/// side by side (SumFragment).
mlir::Value zeroSums(mlir::ImplicitLocOpBuilder &b, int32_t columns);
/// Of the lane's own, and these, fragment by fragment.
mlir::Value makeSums(mlir::ImplicitLocOpBuilder &b,
                     llvm::ArrayRef<mlir::Value> own);
llvm::SmallVector<mlir::Value> takeSums(mlir::ImplicitLocOpBuilder &b,
                                        mlir::Value sums);

/// What the threads did to sums before comes before what they ask for now.
void orderSums(mlir::ImplicitLocOpBuilder &b);
/// Asks for sums + left x right over 16 steps of k, both as described, of
/// elements bf16 or f16. Neither the sums nor the tiles are to be touched
/// before waitForProducts. With `isFirst` what the sums were does not matter.
mlir::Value multiplyTiles(mlir::ImplicitLocOpBuilder &b, mlir::Type element,
                          mlir::Value left, mlir::Value right, mlir::Value sums,
                          bool isFirst = false);
/// The same of a left side in registers, each warp's of its own 16 rows, and a
/// right side as describeRows says. The left side is not to be touched, either.
mlir::Value multiplyRows(mlir::ImplicitLocOpBuilder &b, mlir::Type element,
                         const LeftFragment &left, mlir::Value right,
                         mlir::Value sums);
/// What was asked for since the last time becomes a group.
void commitProducts(mlir::ImplicitLocOpBuilder &b);
/// Waits for all but the latest `pending` groups.
void waitForProducts(mlir::ImplicitLocOpBuilder &b, unsigned pending);
/// What the thread has written to shared memory, or has waited for, is there
/// for the products that are asked for after a barrier.
void showProducts(mlir::ImplicitLocOpBuilder &b);

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCT_WARPGROUPMATRICES_H
