// One layer, from its ordered sublayers, and the helpers that every part of a
// model is built with.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_FRONTEND_BUILDLAYER_H
#define TFC_COMPILER_FRONTEND_BUILDLAYER_H

#include "compiler/frontend/BuildEntry.h"
#include "compiler/frontend/LayerNumbers.h"
#include "compiler/spec/ModelSpec.h"
#include "dialect/TransformerDialect.h"

namespace tfc {

/// Builds ops whose names, parameters and locations all derive from one
/// canonical path. `layer`, when set, indexes the parameters of a layer.
class PathBuilder {
public:
  PathBuilder(mlir::OpBuilder &builder, mlir::ModuleOp module)
      : builder(builder), module(module) {}

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location loc(const std::string &path);

  /// The weight called `name`; its type is the declared one.
  mlir::Value weight(const std::string &name, mlir::Value layer = {});
  /// norm(x), or that of each of `parts` equal parts of a row, with the
  /// parameters <path>.weight and <path>.bias.
  mlir::Value norm(mlir::Value x, const spec::Norm &norm,
                   const std::string &path, mlir::Value layer = {},
                   int64_t parts = 1);
  /// The product with <path>.weight, and <path>.bias if `bias`.
  mlir::Value linear(mlir::Value x, const std::string &path, bool bias,
                     mlir::Value layer = {});
  mlir::Value activation(mlir::Value x, spec::Activation act,
                         const std::string &path);
  /// factor * x
  mlir::Value scale(mlir::Value x, double factor, const std::string &path);

private:
  mlir::OpBuilder &builder;
  mlir::ModuleOp module;
};

/// What every layer of a stack shares: the entry's batch and caches, and what
/// is computed once a step. `bias` is null without one.
struct LayerContext {
  /// The angles of several kinds, one table.
  struct Rotation {
    std::vector<spec::Rotary> kinds;
    mlir::Value angles;
  };
  mlir::Value batch, cross, state, bias;
  llvm::SmallVector<mlir::Value> caches; // the parts of one
  /// What the first layer reads with its neighbours, by the kernels that read
  /// so many of them.
  llvm::SmallVector<std::pair<int64_t, mlir::Value>> unfolded;
  /// What each layer has of its own of the tokens, side by side; null where no
  /// layer reads it.
  mlir::Value layerInputs;
  /// What each layer has a table of its own for; null without one.
  const spec::PositionBias *biasOfLayers = nullptr;
  /// The table of distances, or null, and the name of its parameters.
  const spec::RelativeTable *distances = nullptr;
  std::string distancesName;
  llvm::SmallVector<Rotation> rotations;
  /// The types of tokens, where a term of scores is of them.
  mlir::Value types;
  /// Which tokens no token sees; null where all are seen.
  mlir::Value unseen;
  /// How layers read and write their streams; null where there is one.
  const spec::Streams *streams = nullptr;

  /// The part of the cache that has the attention's keys.
  mlir::Value cacheOf(const spec::Attention &attn) const;
  /// Of a kernel; null if it is not there yet.
  mlir::Value unfoldedFor(int64_t kernel) const;
  /// The angles of these kinds of rotation, null if there are none yet.
  mlir::Value angles(llvm::ArrayRef<spec::Rotary> kinds) const;
};

/// Where a layer's parameters and its part of the cache are: `index` counts in
/// the run, `layer` in the stack, `cache` and `state` among the layers that the
/// caches have (null where it has none); `weights` is the weights' index, that
/// of the run unless layers share them.
struct LayerPosition {
  mlir::Value index, layer, weights, cache, state;
};

/// y = scale * post_norm(x + out_act(out_scale * out_norm(f(pre_norm(x))))) for
/// each sublayer, in their order, or what a gate makes of the sum; one that is
/// parallel reads what the one before reads. Of streams (spec::Streams) they
/// are between a prediction and a correction, or each reads one and is added to
/// the other. `rows` are the streams, and what
/// is given, too.
llvm::SmallVector<mlir::Value> buildLayer(PathBuilder &path,
                                          const spec::LayerRun &run,
                                          const LayerContext &context,
                                          const LayerPosition &position,
                                          mlir::ValueRange rows);

/// The numbers of distances that are added to scores, of the table
/// <path>.weight.
mlir::Value buildPositionBias(PathBuilder &path, const spec::PositionBias &bias,
                              const std::string &name, mlir::Value layer = {});

/// Writes the keys and values that the cross-attention at `name` has of the
/// encoder's result `hidden` to the entry's cross cache.
void buildCrossWrite(PathBuilder &path, const spec::Attention &attn,
                     const std::string &name, const Entry &entry,
                     const LayerPosition &position, mlir::Value hidden);

transformer::Activation toDialect(spec::Activation act);

} // namespace tfc

#endif // TFC_COMPILER_FRONTEND_BUILDLAYER_H
