// Embeddings of tokens whose rows the caller gives.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_FRONTEND_BUILDPATCHES_H
#define TFC_COMPILER_FRONTEND_BUILDPATCHES_H

#include "compiler/frontend/BuildLayer.h"

namespace tfc {

/// The tokens of a table, if there is one, and what a product or convolutions
/// make of `rows`. `name` is that of the embeddings.
mlir::Value buildPatches(PathBuilder &path, const spec::Embeddings &embeddings,
                         const std::string &name, mlir::Value ids,
                         mlir::Value rows, mlir::Value batch);

} // namespace tfc

#endif // TFC_COMPILER_FRONTEND_BUILDPATCHES_H
