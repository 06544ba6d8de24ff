// The transformer dialect: the one header its users include.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_TRANSFORMERDIALECT_H
#define TFC_DIALECT_TRANSFORMERDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/TransformerDialect.h.inc"
#include "dialect/TransformerEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/TransformerTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/TransformerAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialect/TransformerOps.h.inc"

namespace tfc::transformer {

/// Attributes of an entry function's arguments: `transformer.input` holds an
/// InputAttr, `transformer.rows` marks the rows that the caller wants.
constexpr llvm::StringLiteral kInputAttrName = "transformer.input";
constexpr llvm::StringLiteral kRowsAttrName = "transformer.rows";

/// Module attribute: a dictionary with what the library says of the model
/// beside its weights and entries (name, spec, token ids, ...).
constexpr llvm::StringLiteral kModelAttrName = "transformer.model";

/// What `attention` and friends read and write besides tensors: keys and
/// values in blocks.
struct CacheResource : mlir::SideEffects::Resource::Base<CacheResource> {
  llvm::StringRef getName() final { return "transformer.cache"; }
};

/// The host on the other side of `tap`.
struct HostResource : mlir::SideEffects::Resource::Base<HostResource> {
  llvm::StringRef getName() final { return "transformer.host"; }
};

} // namespace tfc::transformer

#endif // TFC_DIALECT_TRANSFORMERDIALECT_H
