// Everything that tfc knows, registered in one place.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_PIPELINE_REGISTRATION_H
#define TFC_COMPILER_PIPELINE_REGISTRATION_H

namespace mlir {
class DialectRegistry;
}

namespace tfc {

/// The dialects of the stages, what their ops can do, and their translations to
/// LLVM IR. Not all of MLIR: what is registered is linked, and a program that
/// has all of it is three times as large.
void registerTfc(mlir::DialectRegistry &registry);

/// Our passes, the arrows as pipelines, and MLIR's general passes. For tools
/// that read pass pipelines.
void registerTfcPasses();

} // namespace tfc

#endif // TFC_COMPILER_PIPELINE_REGISTRATION_H
