// ModelSpec -> `transformer` module: the entry functions and the weight table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_FRONTEND_BUILDMODEL_H
#define TFC_COMPILER_FRONTEND_BUILDMODEL_H

#include "compiler/spec/ModelSpec.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tfc {

/// Builds the `model` stage of `spec`: one `transformer.parameter` a row of the
/// weight table and the entry functions, `@encode` of an encoder and `@step` of
/// a decoder. Their arguments are, in this order, `tensor<?xi32>` for each
/// input port, the wanted rows, the batch, the cache if the stack has
/// self-attention, and the cross cache if the model has cross-attention:
/// `@encode` writes it, `@step` reads it.
/// Locations are the canonical paths of the spec ("decoder.layers.attn.q").
///
/// `spec` has been checked; what the dialect cannot say yet is a diagnostic of
/// the context and a null result. Needs the dialects transformer, func, arith
/// and scf loaded.
mlir::OwningOpRef<mlir::ModuleOp> buildModel(const spec::ModelSpec &spec,
                                             mlir::MLIRContext *context);

} // namespace tfc

#endif // TFC_COMPILER_FRONTEND_BUILDMODEL_H
