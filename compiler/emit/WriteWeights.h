// The weight table of a library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_EMIT_WRITEWEIGHTS_H
#define TFC_COMPILER_EMIT_WRITEWEIGHTS_H

#include "compiler/emit/Tables.h"

namespace tfc {

/// tfc_weight_v0[]: the parameters of `module` that are stored, in its order,
/// `count` of them.
Field writeWeights(mlir::ModuleOp module, Tables &tables, size_t &count);

} // namespace tfc

#endif // TFC_COMPILER_EMIT_WRITEWEIGHTS_H
