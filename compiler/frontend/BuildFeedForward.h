// Feed-forward parts of layers, and experts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_FRONTEND_BUILDFEEDFORWARD_H
#define TFC_COMPILER_FRONTEND_BUILDFEEDFORWARD_H

#include "compiler/frontend/BuildLayer.h"

namespace tfc {

/// What a feed-forward part makes of x, with the parameters `name`.* of the
/// layer `index`.
mlir::Value buildFfn(PathBuilder &path, const spec::Ffn &ffn,
                     const std::string &name, mlir::Value index, mlir::Value x);

/// The same of experts: the sum of those that a row takes, and then what all
/// rows take.
mlir::Value buildMoe(PathBuilder &path, const spec::Moe &moe,
                     const std::string &name, mlir::Value index, mlir::Value x);

} // namespace tfc

#endif // TFC_COMPILER_FRONTEND_BUILDFEEDFORWARD_H
