// Rows of bytes two by two, as instructions that multiply matrices take them,
// and the sums of two rows, as these leave them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_ROWPAIRS_H
#define TFC_COMPILER_CPU_ROWPAIRS_H

#include "compiler/kernel/KernelBuilder.h"

namespace tfc {

/// Rows 2 i and 2 i + 1 of a product, eight bytes of the one and eight of the
/// other in turns, ended with zeros: what a register holds of both. A row
/// without a second one is there twice.
class RowPairs {
public:
  /// Bytes of a word of one row.
  static constexpr int64_t kWordBytes = 8;

  /// Of rows of so many bytes.
  RowPairs(KernelBuilder &builder, int64_t columns);

  /// From one row of a pair to the next, half of what a pair takes.
  int64_t rowBytes() const;

  /// In a place of its own the pairs of `tokens` rows at `x`, `xRowBytes` from
  /// one to the next; in parallel where there are many, and nothing where there
  /// is one row. Its address.
  mlir::Value emit(mlir::Value x, mlir::Value xRowBytes, mlir::Value tokens);

  /// Four sums of an instruction are two columns of one row and the same two of
  /// the next. Those of as many columns as a vector has are two vectors: from
  /// one of each row, or back, which is the other way round.
  static std::pair<mlir::Value, mlir::Value>
  pairSums(mlir::ImplicitLocOpBuilder &b, mlir::Value first,
           mlir::Value second);
  static std::pair<mlir::Value, mlir::Value>
  splitSums(mlir::ImplicitLocOpBuilder &b, mlir::Value first,
            mlir::Value second);

private:
  void emitPair(mlir::Value first, mlir::Value second, mlir::Value to);

  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
  int64_t columns;
};

} // namespace tfc

#endif // TFC_COMPILER_CPU_ROWPAIRS_H
