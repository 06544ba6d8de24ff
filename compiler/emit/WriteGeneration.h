// The model's defaults of generation, as a table of the ABI.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_EMIT_WRITEGENERATION_H
#define TFC_COMPILER_EMIT_WRITEGENERATION_H

#include "compiler/emit/Tables.h"
#include "dialect/TransformerDialect.h"

namespace tfc {

/// int64_t[], empty where there are none.
Field writeIds(mlir::ArrayAttr values, Tables &tables);

/// tfc_generation_v0[1]. Without `defaults` (null) everything is off: greedy
/// choice and nothing forced.
Field writeGeneration(transformer::GenerationAttr defaults, Tables &tables);

} // namespace tfc

#endif // TFC_COMPILER_EMIT_WRITEGENERATION_H
