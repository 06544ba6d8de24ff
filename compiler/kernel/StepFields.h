// Reading the ABI's structs in generated code: a pointer and typed loads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_STEPFIELDS_H
#define TFC_COMPILER_KERNEL_STEPFIELDS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tfc/abi.h"

#include <cstddef>

namespace tfc {

/// base + offset, in bytes.
mlir::Value buildAddress(mlir::ImplicitLocOpBuilder &b, mlir::Value base,
                         int64_t offset);
/// base + index * scale + offset, in bytes; `index` is an index.
mlir::Value buildAddress(mlir::ImplicitLocOpBuilder &b, mlir::Value base,
                         mlir::Value index, int64_t scale, int64_t offset = 0);

/// Loads a field at `offset` bytes.
mlir::Value loadPointer(mlir::ImplicitLocOpBuilder &b, mlir::Value base,
                        int64_t offset);
/// A signed 32- or 64-bit integer as an index.
mlir::Value loadIndex(mlir::ImplicitLocOpBuilder &b, mlir::Value base,
                      int64_t offset, unsigned bits);

/// Whether `type` is a buffer of which buildMemRef knows everything but where
/// it begins and its rows: of identity layout, and at most its first axis is
/// dynamic.
bool isPlain(mlir::Type type);
/// Where the buffer `memref` begins.
mlir::Value buildPointer(mlir::ImplicitLocOpBuilder &b, mlir::Value memref);
/// A memref of identity layout over memory at `pointer`: at most one axis, the
/// first, is dynamic and has `rows`.
mlir::Value buildMemRef(mlir::ImplicitLocOpBuilder &b, mlir::MemRefType type,
                        mlir::Value pointer, mlir::Value rows);

/// Whether `index` is the number of the step's sequences, as loadIndex reads
/// it.
bool isSequenceCount(mlir::Value index, mlir::Value step);

/// Whether `address` is a field of the step, or of the host that the step
/// names: the host's memory in programs of devices, too.
bool isOfStep(mlir::Value address, mlir::Value step);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_STEPFIELDS_H
