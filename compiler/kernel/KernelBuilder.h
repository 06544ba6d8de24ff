// What the emitters of kernels share: index arithmetic, loops, and the step's
// work items and cache blocks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_KERNELBUILDER_H
#define TFC_COMPILER_KERNEL_KERNELBUILDER_H

#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tfc/abi.h"

namespace tfc {

class KernelBuilder;

/// What the host must know of a cache: every layout gives each position and
/// layer the same bytes, keys and values together.
struct CacheGeometry {
  /// Blocks of `blockTokens` positions; items of at most `queryRows` queries.
  CacheGeometry(transformer::CacheType type, int64_t blockTokens,
                int64_t queryRows);

  /// `type`, f32 or a vector of them, from elements at `address`, and back;
  /// alignment is that of an element. Of a cache of integers what is loaded is
  /// without its scale, and what is stored are i32.
  mlir::Value load(KernelBuilder &k, mlir::Value address,
                   mlir::Type type) const;
  void store(KernelBuilder &k, mlir::Value value, mlir::Value address) const;

  /// Of the cache in the entry's list.
  int64_t number() const { return isCross ? TFC_CACHE_CROSS : TFC_CACHE_SELF; }

  int64_t blockTokens, queryRows;
  bool isCross;
  mlir::Type element;   // of keys and values
  int64_t elementBytes; // its
  /// One position's keys in a layer, with their scales; its values as many, of
  /// latents none.
  int64_t rowBytes;
  int64_t layerBytes; // from one layer to the next; 0 in a scratch cache
  int64_t firstByte;  // of the part's first layer in a block
  int64_t blockBytes; // of all parts
};

/// A work item at run time, all indices.
struct WorkItem {
  mlir::Value sequence;   // its number in the step
  mlir::Value firstRow;   // its first query, counted in the sequence
  mlir::Value rows;       // its queries
  mlir::Value firstToken; // of the sequence, in the step
  mlir::Value past;
  mlir::Value keys;   // how many positions the cache shows
  mlir::Value blocks; // pointer to block numbers of the cache
};

/// A part of a work item: usually a head of it.
struct ItemPart {
  WorkItem item;
  mlir::Value part;
};

/// Writes to `entry` how the blocks of its cache of this type are laid out: one
/// attribute for a cache of its own tokens, whatever its parts, one for a cross
/// cache. Fails where there is one already.
llvm::LogicalResult describeCache(mlir::func::FuncOp entry,
                                  transformer::CacheType type,
                                  const CacheGeometry &cache);

/// Emits index arithmetic and loops at one place that moves with them.
class KernelBuilder {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  /// `step` is the pointer to the step.
  KernelBuilder(mlir::Location loc, mlir::OpBuilder &builder, mlir::Value step)
      : b(loc, builder), step(step) {}

  mlir::ImplicitLocOpBuilder &builder() { return b; }

  mlir::Value constant(int64_t value);
  mlir::Value number(double value); // f32
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, int64_t y);
  mlir::Value subtract(mlir::Value x, mlir::Value y);
  mlir::Value scale(mlir::Value x, int64_t factor);
  mlir::Value divide(mlir::Value x, int64_t divisor); // rounds down; x >= 0
  mlir::Value remainder(mlir::Value x, int64_t divisor);
  mlir::Value roundUpDivide(mlir::Value x, int64_t divisor);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, mlir::Value y);
  mlir::Value isLess(mlir::Value x, mlir::Value y);
  mlir::Value isAtMost(mlir::Value x, mlir::Value y);
  mlir::Value isEqual(mlir::Value x, mlir::Value y);
  mlir::Value pointer(mlir::Value address); // of an index

  /// if condition: then(), else: otherwise(), if there is one
  void when(mlir::Value condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise = nullptr);

  /// for i in [from, to) by step: body(i)
  void loop(mlir::Value from, mlir::Value to, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  void loop(mlir::Value count, llvm::function_ref<void(mlir::Value)> body) {
    loop(constant(0), count, 1, body);
  }
  /// The same with values carried from round to round; returns the last ones.
  Values loop(mlir::Value from, mlir::Value to, int64_t step,
              mlir::ValueRange inits,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);
  /// x = init; for i in [0, count): x = body(i, x)
  mlir::Value
  reduce(mlir::Value count, mlir::Value init,
         llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> body);

  /// In parallel, for every work item and every part of it in [0, parts). The
  /// items are the inner loop: those of a sequence, one after the other, find
  /// the keys and values of their part (head) in the cache of the core. `next`
  /// is what most likely follows on this core, to be asked for ahead of time.
  void forEachItem(
      const CacheGeometry &cache, int64_t parts,
      llvm::function_ref<void(const ItemPart &own, const ItemPart &next)> body);
  /// In parallel, for every work item.
  void forEachItem(const CacheGeometry &cache,
                   llvm::function_ref<void(const WorkItem &)> body);
  /// In parallel, for every work item and every place in `axes` of it, the last
  /// of which is the fastest.
  void forEachPlace(
      const CacheGeometry &cache, llvm::ArrayRef<int64_t> axes,
      llvm::function_ref<void(const WorkItem &, mlir::ValueRange)> body);
  void forEachPlace(
      const CacheGeometry &cache, llvm::ArrayRef<mlir::Value> axes,
      llvm::function_ref<void(const WorkItem &, mlir::ValueRange)> body);

  /// The most rows that an item of the step has, or a bound of it: one where
  /// there are as many items as tokens, as in a step of generation.
  mlir::Value mostRows(const CacheGeometry &cache);

  /// An element of a buffer of floats, as f32; and back, rounded to what the
  /// buffer keeps.
  mlir::Value loadFloat(mlir::Value buffer, mlir::ValueRange place);
  void storeFloat(mlir::Value value, mlir::Value buffer,
                  mlir::ValueRange place);

  /// Asks for `count` columns from `column` on of a row of `rows`, a buffer
  /// (tokens x columns): that of the item's query `row`, or of its last one. A
  /// row at a time: many requests in one burst are waited for.
  void prefetchRow(mlir::Value rows, const WorkItem &item, mlir::Value row,
                   mlir::Value column, int64_t count);

  /// Pointer to a layer in the item's block `number`.
  mlir::Value blockAddress(const CacheGeometry &cache, const WorkItem &item,
                           mlir::Value number, mlir::Value layer);

  /// Where query `row` of the item is in its sequence.
  mlir::Value position(const WorkItem &item, mlir::Value row);

private:
  WorkItem loadItem(mlir::Value number, const CacheGeometry &cache);

  mlir::ImplicitLocOpBuilder b;
  mlir::Value step;
};

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_KERNELBUILDER_H
