// Everything that tfc and tfc-opt know, registered in one place.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_PIPELINE_REGISTRATION_H
#define TFC_COMPILER_PIPELINE_REGISTRATION_H

namespace mlir {
class DialectRegistry;
}

namespace tfc {

/// Dialects, their extensions, and the translations to LLVM IR.
void registerAllTfc(mlir::DialectRegistry &registry);

/// Passes and, as pipelines, the arrows: our own and the upstream ones that
/// they are mixed with. For tools that read pass pipelines.
void registerAllTfcPasses();

} // namespace tfc

#endif // TFC_COMPILER_PIPELINE_REGISTRATION_H
