// Stretches of the tokens of sequences, as work of warps.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_RECURRENT_SEQUENCESTRETCH_H
#define TFC_COMPILER_GPU_RECURRENT_SEQUENCESTRETCH_H

#include "compiler/gpu/thread/WarpBuilder.h"

namespace tfc {

/// Some tokens of a sequence beside each other.
struct SequenceStretch {
  mlir::Value sequence; // its number in the step
  mlir::Value first;    // token, counted in the sequence's new ones
};

/// In parallel, for every stretch of `tokens` new tokens of a sequence of the
/// step, fewer at its end, every place in [0, places), and the lanes of a warp,
/// of which `warp` has the own one. A sequence without new tokens has an empty
/// stretch. How many tokens a sequence has is known to the device alone: a warp
/// looks for its stretch itself.
void forEachStretch(
    KernelBuilder &k, WarpBuilder &warp, mlir::Value step, int64_t tokens,
    int64_t places,
    llvm::function_ref<void(const SequenceStretch &, mlir::Value place)> body);

} // namespace tfc

#endif // TFC_COMPILER_GPU_RECURRENT_SEQUENCESTRETCH_H
