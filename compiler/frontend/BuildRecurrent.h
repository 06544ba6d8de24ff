// Sublayers that keep a state.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_FRONTEND_BUILDRECURRENT_H
#define TFC_COMPILER_FRONTEND_BUILDRECURRENT_H

#include "compiler/frontend/BuildLayer.h"

namespace tfc {

/// f of what `x` is; its state is the layer's numbers from `first` on.
mlir::Value buildConv(PathBuilder &path, const spec::Conv &conv,
                      const std::string &name, const LayerContext &context,
                      const LayerPosition &position, int64_t first,
                      mlir::Value x);
mlir::Value buildRecurrent(PathBuilder &path, const spec::Recurrent &recurrent,
                           const std::string &name, const LayerContext &context,
                           const LayerPosition &position, int64_t first,
                           mlir::Value x);

} // namespace tfc

#endif // TFC_COMPILER_FRONTEND_BUILDRECURRENT_H
