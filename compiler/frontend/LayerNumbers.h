// The numbers in which the layers of a run differ: constants where they are
// equal, else loads from a table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_FRONTEND_LAYERNUMBERS_H
#define TFC_COMPILER_FRONTEND_LAYERNUMBERS_H

#include "compiler/spec/ModelSpec.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {

/// An attention in each layer of a run.
using AttentionOfLayers = llvm::SmallVector<const spec::Attention *>;
AttentionOfLayers listAttentions(const spec::LayerRun &run, size_t sublayer);

/// The kinds of rotation in a run, which turn the same columns, and each
/// layer's. A layer without rotation is turned by zeros, which changes nothing.
struct RotaryKinds {
  std::vector<spec::Rotary> kinds;
  llvm::SmallVector<int64_t> ofLayers;
};
/// Of an attention that some layer has rotation in.
RotaryKinds listRotations(const AttentionOfLayers &layers);

/// values[index], where `index` counts the layers of the run.
mlir::Value buildLayerIndex(mlir::ImplicitLocOpBuilder &b, mlir::Value index,
                            llvm::ArrayRef<int64_t> values);

/// How far tokens see to the left and, null in causal attention, to the right;
/// both null where no layer has a window.
struct WindowEnds {
  mlir::Value left, right;
};
WindowEnds buildWindow(mlir::ImplicitLocOpBuilder &b, mlir::Value index,
                       const AttentionOfLayers &layers);

/// What scores are multiplied by: a number, and a layer's own factor or null.
struct LayerScale {
  double scale;
  mlir::Value factor;
};
LayerScale buildLayerScale(mlir::ImplicitLocOpBuilder &b, mlir::Value index,
                           const AttentionOfLayers &layers);

} // namespace tfc

#endif // TFC_COMPILER_FRONTEND_LAYERNUMBERS_H
