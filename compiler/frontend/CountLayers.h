// The numbers of layers: in the stack, and among those that have keys and
// values, or a state, of their own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_FRONTEND_COUNTLAYERS_H
#define TFC_COMPILER_FRONTEND_COUNTLAYERS_H

#include "compiler/spec/ModelSpec.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {

/// Of the layers of a run, which all have the same sublayers.
using LayerPredicate = llvm::function_ref<bool(const spec::LayerRun &run)>;

/// Whether a layer has keys and values of its own; whether it keeps a state.
bool keepsKeys(const spec::LayerRun &run);
bool keepsState(const spec::LayerRun &run);

/// Whether layers that have keys are counted apart from the others, so that a
/// cache has room for them alone: where some keep a state instead or read the
/// keys of others, or have other heads, and no scale is by the layer's number.
bool countsApart(const spec::Stack &stack);

/// How many layers of the stack are so, and of a run that is, which of them its
/// layers are.
int64_t countLayers(const spec::Stack &stack, LayerPredicate has);
llvm::SmallVector<int64_t> numbersOf(const spec::Stack &stack,
                                     const spec::LayerRun &run,
                                     LayerPredicate has);
/// The same of a run with self-attention and of the layers whose keys its own
/// are, among those that keep such ones.
llvm::SmallVector<int64_t> keyNumbersOf(const spec::Stack &stack,
                                        const spec::LayerRun &run);

/// Numbers by the trip of a loop: an arithmetic progression where they are one,
/// a table otherwise.
class LayerCounter {
public:
  /// Builds the first number at `b`, in front of the loop; where that is 0 and
  /// `hasFirst` is false nothing is added.
  LayerCounter(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<int64_t> numbers,
               bool hasFirst);

  /// Of trip `index`, inside the loop.
  mlir::Value build(mlir::ImplicitLocOpBuilder &b, mlir::Value index) const;

private:
  llvm::SmallVector<int64_t> table; // empty: a progression
  mlir::Value first;
  int64_t step = 1;
};

} // namespace tfc

#endif // TFC_COMPILER_FRONTEND_COUNTLAYERS_H
