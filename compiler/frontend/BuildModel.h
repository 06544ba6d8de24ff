// ModelSpec -> `transformer` module: the entry function and the weight table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_FRONTEND_BUILDMODEL_H
#define TFC_COMPILER_FRONTEND_BUILDMODEL_H

#include "compiler/spec/ModelSpec.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tfc {

/// Builds the `model` stage of `spec`: one `transformer.parameter` a row of the
/// weight table and one entry function, `@encode` of an encoder or `@step` of
/// a decoder. Its arguments are, in this order, `tensor<?xi32>` for each input
/// port, the wanted rows, the batch, and the cache if the model has attention.
/// Locations are the canonical paths of the spec ("decoder.layers.attn.q").
///
/// `spec` has been checked; what the dialect cannot say yet is a diagnostic of
/// the context and a null result. Needs the dialects transformer, func, arith
/// and scf loaded.
mlir::OwningOpRef<mlir::ModuleOp> buildModel(const spec::ModelSpec &spec,
                                             mlir::MLIRContext *context);

} // namespace tfc

#endif // TFC_COMPILER_FRONTEND_BUILDMODEL_H
