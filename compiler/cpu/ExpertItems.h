// Work items of products whose rows are sorted by expert.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_EXPERTITEMS_H
#define TFC_COMPILER_CPU_EXPERTITEMS_H

#include "compiler/kernel/KernelBuilder.h"

namespace tfc {

/// Rows of one expert, for one panel of its matrix.
struct ExpertItem {
  mlir::Value expert, panel, firstRow, rows;
};

/// Cuts the rows of each expert into tiles of at most `item` rows, on the
/// calling thread: as many tiles as the experts that are there need, however
/// many others there are.
class ExpertItems {
public:
  /// `sorted`: a buffer with the expert of each row, ascending; there are
  /// `experts` of them.
  ExpertItems(KernelBuilder &builder, mlir::Value sorted, int64_t experts,
              int64_t item);

  /// In parallel, for every tile and each of `panels` panels. Items of an
  /// expert follow one another, and among them those of a panel, so that what
  /// is near is read again.
  void forEach(int64_t panels,
               llvm::function_ref<void(const ExpertItem &)> body);

private:
  mlir::Value countRows(mlir::Value sorted);
  mlir::Value load(mlir::Value buffer, mlir::ValueRange place);
  void store(mlir::Value index, mlir::Value buffer, mlir::ValueRange place);

  KernelBuilder &k;
  int64_t experts, item;
  mlir::Value tiles;    // what each is of, in numbers
  mlir::Value numTiles; // an index
};

} // namespace tfc

#endif // TFC_COMPILER_CPU_EXPERTITEMS_H
