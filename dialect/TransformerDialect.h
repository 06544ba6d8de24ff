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
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <limits>
#include <string>

namespace tfc::transformer {

/// A row of the result is computed from the same row of the first operand, and
/// may take its place.
template <typename ConcreteType>
class RowWise : public mlir::OpTrait::TraitBase<ConcreteType, RowWise> {};

/// Reads rows also where they lie apart, as some columns of wider rows.
template <typename ConcreteType>
class AcceptsStridedRows
    : public mlir::OpTrait::TraitBase<ConcreteType, AcceptsStridedRows> {};

/// Whether tensors have the same shapes, whatever their elements are.
bool haveEqualShapes(mlir::TypeRange a, mlir::TypeRange b);

/// Its matrices may be stored in 16 bits: it widens their elements to f32.
template <typename ConcreteType>
class WidensMatrices
    : public mlir::OpTrait::TraitBase<ConcreteType, WidensMatrices> {};

/// Its rows may have narrow elements at no cost: it rounds what it has in
/// registers.
template <typename ConcreteType>
class RoundsRows : public mlir::OpTrait::TraitBase<ConcreteType, RoundsRows> {};

namespace detail {
/// Of an op that computes each column of the same column of its operands.
mlir::LogicalResult shareElements(mlir::Operation *op, int64_t parts,
                                  llvm::SmallVectorImpl<int64_t> &operands,
                                  std::string &why);
} // namespace detail

} // namespace tfc::transformer

#include "dialect/TransformerDialect.h.inc"
#include "dialect/TransformerEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/TransformerTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/TransformerAttrs.h.inc"
#include "dialect/TransformerInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialect/TransformerOps.h.inc"

namespace tfc::transformer {

/// Attributes of an entry function's arguments: `transformer.input` holds an
/// InputAttr, `transformer.rows` marks the rows that the caller wants, and
/// `transformer.output`, on a memref, holds an OutputPortAttr.
constexpr llvm::StringLiteral kInputAttrName = "transformer.input";
constexpr llvm::StringLiteral kRowsAttrName = "transformer.rows";
constexpr llvm::StringLiteral kOutputAttrName = "transformer.output";

/// Those of memory that the host lends: the step's table (a pointer), the
/// packed weights, the workspace, and the number of workers.
constexpr llvm::StringLiteral kStepAttrName = "transformer.step";
constexpr llvm::StringLiteral kWeightsAttrName = "transformer.weights";
constexpr llvm::StringLiteral kWorkspaceAttrName = "transformer.workspace";
constexpr llvm::StringLiteral kWorkersAttrName = "transformer.workers";

/// On a call of the host: it returns a status, which the entry passes on.
constexpr llvm::StringLiteral kStatusAttrName = "transformer.status";

/// Module attribute: the size of the packed weights in bytes.
constexpr llvm::StringLiteral kPackedBytesAttrName = "transformer.packed_bytes";

/// Module attribute: how many ranks share the model, where there are several.
constexpr llvm::StringLiteral kRanksAttrName = "transformer.ranks";

/// Attribute of the root ops of tiling: a StrategyAttr.
constexpr llvm::StringLiteral kStrategyAttrName = "transformer.strategy";

/// Mark of loops over the steps of a reduction, from tiling to the pass that
/// treats them.
constexpr llvm::StringLiteral kReductionLoopAttrName =
    "transformer.reduction_loop";

/// Entry function attribute: how the cache's blocks are laid out, a
/// CacheLayoutAttr.
constexpr llvm::StringLiteral kCacheAttrName = "transformer.cache";
/// The same of the cache that a decoder's cross-attention reads.
constexpr llvm::StringLiteral kCrossCacheAttrName = "transformer.cross_cache";

/// The same of the states of recurrent and convolutional layers.
constexpr llvm::StringLiteral kStateAttrName = "transformer.state";

/// Entry function attribute, a unit: results depend on the distance of two
/// tokens, not only on the positions that an input gives.
constexpr llvm::StringLiteral kDistancesAttrName = "transformer.distances";

/// Entry function attribute, a unit: it computes weights of weights, for the
/// host to run once, over those that are packed, before any other entry.
constexpr llvm::StringLiteral kPrepareAttrName = "transformer.prepare";

/// Entry function attributes once arguments are loads from the step: the
/// InputAttrs and OutputPortAttrs, in the order of the ports.
constexpr llvm::StringLiteral kInputsAttrName = "transformer.inputs";
constexpr llvm::StringLiteral kOutputsAttrName = "transformer.outputs";

/// Function attribute: what the host calls a function for that is no entry, a
/// RoleAttr.
constexpr llvm::StringLiteral kRoleAttrName = "transformer.role";

/// Module attribute: what the library says of the model beside its weights and
/// entries, a ModelAttr.
constexpr llvm::StringLiteral kModelAttrName = "transformer.model";

/// Module attribute: the programs of the library that the module is one of, an
/// array of ProgramAttrs.
constexpr llvm::StringLiteral kProgramsAttrName = "transformer.programs";

/// Module attribute: the name of the library's query where that is not the one
/// that files export, a string. What programs show each other begins with it,
/// so that several libraries can be linked into one binary.
constexpr llvm::StringLiteral kQueryAttrName = "transformer.query";

/// Module attribute: what the module is compiled for, a TargetAttr.
constexpr llvm::StringLiteral kTargetAttrName = "transformer.target";

/// How far a token sees that has no limit: positions are below.
constexpr int64_t kUnlimited = std::numeric_limits<int32_t>::max();

/// The most frames that transformer.unfold makes a row of, and the most that
/// a row has.
constexpr int64_t kMaxTaps = 1023;
constexpr int64_t kMaxFrames = 1024;

/// What `attention` and friends read and write besides tensors: keys and
/// values in blocks, and states.
struct CacheResource : mlir::SideEffects::Resource::Base<CacheResource> {
  llvm::StringRef getName() final { return "transformer.cache"; }
};

/// The host on the other side of `tap`.
struct HostResource : mlir::SideEffects::Resource::Base<HostResource> {
  llvm::StringRef getName() final { return "transformer.host"; }
};

/// The argument of `function` that carries `attribute`; null if none does.
mlir::BlockArgument findArgument(mlir::FunctionOpInterface function,
                                 llvm::StringRef attribute);

/// The function of `module` that has this role (that of the entry named
/// `entry`, where it is one of an entry); null if none has.
mlir::FunctionOpInterface findRole(mlir::Operation *module, RoleKind kind,
                                   llvm::StringRef entry = {});

/// The parameters of `module` that are stored: the rows of the weight table, in
/// its order.
llvm::SmallVector<ParameterOp> listStored(mlir::Operation *module);

/// The parts of `whole`, in the order of its rows; none if it has a source.
llvm::SmallVector<ParameterOp> listParts(ParameterOp whole);

} // namespace tfc::transformer

#endif // TFC_DIALECT_TRANSFORMERDIALECT_H
