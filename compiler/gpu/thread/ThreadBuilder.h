// What kernels that are written for threads, warps and blocks are made of:
// numbers, addresses, loops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_THREAD_THREADBUILDER_H
#define TFC_COMPILER_GPU_THREAD_THREADBUILDER_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {

/// Lanes of a warp.
constexpr int32_t kWarpLanes = 32;

/// Emits what one thread does, at one place that moves with loops and branches.
/// Numbers are i32 and not negative, where nothing else is said; addresses are
/// LLVM pointers.
class ThreadBuilder {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  explicit ThreadBuilder(mlir::ImplicitLocOpBuilder &b) : b(b) {}

  mlir::ImplicitLocOpBuilder &builder() { return b; }

  /// Of this thread in its block, of its lane in its warp, of the warp in the
  /// block; the block's number on an axis of the grid.
  mlir::Value thread();
  mlir::Value lane();
  mlir::Value warp();
  mlir::Value blockX();
  mlir::Value blockY();
  /// How many blocks the grid has on that axis.
  mlir::Value blocksX();
  mlir::Value blocksY();

  mlir::Value number(int32_t value);
  mlir::Value zero(); // of f32
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, int32_t y);
  mlir::Value subtract(mlir::Value x, int32_t y);
  mlir::Value subtract(mlir::Value x, mlir::Value y);
  mlir::Value scale(mlir::Value x, int32_t factor);
  mlir::Value multiply(mlir::Value x, mlir::Value y);
  mlir::Value divide(mlir::Value x, int32_t divisor);
  mlir::Value divide(mlir::Value x, mlir::Value divisor);
  mlir::Value remainder(mlir::Value x, int32_t divisor);
  mlir::Value exclusiveOr(mlir::Value x, mlir::Value y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value isLess(mlir::Value x, mlir::Value y);
  mlir::Value both(mlir::Value x, mlir::Value y);
  mlir::Value addFloats(mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);

  /// The address of element `row` * `stride` + `column` of `element`, in
  /// numbers of 64 bits; null is 0.
  mlir::Value element(mlir::Value base, mlir::Type element, mlir::Value row,
                      mlir::Value stride, mlir::Value column);
  /// `offset` bytes on.
  mlir::Value bytes(mlir::Value base, mlir::Value offset);
  mlir::Value bytes(mlir::Value base, int32_t offset);
  mlir::Value load(mlir::Type type, mlir::Value address, unsigned alignment);
  /// The four floats at `address`, a multiple of 16.
  Values loadFloats(mlir::Value address);
  void store(mlir::Value value, mlir::Value address, unsigned alignment);
  /// Asks for `size` bytes of device memory from `address` on in the
  /// second-level cache, both multiples of 16.
  void prefetch(mlir::Value address, mlir::Value size);
  /// The address of device memory that `pointer`, a parameter, is.
  mlir::Value global(mlir::Value pointer);

  /// Waits until all threads of the block have come, and have written.
  void barrier();
  /// The same of the warp.
  void barrierOfWarp();

  void when(mlir::Value condition, llvm::function_ref<void()> then);
  /// What the one or the other gives, of `types`.
  Values choose(mlir::Value condition, mlir::TypeRange types,
                llvm::function_ref<Values()> then,
                llvm::function_ref<Values()> otherwise);
  /// x = inits; for i in [from, to) by step: x = body(i, x); the last x.
  Values loop(mlir::Value from, mlir::Value to, int32_t step,
              mlir::ValueRange inits,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);

private:
  mlir::Value wide(mlir::Value x);

  mlir::ImplicitLocOpBuilder &b;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_THREAD_THREADBUILDER_H
