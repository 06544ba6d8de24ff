// The inner loops of products: one function for each number of rows, which all
// products of a program call.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_PRODUCTTILES_H
#define TFC_COMPILER_CPU_PRODUCTTILES_H

#include "dialect/PanelShape.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tfc {

/// The weights of one product, as its tiles read them: a panel is a row of
/// `width` words for each turn of k, a word being `columns` elements.
struct PanelLayout : transformer::PanelShape {
  explicit PanelLayout(mlir::ShapedType type, bool ofExperts = false)
      : PanelShape(type, ofExperts), element(type.getElementType()) {}

  mlir::Type element;
  int64_t rowBytes() const;
  /// Whether there are tiles that read it so for rows of `rowElement`: words of
  /// one element are widened, and so are those of two bf16; those of `dot` are
  /// factors as they are.
  bool isRead(transformer::ProductTileAttr tile, mlir::Type rowElement) const;
  /// The same panel of f32, a word being an element.
  PanelLayout widened() const;
};

/// What a tile asks for while it multiplies: nothing; the rows of its panel
/// that come a distance later; its part of the block that comes next.
struct TileRequests {
  bool ahead = false;
  /// Bytes of the next block for each word; 0 for none.
  int64_t next = 0;
  /// Columns of the last word, where these are not all.
  int64_t rest = 0;
  /// Whether it leaves its panel as f32 for those that come after it.
  bool keep = false;
};

/// What a tile's function is called with.
struct TileCall {
  mlir::Value x;         // pointer to the first row's first step
  mlir::Value rowBytes;  // from one row to the next
  mlir::Value pairs;     // pointer to the first pair's, where there are pairs
  int64_t pairBytes = 0; // from one pair to the next
  mlir::Value last;      // number of the last row; spare ones repeat it
  mlir::Value panel;     // pointer to the panel's first word
  mlir::Value words;     // whole ones, of k
  mlir::Value sums;      // pointer to the tile's sums, rows of a panel's width
  mlir::Value isFirst;   // i1: whether the sums begin at zero, not at `sums`
  mlir::Value next;      // pointer to what is asked for, if anything is
  mlir::Value kept;      // pointer to where the panel is left, if it is
};

/// Adds an empty function that the tiles of all products call.
mlir::func::FuncOp addTileFunction(mlir::ModuleOp module, llvm::StringRef name,
                                   mlir::TypeRange arguments);

/// Finds or makes the functions of one module, by what they differ in.
class ProductTiles {
public:
  /// Tiles of such panels, for rows of `rowElement`.
  ProductTiles(mlir::ModuleOp module, transformer::ProductTileAttr tile,
               const PanelLayout &layout, mlir::Type rowElement)
      : module(module), tile(tile), layout(layout), rowElement(rowElement) {}

  /// sums[r, n] (+)= sum_k x[min(r, last), k] panel[k, n], for r in [0, rows):
  /// from zero or from what is there, a multiply-add a column of k, in order,
  /// or a dot a word. Where two rows are multiplied together, tiles of several
  /// rows read them as RowPairs has them.
  void call(mlir::OpBuilder &builder, mlir::Location loc, int64_t rows,
            TileRequests requests, const TileCall &call);

  /// Words in a turn of the loop of a tile of `rows` rows.
  int64_t turn(int64_t rows) const;

private:
  mlir::func::FuncOp find(int64_t rows, TileRequests requests);

  mlir::ModuleOp module;
  transformer::ProductTileAttr tile;
  PanelLayout layout;
  mlir::Type rowElement;
};

} // namespace tfc

#endif // TFC_COMPILER_CPU_PRODUCTTILES_H
