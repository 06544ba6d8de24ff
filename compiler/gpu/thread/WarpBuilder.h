// What the lanes of a warp tell each other.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_THREAD_WARPBUILDER_H
#define TFC_COMPILER_GPU_THREAD_WARPBUILDER_H

#include "compiler/kernel/KernelBuilder.h"

namespace tfc {

/// Emits exchanges that all 32 lanes of a warp take part in.
class WarpBuilder {
public:
  using Combination = llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)>;

  explicit WarpBuilder(KernelBuilder &k) : k(k) {}

  static constexpr int64_t kLanes = 32;

  /// The value combined with that of the lane whose number differs in the bit
  /// `distance`.
  mlir::Value exchange(mlir::Value value, int32_t distance, Combination how);
  /// Of the values of `count` neighbours, a power of two, the same bits in
  /// each: pairs of lanes combine the same two values.
  mlir::Value combine(mlir::Value value, int32_t count, Combination how);
  /// The same of several values, side by side, so that their exchanges wait
  /// together.
  KernelBuilder::Values combine(mlir::ValueRange values, int32_t count,
                                Combination how);
  /// Of all lanes.
  mlir::Value sum(mlir::Value value);
  mlir::Value maximum(mlir::Value value);
  /// Of the lanes up to this one, of integers of 32 bits.
  mlir::Value sumUpTo(mlir::Value value);
  /// The value of the lane at `place`, an index.
  mlir::Value valueOf(mlir::Value value, mlir::Value place);

  mlir::Value lane; // an index

private:
  KernelBuilder &k;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_THREAD_WARPBUILDER_H
