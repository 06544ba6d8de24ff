// Rows of floats in place of ids: patches of a picture, frames of a sound.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/BuildPatches.h"

using namespace mlir;
using namespace tfc;

/// Convolutions over the frames of the rows, one behind the other. A row has as
/// many frames as all strides take away: each convolution leaves a part of
/// them, and gives every frame that is left as rows of their own, since all
/// rows are as many as there are tokens.
static Value buildConvs(PathBuilder &path,
                        const spec::Embeddings::Patches &patches,
                        const std::string &name, Value rows, Value batch) {
  OpBuilder &builder = path.getBuilder();
  SmallVector<Value> frames = {rows};
  int64_t count = patches.frames();
  for (auto [number, conv] : llvm::enumerate(patches.convs)) {
    std::string stem = name + "." + std::to_string(number);
    Value matrix = path.weight(stem + ".weight");
    Value bias = conv.bias ? path.weight(stem + ".bias") : Value();
    SmallVector<Value> made;
    for (int64_t first = 0; first < count; first += conv.stride) {
      std::string own = stem + "." + std::to_string(made.size());
      Value window = transformer::UnfoldOp::create(
          builder, path.loc(own + ".unfold"), frames, conv.kernel,
          builder.getI64IntegerAttr(first - (conv.kernel - 1) / 2), count,
          batch);
      Value y = transformer::LinearOp::create(builder, path.loc(own), window,
                                              matrix, bias);
      made.push_back(path.activation(y, conv.act, own + ".act"));
    }
    frames = std::move(made);
    count /= conv.stride;
  }
  return frames.front();
}

Value tfc::buildPatches(PathBuilder &path, const spec::Embeddings &embeddings,
                        const std::string &name, Value ids, Value rows,
                        Value batch) {
  OpBuilder &builder = path.getBuilder();
  const spec::Embeddings::Patches &patches = *embeddings.patches;
  std::string stem = name + ".patches";
  Value given =
      transformer::GivenRowsOp::create(builder, path.loc(stem), ids, rows);
  given = patches.convs.empty() ? path.linear(given, stem, patches.bias)
                                : buildConvs(path, patches, stem, given, batch);
  if (embeddings.tokenTable.empty()) {
    return given;
  }
  return transformer::EmbeddingOp::create(
      builder, path.loc(name + ".input_ids"), ids,
      path.weight(embeddings.tokenTable), given, /*offset=*/0,
      /*optional=*/false, /*first=*/IntegerAttr(), /*beyond=*/IntegerAttr(),
      /*every=*/IntegerAttr());
}
