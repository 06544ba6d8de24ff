// Streams of rows around the layers of a stack: spec::Streams has the formulas.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_FRONTEND_BUILDSTREAMS_H
#define TFC_COMPILER_FRONTEND_BUILDSTREAMS_H

#include "compiler/frontend/BuildLayer.h"

namespace tfc {

/// What a stack's first layer reads: the embeddings alone, or its streams.
llvm::SmallVector<mlir::Value>
openStreams(PathBuilder &path, const spec::Stack &stack, mlir::Value x);

/// The stack's result, of what the last layer has given.
mlir::Value closeStreams(PathBuilder &path, const spec::Stack &stack,
                         mlir::ValueRange rows);

/// What a layer does to the streams around its sublayers; `layer` indexes its
/// parameters, whose names begin with `name`.
class StreamBuilder {
public:
  StreamBuilder(PathBuilder &path, const spec::Streams &streams,
                std::string name, mlir::Value layer)
      : path(path), streams(streams), name(std::move(name)), layer(layer) {}

  /// What each stream is before the layer, of all of them.
  llvm::SmallVector<mlir::Value> predict(mlir::ValueRange rows);
  /// What each of those becomes of `y`, the layer's result.
  llvm::SmallVector<mlir::Value> correct(mlir::ValueRange predicted,
                                         mlir::Value y);

private:
  /// <part>(tanh(router(scale * norm(x)))), the numbers that streams are mixed
  /// by.
  mlir::Value buildWeights(mlir::Value x, const std::string &part);

  PathBuilder &path;
  const spec::Streams &streams;
  std::string name;
  mlir::Value layer;
};

} // namespace tfc

#endif // TFC_COMPILER_FRONTEND_BUILDSTREAMS_H
