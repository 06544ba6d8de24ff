// The inner loops of products in registers of AMX's tiles: one function that
// all items of a program call.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_AMXTILES_H
#define TFC_COMPILER_CPU_AMXTILES_H

#include "compiler/cpu/ItemTiles.h"

#include <optional>

namespace tfc {

/// An item of a product: addresses of its first row, of its panel's first word,
/// and of its sums, rows of a panel's width.
struct AmxItem {
  mlir::Value rows; // how many it has
  mlir::Value x, panel, sums;
};

/// Of one product. A register has 16 rows of 64 bytes: of x 16 words of k for
/// each of 16 rows, of a panel 16 columns of each of 16 words, of sums 16
/// columns of 16 rows. Six of the eight have sums, of 32 rows and a panel; the
/// others x and the panel, one after the other.
///
/// A turn is 16 words. An instruction takes all of them, from zero: of bf16 the
/// first columns of words in order, apart the second ones, and adds both and
/// then the old sum. The words behind the last whole turn are dots of vectors,
/// which begin with these sums (WordProduct), so that nothing is read behind a
/// row or a panel. A row's bits depend on the row and the panel alone, so any
/// tile gives the same; of integers any order does, and few rows are dots of
/// vectors throughout, which take a row at a time.
///
/// A function configures the registers and releases them: no other code finds
/// any in use. Tiles of fewer rows are configured as such, and read no others.
/// Instructions: Intel 64 and IA-32 Architectures Software Developer's Manual,
/// TDPBF16PS, TDPBUSD, LDTILECFG.
class AmxTiles {
public:
  /// Tiles over `steps` steps of k, of rows of `rowElement`, `rowBytes` from
  /// one to the next.
  AmxTiles(KernelBuilder &builder, mlir::ModuleOp module,
           transformer::ProductTileAttr tile, const PanelLayout &layout,
           mlir::Type rowElement, int64_t steps, mlir::Value rowBytes);

  /// Whether panels are as tiles read them, for rows of `rowElement`.
  static bool isRead(const PanelLayout &layout, mlir::Type rowElement);

  /// Computes the sums of an item.
  void call(const AmxItem &at);

private:
  mlir::func::FuncOp find();
  void callTiles(const AmxItem &at);
  void callRest(const AmxItem &at);
  /// Whether a panel and the next are in the cache beside each other, so that
  /// an item asks for the next one.
  bool asksNext() const {
    return layout.words * layout.rowBytes() <= tile.getNextBytes();
  }

  KernelBuilder &k;
  mlir::ModuleOp module;
  transformer::ProductTileAttr tile;
  PanelLayout layout;
  mlir::Type rowElement;
  int64_t turns;                 // whole ones, of k
  std::optional<ItemTiles> few;  // all of k, for few rows
  std::optional<ItemTiles> rest; // what is behind the turns
  mlir::Value rowBytes;
};

} // namespace tfc

#endif // TFC_COMPILER_CPU_AMXTILES_H
