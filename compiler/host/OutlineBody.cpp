// The body of an outermost parallel loop as a function, and the call of the
// host's parallel_for with it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/OutlineBody.h"

#include "compiler/kernel/StepFields.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tfc;

Value Outliner::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Type Outliner::stored(Value value) {
  return isPlain(value.getType()) ? LLVM::LLVMPointerType::get(b.getContext())
                                  : converter.convertType(value.getType());
}

Value Outliner::store(Value value) {
  return isPlain(value.getType()) ? buildPointer(b, value)
                                  : UnrealizedConversionCastOp::create(
                                        b, TypeRange(stored(value)), value)
                                        .getResult(0);
}

Value Outliner::restore(Type type, Value field) {
  if (!isPlain(type)) {
    return UnrealizedConversionCastOp::create(b, TypeRange(type), field)
        .getResult(0);
  }
  // Nobody in the body asks for the length (hoistLengths).
  return buildMemRef(b, cast<MemRefType>(type), field,
                     constant(std::numeric_limits<int64_t>::max()));
}

LLVM::LLVMStructType Outliner::getContextType() {
  SmallVector<Type> fields;
  for (Value value : captures.values) {
    fields.push_back(stored(value));
  }
  return LLVM::LLVMStructType::getLiteral(b.getContext(), fields);
}

IRMapping Outliner::loadCaptures(Value argument) {
  IRMapping mapping;
  for (Operation *op : captures.constants) {
    b.clone(*op, mapping);
  }
  auto type = getContextType();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  for (auto [index, value] : llvm::enumerate(captures.values)) {
    Value place = LLVM::GEPOp::create(
        b, pointer, type, argument,
        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(index)});
    Value loaded = LLVM::LoadOp::create(b, stored(value), place);
    mapping.map(value, restore(value.getType(), loaded));
  }
  return mapping;
}

/// Walks the flattened space: the indices of `begin` once by division, then
/// counting up with carry.
void Outliner::buildItems(IRMapping &mapping, Value begin, Value end) {
  unsigned axes = loop.getNumLoops();
  Value one = constant(1);
  SmallVector<Value> extents = buildExtents(b, loop, mapping);
  auto items =
      scf::ForOp::create(b, begin, end, one, splitItem(b, begin, extents));
  b.setInsertionPointToStart(items.getBody());
  SmallVector<Value> current(items.getRegionIterArgs());
  buildItem(b, loop, current, mapping);
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

void Outliner::buildCall(LLVM::LLVMFuncOp body, Value frame) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto type = getContextType();
  b.setInsertionPoint(loop);
  for (auto [index, value] : llvm::enumerate(captures.values)) {
    Value place = LLVM::GEPOp::create(
        b, pointer, type, frame,
        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(index)});
    LLVM::StoreOp::create(b, store(value), place);
  }
  Value items =
      arith::IndexCastOp::create(b, b.getI64Type(), buildItemCount(b, loop));
  Value step = entry.getArgument(0);
  Value host = loadPointer(b, step, offsetof(tfc_step_v0, host));
  Value parallelFor = loadPointer(b, host, offsetof(tfc_host_v0, parallel_for));
  Value context = loadPointer(b, host, offsetof(tfc_host_v0, ctx));
  Value function = LLVM::AddressOfOp::create(b, body);
  auto callee = LLVM::LLVMFunctionType::get(
      b.getI32Type(), {pointer, b.getI64Type(), pointer, pointer});
  auto call = LLVM::CallOp::create(
      b, callee, ValueRange{parallelFor, context, items, function, frame});
  call->setAttr(transformer::kStatusAttrName, b.getUnitAttr());
  loop.erase();
}
