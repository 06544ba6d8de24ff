// The inner loops of products with integers that have groups of columns, whose
// sums are integers within a group and floats from group to group.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_GROUPTILES_H
#define TFC_COMPILER_CPU_GROUPTILES_H

#include "compiler/cpu/ProductTiles.h"
#include "compiler/kernel/KernelBuilder.h"

namespace tfc {

/// Where a tile's rows are, and what they are multiplied with: addresses.
struct GroupTile {
  mlir::Value rows;    // how many it has
  mlir::Value x;       // of the first row
  mlir::Value offsets; // of the first row's
  mlir::Value panel;   // of the first word
  mlir::Value scales;  // of the first group's
  mlir::Value zeros;   // of the first group's; null where there are none
  mlir::Value sums;    // where they are left, rows of a panel's width
};

/// Of one product: rows of bytes, `rowBytes` from one to the next.
///
/// Weights are of four bits or bytes, and are read as numbers without a sign,
/// bytes of a `SignedDot` as they are: a group's sum begins with what comes off
/// for its zero point, which is 8, or 128 of bytes, where there are no zeros.
/// Where zeros are floats it begins with nothing, and what comes off is one
/// more multiply-add of floats. Scales and such zeros of 16 bits are widened as
/// they are read. Integers have no order of sums, and groups are
/// added in theirs, so that any row's bits are the same in every tile and for
/// every instruction.
class GroupTiles {
public:
  GroupTiles(KernelBuilder &builder, mlir::ModuleOp module,
             transformer::ProductTileAttr tile, const PanelLayout &layout,
             int64_t columns, int64_t groups, mlir::Type scales,
             mlir::Type zeros, mlir::Value rowBytes)
      : k(builder), module(module), tile(tile), layout(layout),
        isByte(layout.words * layout.columns == columns),
        group(columns / groups), groups(groups), scales(scales), zeros(zeros),
        rowBytes(rowBytes) {}

  /// Whether there are instructions for tiles of such vectors and panels.
  static bool isKnown(transformer::ProductTileAttr tile,
                      const PanelLayout &layout);

  /// The sums of all groups of `tokens` rows at `x`, with a minus: times their
  /// zero points, what comes off a product's. Where all of those are kFourZero,
  /// or of bytes kExcess, times that. Where zeros are floats, the sums. In a
  /// place of its own, [T, G] of i32; in parallel where there are many.
  mlir::Value emitOffsets(mlir::Value x, mlir::Value tokens);
  int64_t offsetBytes() const { return groups * 4; }

  /// Computes the sums of one tile.
  void call(const GroupTile &at);

private:
  int64_t impliedZero() const;
  mlir::func::FuncOp find(int64_t rows);
  void callNarrowest(llvm::ArrayRef<int64_t> widths, const GroupTile &at);

  KernelBuilder &k;
  mlir::ModuleOp module;
  transformer::ProductTileAttr tile;
  PanelLayout layout;
  bool isByte;           // or four bits
  int64_t group, groups; // columns of one, and how many there are
  mlir::Type scales;     // f32, f16 or bf16
  mlir::Type zeros;      // an i8, or one of those; null where there are none
  mlir::Value rowBytes;
};

} // namespace tfc

#endif // TFC_COMPILER_CPU_GROUPTILES_H
