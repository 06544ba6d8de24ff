// What the warps of a block have of the same rows, put together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/WarpMerge.h"

#include "compiler/gpu/thread/PowerOfTwo.h"
#include "compiler/kernel/StepFields.h"
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

void WarpMerge::storePart(ArrayRef<Value> sums, Value highest, Value total,
                          AttentionParts &parts) {
  Value number = k.divide(block.thread, 8);
  for (auto [i, sum] : llvm::enumerate(sums)) {
    parts.storeSums(sum, block.part, number, columnOf(i));
  }
  k.when(block.isEqual(k.remainder(block.thread, 8), 0), [&] {
    Value numbers = vector::FromElementsOp::create(b, pairType(b),
                                                   ValueRange{highest, total});
    parts.storeNumbers(numbers, block.part, number);
  });
}

void WarpMerge::emit(const RowState &state, const WorkItem &item, Value head,
                     AttentionParts *parts) {
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
  KernelBuilder::Values places, shares, numbers, sums;
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
  for (int64_t i = 0; i < block.cache.headDim / 16; ++i) {
    Value sum = arith::ConstantOp::create(b, b.getZeroAttr(type));
    for (auto [place, share] : llvm::zip_equal(places, shares)) {
      Value both = load(buildAddress(b, place, columnOf(i), sizeof(float)));
      Value factor = vector::BroadcastOp::create(b, type, share);
      sum =
          arith::AddFOp::create(b, sum, arith::MulFOp::create(b, both, factor));
    }
    sums.push_back(sum);
  }
  auto storeMeans = [&] {
    Value all = vector::BroadcastOp::create(b, type, total);
    for (auto [i, sum] : llvm::enumerate(sums)) {
      block.storeColumns(arith::DivFOp::create(b, sum, all), row, columnOf(i));
    }
  };
  if (!parts) {
    storeMeans();
    return;
  }
  k.when(parts->isAlone(), storeMeans,
         [&] { storePart(sums, highest, total, *parts); });
}
