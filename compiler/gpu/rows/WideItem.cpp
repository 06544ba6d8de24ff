// Items of a parallel loop that lie side by side, done as one on vectors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/rows/WideItem.h"

#include "compiler/gpu/rows/RowAlignment.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <numeric>

using namespace mlir;
using namespace tfc;

namespace {

/// What a value is to items side by side.
enum class Kind {
  Same,  // a number, the same to all of them
  Place, // the item's place on the last axis, or a distance from it
  Each,  // an element for each
};

/// Tells what the values of a loop's body are.
class Kinds {
public:
  explicit Kinds(scf::ParallelOp loop) {
    kinds[loop.getInductionVars().back()] = Kind::Place;
  }

  /// Whether items side by side can do `op` together; its results are known
  /// then.
  bool add(Operation *op);

private:
  Kind of(Value value) const {
    auto found = kinds.find(value);
    return found == kinds.end() ? Kind::Same : found->second;
  }
  bool areSame(ValueRange values) const {
    return llvm::all_of(values,
                        [&](Value value) { return of(value) == Kind::Same; });
  }
  /// Whether an access is of elements side by side.
  bool isSideBySide(MemRefType type, OperandRange indices) const {
    return !indices.empty() && of(indices.back()) == Kind::Place &&
           areSame(indices.drop_back()) && type.isLastDimUnitStride();
  }

  llvm::DenseMap<Value, Kind> kinds;
};

} // namespace

bool Kinds::add(Operation *op) {
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    return isSideBySide(store.getMemRefType(), store.getIndices());
  }
  if (op->getNumRegions() != 0 || op->getNumResults() != 1) {
    return false;
  }
  Value result = op->getResult(0);
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    if (!areSame(load.getIndices())) {
      kinds[result] = Kind::Each;
      return isSideBySide(load.getMemRefType(), load.getIndices());
    }
    return true;
  }
  if (!isMemoryEffectFree(op)) {
    return false;
  }
  if (areSame(op->getOperands())) {
    return !isa<VectorType>(result.getType());
  }
  if (auto sum = dyn_cast<arith::AddIOp>(op);
      sum && result.getType().isIndex()) {
    kinds[result] = Kind::Place;
    return (of(sum.getLhs()) == Kind::Place) !=
           (of(sum.getRhs()) == Kind::Place);
  }
  kinds[result] = Kind::Each;
  return OpTrait::hasElementwiseMappableTraits(op) &&
         result.getType().isIntOrFloat() &&
         llvm::none_of(op->getOperands(), [&](Value operand) {
           return of(operand) == Kind::Place ||
                  !operand.getType().isIntOrFloat();
         });
}

bool WideItem::suits(scf::ParallelOp loop, int64_t count) {
  std::optional<int64_t> first =
      getConstantIntValue(loop.getLowerBound().back());
  std::optional<int64_t> last =
      getConstantIntValue(loop.getUpperBound().back());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep().back());
  if (loop.getNumReductions() != 0 || first != 0 || step != 1 || !last ||
      *last % count != 0) {
    return false;
  }
  Kinds kinds(loop);
  return llvm::all_of(loop.getBody()->without_terminator(),
                      [&](Operation &op) { return kinds.add(&op); });
}

/// Bytes that the address of elements side by side is a multiple of for sure.
static llvm::MaybeAlign alignmentOf(Value buffer, Value last, int64_t count) {
  // The place is a multiple of `count`, distances from it need not be.
  while (auto sum = last.getDefiningOp<arith::AddIOp>()) {
    std::optional<int64_t> left = getConstantIntValue(sum.getLhs());
    std::optional<int64_t> right = getConstantIntValue(sum.getRhs());
    if (!left && !right) {
      count = 1;
      break;
    }
    count = std::gcd(count, left ? *left : *right);
    last = left ? sum.getRhs() : sum.getLhs();
  }
  return alignmentOfRow(buffer, count);
}

SmallVector<Value> WideItem::placeOf(OperandRange indices) {
  return llvm::map_to_vector(
      indices, [&](Value index) { return mapping.lookupOrDefault(index); });
}

Value WideItem::wide(Value value) {
  Value known = mapping.lookupOrDefault(value);
  if (isa<VectorType>(known.getType())) {
    return known;
  }
  return vector::BroadcastOp::create(b, VectorType::get(count, known.getType()),
                                     known);
}

bool WideItem::isPlace(Value value) {
  if (value == loop.getInductionVars().back()) {
    return true;
  }
  auto sum = value.getDefiningOp<arith::AddIOp>();
  return sum && llvm::any_of(sum.getOperands(),
                             [&](Value operand) { return isPlace(operand); });
}

void WideItem::emitLoad(memref::LoadOp op) {
  Value buffer = mapping.lookupOrDefault(op.getMemRef());
  Value loaded = vector::LoadOp::create(
      b, VectorType::get(count, op.getType()), buffer, placeOf(op.getIndices()),
      /*nontemporal=*/false,
      alignmentOf(op.getMemRef(), op.getIndices().back(), count));
  mapping.map(op.getResult(), loaded);
}

void WideItem::emitStore(memref::StoreOp op) {
  vector::StoreOp::create(
      b, wide(op.getValueToStore()), mapping.lookupOrDefault(op.getMemRef()),
      placeOf(op.getIndices()), /*nontemporal=*/false,
      alignmentOf(op.getMemRef(), op.getIndices().back(), count));
}

void WideItem::emitEach(Operation *op) {
  IRMapping own;
  for (Value operand : op->getOperands()) {
    own.map(operand, wide(operand));
  }
  Operation *clone = b.clone(*op, own);
  Value result = clone->getResult(0);
  result.setType(VectorType::get(count, result.getType()));
  mapping.map(op->getResult(0), result);
}

void WideItem::emitOp(Operation *op) {
  auto isWide = [&](Value value) {
    return isa<VectorType>(mapping.lookupOrDefault(value).getType());
  };
  auto load = dyn_cast<memref::LoadOp>(op);
  if (load && !load.getIndices().empty() && isPlace(load.getIndices().back())) {
    emitLoad(load);
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    emitStore(store);
  } else if (llvm::any_of(op->getOperands(), isWide)) {
    emitEach(op);
  } else {
    b.clone(*op, mapping);
  }
}

void WideItem::emit(ArrayRef<Value> places) {
  mapping.map(loop.getInductionVars(), places);
  for (Operation &op : loop.getBody()->without_terminator()) {
    emitOp(&op);
  }
}

Value WideItem::emitStored(ArrayRef<Value> places) {
  mapping.map(loop.getInductionVars(), places);
  Value stored;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto store = dyn_cast<memref::StoreOp>(op)) {
      stored = wide(store.getValueToStore());
    } else {
      emitOp(&op);
    }
  }
  return stored;
}
