// A row's vectors in the registers of a warp, or of a block.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/rows/WarpRow.h"

#include "compiler/gpu/rows/RowAlignment.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc;

/// The memory space of what the threads of a block share.
static constexpr int64_t kSharedSpace = 3;

/// The most columns of a piece that are loaded at once and leave each lane one.
static int64_t choosePiece(int64_t width, int64_t lanes) {
  for (int64_t columns : {8, 4, 2}) {
    if (width % columns == 0 && width / columns >= lanes) {
      return columns;
    }
  }
  return 1;
}

WarpRow::WarpRow(ImplicitLocOpBuilder &b, Value lane, int64_t width)
    : b(b), lane(lane), lanes(lanesOf(width)),
      columnsOfPiece(choosePiece(width, lanes)) {
  int64_t count = width / columnsOfPiece;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  for (int64_t first = 0; first < count; first += lanes) {
    Value number = arith::AddIOp::create(b, lane, constant(first));
    if (count - first < lanes) {
      isShort = true;
      hasLast = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number,
                                      constant(count));
    }
    columns.push_back(
        arith::MulIOp::create(b, number, constant(columnsOfPiece)));
  }
}

/// A row of a buffer, its columns in their order: memory behind each other.
static bool isRow(Value buffer, AffineMap map, bool isInside) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  return type && map.isMinorIdentity() && map.getNumResults() == 1 &&
         isInside && type.isLastDimUnitStride();
}

/// The number that all columns of `row` are, if that is a constant.
static TypedAttr findConstant(Value row) {
  DenseElementsAttr elements;
  return matchPattern(row, m_Constant(&elements)) && elements.isSplat()
             ? elements.getSplatValue<TypedAttr>()
             : TypedAttr();
}

static bool hasVectors(Operation *op) {
  auto isVector = [](Type type) { return isa<VectorType>(type); };
  return llvm::any_of(op->getOperandTypes(), isVector) ||
         llvm::any_of(op->getResultTypes(), isVector);
}

bool WarpRow::isKnown(Operation *op) {
  if (!hasVectors(op)) {
    return op->getNumRegions() == 0 &&
           (isMemoryEffectFree(op) || isa<memref::LoadOp>(op));
  }
  // Of what comes from outside of the loop, constants alone are known.
  if (!llvm::all_of(op->getOperands(), [&](Value value) {
        return !isa<VectorType>(value.getType()) ||
               value.getParentBlock() == op->getBlock() || findConstant(value);
      })) {
    return false;
  }
  if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
    return !read.getMask() && isRow(read.getBase(), read.getPermutationMap(),
                                    !read.hasOutOfBoundsDim());
  }
  if (auto write = dyn_cast<vector::TransferWriteOp>(op)) {
    return !write.getMask() && isRow(write.getBase(), write.getPermutationMap(),
                                     !write.hasOutOfBoundsDim());
  }
  if (auto sum = dyn_cast<vector::MultiDimReductionOp>(op)) {
    return sum.getKind() == vector::CombiningKind::ADD && sum.getType().isF32();
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    return !isa<VectorType>(broadcast.getSourceType());
  }
  return (op->getNumResults() == 1 && findConstant(op->getResult(0))) ||
         OpTrait::hasElementwiseMappableTraits(op);
}

/// `op` with what `mapping` has for its operands, and results of the types that
/// `typeOf` makes of its own.
static void emitAs(ImplicitLocOpBuilder &b, Operation *op, IRMapping &mapping,
                   function_ref<Type(Type)> typeOf) {
  Operation *clone = b.clone(*op, mapping);
  for (Value result : clone->getResults()) {
    result.setType(typeOf(result.getType()));
  }
}

void WarpRow::emit(Operation *op) {
  for (Value operand : op->getOperands()) {
    if (isa<VectorType>(operand.getType()) && !isSame(operand)) {
      if (TypedAttr number = findConstant(operand)) {
        scalars.map(operand, arith::ConstantOp::create(b, number));
      }
    }
  }
  if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
    return emitRead(read);
  }
  if (auto write = dyn_cast<vector::TransferWriteOp>(op)) {
    return emitWrite(write);
  }
  if (auto sum = dyn_cast<vector::MultiDimReductionOp>(op)) {
    return emitReduction(sum);
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    return scalars.map(broadcast.getResult(),
                       scalars.lookupOrDefault(broadcast.getSource()));
  }
  bool isOnce = llvm::all_of(op->getOperands(), [&](Value value) {
    return !isa<VectorType>(value.getType()) || isSame(value);
  });
  isOnce ? emitOnce(op) : emitPieces(op);
}

Type WarpRow::pieceOf(Type vector) const {
  Type element = cast<VectorType>(vector).getElementType();
  return columnsOfPiece == 1 ? element
                             : Type(VectorType::get(columnsOfPiece, element));
}

Value WarpRow::piece(Value vector, size_t index) {
  if (!isSame(vector)) {
    return pieces.lookup(vector)[index];
  }
  Value same = scalars.lookup(vector);
  return columnsOfPiece == 1
             ? same
             : vector::BroadcastOp::create(b, pieceOf(vector.getType()), same);
}

WarpRow::Pieces WarpRow::place(OperandRange indices, size_t index) {
  Pieces place = llvm::map_to_vector(
      indices, [&](Value value) { return scalars.lookupOrDefault(value); });
  place.back() = arith::AddIOp::create(b, place.back(), columns[index]);
  return place;
}

