// From device memory to a stage of a product's operands in shared memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCT_STAGECOPIES_H
#define TFC_COMPILER_GPU_PRODUCT_STAGECOPIES_H

#include "compiler/gpu/product/ProductForm.h"
#include "compiler/gpu/thread/ThreadBuilder.h"

namespace tfc {

/// A stage has kSteps steps of k of some rows of x, and behind them of some
/// rows of w, each at a place of its own. Chunk c of a row, of 16 bytes, lies
/// at place c xor r % 8 of row r, so that eight rows of one chunk, and the
/// eight copies of a row, meet all banks; and as `wgmma` reads operands whose
/// rows of 128 bytes are swizzled. With a gate, w's rows are 8 of the gate and
/// 8 of the product in turns. All threads of a block share the copies.
class StageCopies {
public:
  static constexpr int32_t kSteps = 64;
  /// Of a row of x in a stage, and of one of w in 16 bits.
  static constexpr int32_t kRowBytes = kSteps * 2;

  /// Threads of the block, rows of both in a stage, where in it those of w
  /// begin, in bytes.
  struct Shape {
    int32_t threads, inputRows, weightRows, weightsOffset;
  };
  /// Where chunk `chunk` of row `row` of x, or of w, lies in its row.
  using PlaceOf = llvm::function_ref<mlir::Value(
      bool isInput, mlir::Value chunk, mlir::Value row)>;

  /// For the tile that begins at row `firstRow` of x and, of the result, column
  /// `firstColumn`. Without `placeOf`, chunks lie as said above.
  StageCopies(ThreadBuilder &t, const ProductForm &form,
              const ProductOperands &operands, const Shape &shape,
              mlir::Value firstRow, mlir::Value firstColumn,
              PlaceOf placeOf = nullptr);

  /// Asks for what stage number `stage` has, to be at `base`. Rows and steps of
  /// k that there are not are zeros; of integers there are all steps of a
  /// stage.
  void request(mlir::Value base, mlir::Value stage);

private:
  /// One operand's part of a stage: from where, and what it has.
  struct Source {
    mlir::Type element;
    int32_t rowBytes;   // of a row of a stage
    int32_t rows;       // of a stage
    int32_t offset;     // in a stage
    int32_t share;      // rows of a stage for one of the operand's
    mlir::Value row;    // address of the thread's first row, at its chunk
    mlir::Value number; // of that row
    mlir::Value count;  // of rows there are
    mlir::Value stride;
    mlir::Value chunk;  // where in a row the thread's copies begin, in elements
    mlir::Value copyTo; // the place of its first copy in a stage

    /// Copies that make up a row of a stage.
    int32_t chunks() const;
    int32_t elementsOf(int32_t bytes) const;
  };

  void findInput(mlir::Value firstRow, PlaceOf placeOf);
  void findWeights(mlir::Value firstColumn, PlaceOf placeOf);
  void findCopies(Source &source, mlir::Value base, mlir::Value first,
                  mlir::Value row, PlaceOf placeOf);
  /// Rows that all threads of the block copy at once.
  int32_t together(const Source &source) const {
    return shape.threads / source.chunks();
  }
  void requestRows(const Source &source, mlir::Value base, mlir::Value stage);

  ThreadBuilder &t;
  const ProductForm &form;
  const ProductOperands &p;
  Shape shape;
  Source input, weights;
};

/// Of a ring of `stages`, the place behind `slot`.
mlir::Value nextSlot(ThreadBuilder &t, mlir::Value slot, int32_t stages);

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCT_STAGECOPIES_H
