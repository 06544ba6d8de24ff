// Everything that tfc knows, registered in one place.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_PIPELINE_REGISTRATION_H
#define TFC_COMPILER_PIPELINE_REGISTRATION_H

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace tfc {

/// The dialects of the stages, what their ops can do, and their translations to
/// LLVM IR. Not all of MLIR: what is registered is linked, and a program that
/// has all of it is three times as large.
void registerTfc(mlir::DialectRegistry &registry);

/// Gives a context those dialects, loaded, and messages that do not print ops:
/// their location says which part of the spec it is, and an op may be thousands
/// of lines.
void prepareContext(mlir::MLIRContext &context);

/// Our passes, the arrows as pipelines, and MLIR's general passes. For tools
/// that read pass pipelines.
void registerTfcPasses();

} // namespace tfc

#endif // TFC_COMPILER_PIPELINE_REGISTRATION_H
