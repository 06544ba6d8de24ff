// The tiles of an item of a product, one after the other: which function each
// of them is, what it reads and what it asks for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_ITEMTILES_H
#define TFC_COMPILER_CPU_ITEMTILES_H

#include "compiler/cpu/ProductTiles.h"
#include "compiler/cpu/WordProduct.h"
#include "compiler/kernel/KernelBuilder.h"

namespace tfc {

/// A block of a panel, and where one of an item's tiles is. Numbers count from
/// the item's first row.
struct ItemTile {
  mlir::Value row, rows; // the tile's first row; how many it has
  mlir::Value itemRows;  // how many the item has
  mlir::Value panel;     // address of the block's first word
  mlir::Value kept;      // address of the worker's place for it as f32
  mlir::Value x;         // address of the tile's first row, the block's step
  mlir::Value xRowBytes; // from one row to the next
  mlir::Value pairs;     // address of its first pair, where there are pairs
  int64_t pairBytes = 0; // from one pair to the next
  mlir::Value sums;      // address
  mlir::Value isFirst;   // i1: whether the block is the first
};

/// Of one product. All tiles of an item read the same block. Where the panel
/// has 16 bits to be widened, the first one leaves it as f32 for the others,
/// since widening takes the place of multiply-adds (docs/rationale/0019): if
/// there are enough of them.
class ItemTiles {
public:
  /// Tiles over `steps` steps of k, of rows of `rowElement`.
  ItemTiles(KernelBuilder &builder, mlir::ModuleOp module,
            transformer::ProductTileAttr tile, const PanelLayout &layout,
            mlir::Type rowElement, int64_t steps);

  /// Whether `kept` is needed, with room for `steps` rows of a panel's width.
  bool keeps() const { return !isDot() && !layout.element.isF32(); }
  /// Words of a block, but for a part of one behind them, and steps of k.
  int64_t words() const { return block; }
  int64_t steps() const;
  /// Blocks that k is cut into.
  int64_t blocks() const { return block == 0 ? 1 : allWords / block; }

  /// Calls what computes one.
  void call(const ItemTile &at);

private:
  bool isDot() const { return WordProduct::isOf(tile); }
  /// What tiles with all rows ask for: of panels as they lie, and of f32.
  struct Requests {
    TileRequests narrow, wide;
  };

  int64_t findBlock() const;
  void chooseRequests();
  void callTile(ProductTiles &of, int64_t rows, const TileRequests &requests,
                const TileCall &call);
  void callNarrowest(llvm::ArrayRef<int64_t> widths, const ItemTile &at,
                     const TileCall &call);
  void callWidest(const ItemTile &at, mlir::Value part,
                  const Requests &requests, TileCall call);

  KernelBuilder &k;
  transformer::ProductTileAttr tile;
  PanelLayout layout;
  int64_t allWords; // of k, whole ones
  int64_t rest;     // columns of a word that k ends in, where not all of it
  ProductTiles tiles, wideTiles;
  int64_t block;
  Requests whole, few; // of the tiles of items with all rows, and others
};

} // namespace tfc

#endif // TFC_COMPILER_CPU_ITEMTILES_H
