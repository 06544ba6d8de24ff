// What the warps of a block have of the same rows, put together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/WarpMerge.h"

#include "compiler/gpu/PowerOfTwo.h"
#include "compiler/host/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

static constexpr int64_t kPairBytes = 2 * sizeof(float);

static VectorType pairType(OpBuilder &b) {
  return VectorType::get(2, b.getF32Type());
}

void WarpMerge::storeState(const RowState &state) {
  VectorType type = pairType(b);
  for (int64_t half = 0; half < 2; ++half) {
    Value row = k.add(k.scale(block.warp, AttentionBlock::kRows),
                      k.add(block.eighth, half * 8));
    Value place = buildAddress(b, memory, row, rowBytes);
    place = buildAddress(b, place, block.pair, sizeof(float));
    for (auto [n, sum] : llvm::enumerate(state.sums)) {
      Value both = vector::FromElementsOp::create(
          b, type, ValueRange{sum[2 * half], sum[2 * half + 1]});
      LLVM::StoreOp::create(
          b, both, buildAddress(b, place, n * 8 * sizeof(float)), kPairBytes);
    }
    auto branch = scf::IfOp::create(b, block.isEqual(block.pair, 0));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value numbers = vector::FromElementsOp::create(
        b, type, ValueRange{state.highest[half], state.total[half]});
    LLVM::StoreOp::create(b, numbers,
                          buildAddress(b, memory, row, kPairBytes, numbersAt),
                          kPairBytes);
  }
}

Value WarpMerge::load(Value address) {
  return LLVM::LoadOp::create(b, pairType(b), address, kPairBytes);
}

void WarpMerge::emit(const RowState &state, const WorkItem &item, Value head) {
  storeState(state);
  gpu::BarrierOp::create(b);
  VectorType type = pairType(b);
  auto at = [&](Value both, int64_t i) -> Value {
    return vector::ExtractOp::create(b, both, i);
  };
  Value number = k.divide(block.thread, 8);
  FragmentRow row = block.makeRow(item, head, number);
  auto branch = scf::IfOp::create(b, row.isOwn);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  KernelBuilder::Values places, shares, numbers;
  Value highest = block.lowest(), total = k.number(0);
  for (int64_t w = 0; w < AttentionBlock::kWarps; ++w) {
    Value own = k.add(number, w * AttentionBlock::kRows);
    places.push_back(buildAddress(b, memory, own, rowBytes));
    numbers.push_back(
        load(buildAddress(b, memory, own, kPairBytes, numbersAt)));
    highest = block.larger(at(numbers.back(), 0), highest);
  }
  for (Value both : numbers) {
    shares.push_back(
        buildPowerOfTwo(b, arith::SubFOp::create(b, at(both, 0), highest)));
    total = arith::AddFOp::create(
        b, total, arith::MulFOp::create(b, at(both, 1), shares.back()));
  }
  int64_t width = block.cache.headDim / 8;
  Value column = k.scale(k.remainder(block.thread, 8), width);
  for (int64_t i = 0; i < width; i += 2) {
    Value sum = arith::ConstantOp::create(b, b.getZeroAttr(type));
    for (auto [place, share] : llvm::zip_equal(places, shares)) {
      Value both = load(
          buildAddress(b, place, column, sizeof(float), i * sizeof(float)));
      Value factor = vector::BroadcastOp::create(b, type, share);
      sum =
          arith::AddFOp::create(b, sum, arith::MulFOp::create(b, both, factor));
    }
    Value all = vector::BroadcastOp::create(b, type, total);
    block.storePair(arith::DivFOp::create(b, sum, all), row, k.add(column, i));
  }
}
