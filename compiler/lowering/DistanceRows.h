// Which rows of its tables of distances an attention reads: by the distance,
// and in a step at all.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_LOWERING_DISTANCEROWS_H
#define TFC_COMPILER_LOWERING_DISTANCEROWS_H

#include "dialect/TransformerDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {

/// The rows of the distances in [-M, M] from key to query, beyond which nothing
/// changes; null without tables.
mlir::Value buildDistanceRows(mlir::ImplicitLocOpBuilder &b,
                              transformer::AttentionOp op);

/// Tables of attentions whose keys are all of the step have the rows in their
/// middle that so many tokens can meet, and those with a row a distance of
/// causal ones with a cache the rows of keys at and before the query; what they
/// are projected of, those too.
void cutTables(mlir::ModuleOp module);

} // namespace tfc

#endif // TFC_COMPILER_LOWERING_DISTANCEROWS_H
