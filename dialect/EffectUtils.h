// Memory effects that ops of several groups declare.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_EFFECTUTILS_H
#define TFC_DIALECT_EFFECTUTILS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tfc::transformer {

using Effects = llvm::SmallVectorImpl<
    mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>;

/// Memrefs are read where they are operands; tensors have no effects.
inline void addRead(mlir::OpOperand &operand, Effects &effects) {
  if (mlir::isa<mlir::MemRefType>(operand.get().getType())) {
    effects.emplace_back(mlir::MemoryEffects::Read::get(), &operand,
                         mlir::SideEffects::DefaultResource::get());
  }
}

/// Operands are read, and what is written to is not.
inline void addDestinationEffects(mlir::DestinationStyleOpInterface op,
                                  Effects &effects) {
  for (mlir::OpOperand &operand : op->getOpOperands()) {
    if (!op.isDpsInit(&operand)) {
      addRead(operand, effects);
    } else if (mlir::isa<mlir::MemRefType>(operand.get().getType())) {
      effects.emplace_back(mlir::MemoryEffects::Write::get(), &operand,
                           mlir::SideEffects::DefaultResource::get());
    }
  }
}

} // namespace tfc::transformer

#endif // TFC_DIALECT_EFFECTUTILS_H
