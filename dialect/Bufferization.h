// How the structured ops and weights become memref ops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_BUFFERIZATION_H
#define TFC_DIALECT_BUFFERIZATION_H

namespace mlir {
class DialectRegistry;
}

namespace tfc::transformer {

/// One-shot bufferization of `weight`, `cache_write`, `paged_attention` and
/// `tap`: each becomes itself on memrefs, with no copy.
void registerBufferizableOpInterfaces(mlir::DialectRegistry &registry);

} // namespace tfc::transformer

#endif // TFC_DIALECT_BUFFERIZATION_H
