// The body of an outermost parallel loop as a function, and the call of the
// host's parallel_for with it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/OutlineBody.h"

#include "compiler/host/StepFields.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tfc;

llvm::SetVector<Value> tfc::outsideValues(scf::ParallelOp loop) {
  llvm::SetVector<Value> values;
  getUsedValuesDefinedAbove(loop.getRegion(), values);
  for (OperandRange range :
       {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}) {
    values.insert(range.begin(), range.end());
  }
  return values;
}

bool tfc::isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

Value Outliner::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

/// Constants are made again in the body.
void Outliner::collectCaptures() {
  for (Value value : outsideValues(loop)) {
    if (isConstant(value)) {
      constants.push_back(value.getDefiningOp());
    } else {
      captures.push_back(value);
    }
  }
}

IRMapping Outliner::loadCaptures(Value argument) {
  IRMapping mapping;
  for (Operation *op : constants) {
    b.clone(*op, mapping);
  }
  SmallVector<Type> fields;
  for (Value value : captures) {
    fields.push_back(stored(value));
  }
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), fields);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  for (auto [index, value] : llvm::enumerate(captures)) {
    Value place = LLVM::GEPOp::create(
        b, pointer, type, argument,
        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(index)});
    Value loaded = LLVM::LoadOp::create(b, fields[index], place);
    mapping.map(value, UnrealizedConversionCastOp::create(
                           b, TypeRange(value.getType()), loaded)
                           .getResult(0));
  }
  return mapping;
}

/// Walks the flattened space: the indices of `begin` once by division, then
/// counting up with carry. Extents may be zero only when there is no item, and
/// max(extent, 1) keeps the division defined even then.
void Outliner::buildItems(IRMapping &mapping, Value begin, Value end) {
  unsigned axes = loop.getNumLoops();
  Value one = constant(1);
  SmallVector<Value> extents, indices(axes);
  for (unsigned axis = 0; axis < axes; ++axis) {
    Value lower = mapping.lookup(loop.getLowerBound()[axis]);
    Value upper = mapping.lookup(loop.getUpperBound()[axis]);
    Value step = mapping.lookup(loop.getStep()[axis]);
    Value span = arith::SubIOp::create(b, upper, lower);
    Value extent = arith::CeilDivSIOp::create(b, span, step);
    extents.push_back(arith::MaxSIOp::create(b, extent, one));
  }
  Value rest = begin;
  for (unsigned axis = axes; axis-- > 0;) {
    indices[axis] = arith::RemUIOp::create(b, rest, extents[axis]);
    rest = arith::DivUIOp::create(b, rest, extents[axis]);
  }
  auto items = scf::ForOp::create(b, begin, end, one, indices);
  b.setInsertionPointToStart(items.getBody());
  SmallVector<Value> current(items.getRegionIterArgs());
  for (unsigned axis = 0; axis < axes; ++axis) {
    Value scaled = arith::MulIOp::create(b, current[axis],
                                         mapping.lookup(loop.getStep()[axis]));
    mapping.map(loop.getInductionVars()[axis],
                arith::AddIOp::create(
                    b, scaled, mapping.lookup(loop.getLowerBound()[axis])));
  }
  for (Operation &op : loop.getBody()->without_terminator()) {
    b.clone(op, mapping);
  }
  Value carry = one, zero = constant(0);
  SmallVector<Value> next(axes);
  for (unsigned axis = axes; axis-- > 0;) {
    Value sum = arith::AddIOp::create(b, current[axis], carry);
    Value wraps =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, sum, extents[axis]);
    next[axis] = arith::SelectOp::create(b, wraps, zero, sum);
    carry = arith::SelectOp::create(b, wraps, one, zero);
  }
  scf::YieldOp::create(b, next);
}

LLVM::LLVMFuncOp Outliner::buildBody(StringRef name) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(entry);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()),
      {pointer, b.getI64Type(), b.getI64Type(), b.getI32Type()});
  auto body = LLVM::LLVMFuncOp::create(b, name, type, LLVM::Linkage::Internal);
  Block *block = body.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  auto toIndex = [&](unsigned argument) -> Value {
    return arith::IndexCastUIOp::create(b, b.getIndexType(),
                                        block->getArgument(argument));
  };
  Value begin = toIndex(1), end = toIndex(2), worker = toIndex(3);
  IRMapping mapping = loadCaptures(block->getArgument(0));
  buildItems(mapping, begin, end);
  b.setInsertionPointToEnd(block);
  LLVM::ReturnOp::create(b, ValueRange());

  IRRewriter rewriter(b.getContext());
  body.walk([&](transformer::WorkerOp op) { rewriter.replaceOp(op, worker); });
  return body;
}

void Outliner::buildCall(LLVM::LLVMFuncOp body) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Type> fields;
  for (Value value : captures) {
    fields.push_back(stored(value));
  }
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), fields);
  Value argument;
  {
    // In the entry block: inside a loop it would grow the stack.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&entry.getBody().front());
    Value single = LLVM::ConstantOp::create(b, b.getI64Type(), 1);
    argument = LLVM::AllocaOp::create(b, pointer, type, single);
  }
  b.setInsertionPoint(loop);
  for (auto [index, value] : llvm::enumerate(captures)) {
    Value place = LLVM::GEPOp::create(
        b, pointer, type, argument,
        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(index)});
    Value converted =
        UnrealizedConversionCastOp::create(b, TypeRange(fields[index]), value)
            .getResult(0);
    LLVM::StoreOp::create(b, converted, place);
  }
  Value count = constant(1);
  for (auto [lower, upper, step] :
       llvm::zip(loop.getLowerBound(), loop.getUpperBound(), loop.getStep())) {
    Value span = arith::SubIOp::create(b, upper, lower);
    Value extent = arith::CeilDivSIOp::create(b, span, step);
    count = arith::MulIOp::create(b, count, extent);
  }
  Value items = arith::IndexCastOp::create(b, b.getI64Type(), count);
  Value step = entry.getArgument(0);
  Value host = loadPointer(b, step, offsetof(tfc_step_v0, host));
  Value parallelFor = loadPointer(b, host, offsetof(tfc_host_v0, parallel_for));
  Value context = loadPointer(b, host, offsetof(tfc_host_v0, ctx));
  Value function = LLVM::AddressOfOp::create(b, body);
  auto callee = LLVM::LLVMFunctionType::get(
      b.getI32Type(), {pointer, b.getI64Type(), pointer, pointer});
  auto call = LLVM::CallOp::create(
      b, callee, ValueRange{parallelFor, context, items, function, argument});
  call->setAttr(transformer::kStatusAttrName, b.getUnitAttr());
  loop.erase();
}