void WarpRow::emitRead(vector::TransferReadOp op) {
  Value buffer = scalars.lookupOrDefault(op.getBase());
  Type type = pieceOf(op.getType());
  Pieces &read = pieces[op.getResult()];
  for (size_t index = 0; index < columns.size(); ++index) {
    Pieces from = place(op.getIndices(), index);
    auto load = [&]() -> Value {
      auto vector = dyn_cast<VectorType>(type);
      return vector ? Value(vector::LoadOp::create(
                          b, vector, buffer, from,
                          /*nontemporal=*/false,
                          alignmentOfRow(op.getBase(), columnsOfPiece)))
                    : memref::LoadOp::create(b, buffer, from);
    };
    if (!isPartial(index)) {
      read.push_back(load());
      continue;
    }
    OpBuilder::InsertionGuard guard(b);
    auto branch = scf::IfOp::create(b, type, hasLast, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, load());
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(
        b, arith::ConstantOp::create(b, b.getZeroAttr(type)).getResult());
    read.push_back(branch.getResult(0));
  }
}

void WarpRow::emitWrite(vector::TransferWriteOp op) {
  Value buffer = scalars.lookupOrDefault(op.getBase());
  for (size_t index = 0; index < columns.size(); ++index) {
    OpBuilder::InsertionGuard guard(b);
    Value value = piece(op.getVector(), index);
    Pieces to = place(op.getIndices(), index);
    if (isPartial(index)) {
      auto branch = scf::IfOp::create(b, hasLast);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    if (auto type = dyn_cast<VectorType>(value.getType())) {
      vector::StoreOp::create(b, value, buffer, to, /*nontemporal=*/false,
                              alignmentOfRow(op.getBase(), columnsOfPiece));
    } else {
      memref::StoreOp::create(b, value, buffer, to);
    }
  }
}

/// All lanes have the same bits then, as each pair of them adds the same two.
Value WarpRow::sumOfWarp(Value sum) {
  for (int32_t distance = kLanes / 2; distance > 0; distance /= 2) {
    Value other =
        gpu::ShuffleOp::create(b, sum, distance, kLanes, gpu::ShuffleMode::XOR)
            .getShuffleResult();
    sum = arith::AddFOp::create(b, sum, other);
  }
  return sum;
}

/// Warps tell each other theirs in shared memory, at a place for this sum
/// alone: one barrier will do. Every lane adds them in the same order.
Value WarpRow::sumOfBlock(Value sum) {
  constexpr int64_t warps = kBlockLanes / kLanes;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto type = MemRefType::get({warps}, sum.getType(), AffineMap(),
                              b.getI64IntegerAttr(kSharedSpace));
  Value shared = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(16));
  Value warp = arith::DivUIOp::create(b, lane, constant(kLanes));
  Value within = arith::RemUIOp::create(b, lane, constant(kLanes));
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, within, constant(0));
  auto branch = scf::IfOp::create(b, isFirst);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    memref::StoreOp::create(b, sum, shared, warp);
  }
  gpu::BarrierOp::create(b);
  Value all;
  for (int64_t index = 0; index < warps; ++index) {
    Value own = memref::LoadOp::create(b, shared, constant(index));
    all = all ? Value(arith::AddFOp::create(b, all, own)) : own;
  }
  return all;
}

/// Pieces, then the columns of a piece, then lanes, then warps.
void WarpRow::emitReduction(vector::MultiDimReductionOp op) {
  Value sum;
  for (size_t index = 0; index < columns.size(); ++index) {
    Value term = piece(op.getSource(), index);
    if (isPartial(index)) {
      Value zero = arith::ConstantOp::create(b, b.getZeroAttr(term.getType()));
      term = arith::SelectOp::create(b, hasLast, term, zero);
    }
    sum = sum ? Value(arith::AddFOp::create(b, sum, term)) : term;
  }
  if (columnsOfPiece > 1) {
    Value vector = sum;
    sum = vector::ExtractOp::create(b, vector, int64_t(0));
    for (int64_t column = 1; column < columnsOfPiece; ++column) {
      sum = arith::AddFOp::create(b, sum,
                                  vector::ExtractOp::create(b, vector, column));
    }
  }
  sum = sumOfWarp(sum);
  if (lanes == kBlockLanes) {
    sum = sumOfBlock(sum);
  }
  Value before = scalars.lookupOrDefault(op.getAcc());
  scalars.map(op.getResult(), arith::AddFOp::create(b, before, sum));
}

void WarpRow::emitOnce(Operation *op) {
  if (!hasVectors(op)) {
    b.clone(*op, scalars);
    return;
  }
  if (op->hasTrait<OpTrait::ConstantLike>()) {
    return; // made again for who reads it
  }
  emitAs(b, op, scalars, [](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? vector.getElementType() : type;
  });
}

void WarpRow::emitPieces(Operation *op) {
  SmallVector<Pieces> results(op->getNumResults());
  for (size_t index = 0; index < columns.size(); ++index) {
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      mapping.map(operand, isa<VectorType>(operand.getType())
                               ? piece(operand, index)
                               : scalars.lookupOrDefault(operand));
    }
    emitAs(b, op, mapping, [&](Type type) {
      return isa<VectorType>(type) ? pieceOf(type) : type;
    });
    for (auto [result, list] : llvm::zip_equal(op->getResults(), results)) {
      list.push_back(mapping.lookup(result));
    }
  }
  for (auto [result, list] : llvm::zip_equal(op->getResults(), results)) {
    pieces[result] = list;
  }
}
