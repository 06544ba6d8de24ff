// How a word of a row is multiplied by words of a panel: by instructions that
// take all of it at once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_WORDPRODUCT_H
#define TFC_COMPILER_CPU_WORDPRODUCT_H

#include "dialect/TransformerDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {

/// Words of 32 bits of a row, and vectors of as many elements of a panel for
/// each of its columns: two bf16 and two bf16; four bytes without a sign, or by
/// NEON with one, and four with one; two integers of 16 bits and two bytes. Or
/// words of 64 bits, eight bytes and eight with a sign, of two rows at a time.
class WordProduct {
public:
  WordProduct(transformer::ProductTileAttr tile, mlir::Type rowElement,
              mlir::Type weightElement)
      : kind(tile.getKind()), rows(tile.getRows()), lanes(tile.getLanes()),
        rowElement(rowElement), weightElement(weightElement) {}

  /// Whether a tile's products are of words.
  static bool isOf(transformer::ProductTileAttr tile) {
    return tile.getKind() == transformer::ProductKind::Dot ||
           tile.getKind() == transformer::ProductKind::SignedDot ||
           isPaired(tile);
  }
  /// Whether instructions take words of two rows at once, and of two columns.
  static bool isPaired(transformer::ProductTileAttr tile) {
    return tile.getKind() == transformer::ProductKind::SignedMatrix;
  }

  /// sum + of each word of 32 bits the four products of bytes, `first` without
  /// a sign, or by `SignedDot` with one, and `second` with one.
  static mlir::Value multiplyBytes(mlir::ImplicitLocOpBuilder &b,
                                   transformer::ProductKind kind,
                                   mlir::Value sum, mlir::Value first,
                                   mlir::Value second);

  /// Whether there are instructions for such words, and vectors of the tile's
  /// lanes.
  bool isKnown() const;
  /// What the sums are.
  mlir::Type sumElement() const;
  /// Elements of a word.
  int64_t columns() const {
    return (isMatrix() ? 64 : 32) / rowElement.getIntOrFloatBitWidth();
  }
  /// Of a row, or of two where they are multiplied together and there are two.
  int64_t wordBytes(bool ofPair) const {
    return !isMatrix() ? 4 : ofPair ? 16 : 8;
  }
  /// Whether an instruction adds to the sums, too. Where another one does, the
  /// code generator adds up the products of several words first, which takes
  /// registers.
  bool addsUp() const { return !isWide(); }

  /// The row's word at `place`, of which there are `count` elements; behind a
  /// row's end are zeros.
  mlir::Value loadRow(mlir::ImplicitLocOpBuilder &b, mlir::Value place,
                      int64_t count) const;
  /// The same of two rows, whose bytes are together: eight of one, eight of the
  /// other.
  mlir::Value loadPair(mlir::ImplicitLocOpBuilder &b, mlir::Value place) const;
  /// `width` words of weights at `place`, as `multiply` takes them.
  mlir::Value loadWeights(mlir::ImplicitLocOpBuilder &b, mlir::Value place,
                          int64_t width, int64_t count) const;
  /// sum + row * weights, element by element of the sum; of words of two rows
  /// as RowPairs has sums. A single row's is taken for both.
  mlir::Value multiply(mlir::ImplicitLocOpBuilder &b, mlir::Value sum,
                       mlir::Value row, mlir::Value weights) const;

private:
  bool isMatrix() const {
    return kind == transformer::ProductKind::SignedMatrix;
  }
  bool isBf16() const { return rowElement.isBF16(); }
  bool isWide() const { return rowElement.isInteger(16); }

  transformer::ProductKind kind;
  int64_t rows, lanes;
  mlir::Type rowElement, weightElement;
};

} // namespace tfc

#endif // TFC_COMPILER_CPU_WORDPRODUCT_H
