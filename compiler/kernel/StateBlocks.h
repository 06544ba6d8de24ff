// Where the states of recurrent and convolutional layers lie: blocks of a
// sequence's whole state each, one read and one written.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_STATEBLOCKS_H
#define TFC_COMPILER_KERNEL_STATEBLOCKS_H

#include "compiler/kernel/KernelBuilder.h"

namespace tfc {

/// A block holds the numbers of each layer, f32, one layer behind the other.
struct StateLayout {
  explicit StateLayout(transformer::StateType type);

  /// Of the cache in the entry's list, behind that of its own tokens.
  static constexpr int64_t kNumber = 1;

  int64_t layers, layerBytes, blockBytes;
};

/// Writes to `entry` how its states are laid out. Fails where there are others
/// already.
llvm::LogicalResult describeState(mlir::func::FuncOp entry,
                                  transformer::StateType type);

/// A sequence of the step and its state, at run time.
struct SequenceState {
  mlir::Value firstToken, count; // indices
  mlir::Value isNew;             // it has no state yet: zeros
  /// Of the layer's numbers; where it is new, `from` is memory that may be read
  /// and holds arbitrary bytes.
  mlir::Value from, to;
};

/// The state of sequence `number` in `layer`, from the layer's number `first`
/// on; `step` is the pointer to the step.
SequenceState loadState(KernelBuilder &k, mlir::Value step,
                        const StateLayout &layout, mlir::Value number,
                        mlir::Value layer, int64_t first);

/// Bytes that the address of a number of a layer's state is a multiple of, when
/// it stands a multiple of `multiple` behind number `first`.
unsigned alignmentOfState(int64_t first, int64_t multiple);

/// How many sequences the step has.
mlir::Value countSequences(KernelBuilder &k, mlir::Value step);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_STATEBLOCKS_H
