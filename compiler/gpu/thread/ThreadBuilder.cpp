// Arithmetic of 32 bits, which is what a device has registers for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/thread/ThreadBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

/// The state space of device memory in pointers.
static constexpr unsigned kGlobalSpace = 1;

Value ThreadBuilder::thread() {
  return NVVM::ThreadIdXOp::create(b, b.getI32Type());
}

Value ThreadBuilder::lane() { return remainder(thread(), kWarpLanes); }

Value ThreadBuilder::warp() { return divide(thread(), kWarpLanes); }

Value ThreadBuilder::blockX() {
  return NVVM::BlockIdXOp::create(b, b.getI32Type());
}

Value ThreadBuilder::blockY() {
  return NVVM::BlockIdYOp::create(b, b.getI32Type());
}

Value ThreadBuilder::blocksX() {
  return NVVM::GridDimXOp::create(b, b.getI32Type());
}

Value ThreadBuilder::blocksY() {
  return NVVM::GridDimYOp::create(b, b.getI32Type());
}

Value ThreadBuilder::number(int32_t value) {
  return arith::ConstantIntOp::create(b, value, 32);
}

Value ThreadBuilder::zero() {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(0));
}

Value ThreadBuilder::add(Value x, Value y) {
  return arith::AddIOp::create(b, x, y);
}

Value ThreadBuilder::add(Value x, int32_t y) {
  return y == 0 ? x : add(x, number(y));
}

Value ThreadBuilder::subtract(Value x, int32_t y) {
  return arith::SubIOp::create(b, x, number(y));
}

Value ThreadBuilder::subtract(Value x, Value y) {
  return arith::SubIOp::create(b, x, y);
}

Value ThreadBuilder::scale(Value x, int32_t factor) {
  return factor == 1 ? x : arith::MulIOp::create(b, x, number(factor));
}

Value ThreadBuilder::multiply(Value x, Value y) {
  return arith::MulIOp::create(b, x, y);
}

Value ThreadBuilder::divide(Value x, int32_t divisor) {
  return arith::DivUIOp::create(b, x, number(divisor));
}

Value ThreadBuilder::divide(Value x, Value divisor) {
  return arith::DivUIOp::create(b, x, divisor);
}

Value ThreadBuilder::remainder(Value x, int32_t divisor) {
  return arith::RemUIOp::create(b, x, number(divisor));
}

Value ThreadBuilder::exclusiveOr(Value x, Value y) {
  return arith::XOrIOp::create(b, x, y);
}

Value ThreadBuilder::min(Value x, Value y) {
  return arith::MinSIOp::create(b, x, y);
}

Value ThreadBuilder::isLess(Value x, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, y);
}

Value ThreadBuilder::both(Value x, Value y) {
  return arith::AndIOp::create(b, x, y);
}

Value ThreadBuilder::addFloats(Value x, Value y) {
  return arith::AddFOp::create(b, x, y);
}

Value ThreadBuilder::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, condition, x, y);
}

Value ThreadBuilder::wide(Value x) {
  return arith::ExtSIOp::create(b, b.getI64Type(), x);
}

Value ThreadBuilder::element(Value base, Type element, Value row, Value stride,
                             Value column) {
  Value index = wide(column);
  if (row) {
    index = arith::AddIOp::create(
        b, arith::MulIOp::create(b, wide(row), wide(stride)), index);
  }
  return LLVM::GEPOp::create(b, base.getType(), element, base,
                             ArrayRef<LLVM::GEPArg>{index});
}

Value ThreadBuilder::bytes(Value base, Value offset) {
  return LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value ThreadBuilder::bytes(Value base, int32_t offset) {
  return offset == 0
             ? base
             : LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                                   ArrayRef<LLVM::GEPArg>{offset});
}

Value ThreadBuilder::load(Type type, Value address, unsigned alignment) {
  return LLVM::LoadOp::create(b, type, address, alignment);
}

ThreadBuilder::Values ThreadBuilder::loadFloats(Value address) {
  constexpr int64_t count = 4;
  Value floats =
      load(VectorType::get(count, b.getF32Type()), address, 4 * count);
  Values all;
  for (int64_t i = 0; i < count; ++i) {
    all.push_back(vector::ExtractOp::create(b, floats, i));
  }
  return all;
}

void ThreadBuilder::store(Value value, Value address, unsigned alignment) {
  LLVM::StoreOp::create(b, value, address, alignment);
}

void ThreadBuilder::prefetch(Value address, Value size) {
  NVVM::CpAsyncBulkPrefetchOp::create(b, address, size,
                                      /*l2CacheHint=*/Value());
}

Value ThreadBuilder::global(Value pointer) {
  return LLVM::AddrSpaceCastOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), kGlobalSpace), pointer);
}

void ThreadBuilder::barrier() { gpu::BarrierOp::create(b); }

void ThreadBuilder::barrierOfWarp() { NVVM::SyncWarpOp::create(b, number(-1)); }

void ThreadBuilder::when(Value condition, function_ref<void()> then) {
  auto branch = scf::IfOp::create(b, condition);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  then();
}

ThreadBuilder::Values ThreadBuilder::choose(Value condition, TypeRange types,
                                            function_ref<Values()> then,
                                            function_ref<Values()> otherwise) {
  auto branch = scf::IfOp::create(b, types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, then());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, otherwise());
  return Values(branch.getResults());
}

ThreadBuilder::Values
ThreadBuilder::loop(Value from, Value to, int32_t step, ValueRange inits,
                    function_ref<Values(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, from, to, number(step), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  // A loop without values has its end already.
  if (!inits.empty()) {
    scf::YieldOp::create(b, next);
  }
  return Values(loop.getResults());
}
