// The softmax of scores in fragments, and the sums of values that go with it,
// tile by tile.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/FragmentSoftmax.h"

#include "compiler/gpu/thread/PowerOfTwo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

RowState RowState::unpack(ValueRange values) {
  RowState state;
  state.highest = {values[0], values[1]};
  state.total = {values[2], values[3]};
  for (values = values.drop_front(4); !values.empty();
       values = values.drop_front(4)) {
    state.sums.push_back({values[0], values[1], values[2], values[3]});
  }
  return state;
}

KernelBuilder::Values RowState::pack() const {
  KernelBuilder::Values values = {highest[0], highest[1], total[0], total[1]};
  for (const SumFragment &sum : sums) {
    values.append(sum.begin(), sum.end());
  }
  return values;
}

/// A sink is a score without a value, which one thread counts, in one part.
RowState FragmentSoftmax::begin(int64_t columns) {
  RowState state;
  for (int64_t half = 0; half < 2; ++half) {
    state.highest[half] = block.lowest();
    state.total[half] = k.number(0);
    if (Value sink =
            block.score.sink(block.rows[half].token, block.rows[half].head)) {
      Value counts = block.isEqual(block.pair, 0);
      if (block.isShared) {
        counts = arith::AndIOp::create(b, counts, block.isEqual(block.warp, 0));
      }
      if (block.part) {
        counts = arith::AndIOp::create(b, counts, block.isEqual(block.part, 0));
      }
      state.highest[half] = sink;
      state.total[half] =
          arith::SelectOp::create(b, counts, k.number(1), k.number(0));
    }
  }
  Value zero = k.number(0);
  state.sums.assign(columns / 8, {zero, zero, zero, zero});
  return state;
}

/// Of the four lanes that share a row.
void FragmentSoftmax::finish(RowState &state) {
  for (Value &total : state.total) {
    total = block.lanes.combine(total, 4, [&](Value x, Value y) -> Value {
      return arith::AddFOp::create(b, x, y);
    });
  }
}

std::array<Value, 2> FragmentSoftmax::highestOf(const RowState &state,
                                                ArrayRef<SumFragment> scores) {
  std::array<Value, 2> all;
  for (int64_t half = 0; half < 2; ++half) {
    Value highest = state.highest[half];
    for (const SumFragment &score : scores) {
      highest = block.larger(block.larger(score[2 * half], score[2 * half + 1]),
                             highest);
    }
    all[half] = block.lanes.combine(
        highest, 4, [&](Value x, Value y) { return block.larger(x, y); });
  }
  return all;
}

std::array<Value, 2> FragmentSoftmax::weighAgainst(
    RowState &state, const std::array<Value, 2> &greatest,
    SmallVectorImpl<SumFragment> &scores, bool isMasked) {
  std::array<Value, 2> decays;
  for (int64_t half = 0; half < 2; ++half) {
    Value highest = greatest[half];
    Value decay = buildPowerOfTwo(
        b, arith::SubFOp::create(b, state.highest[half], highest));
    Value total = arith::MulFOp::create(b, state.total[half], decay);
    for (SumFragment &score : scores) {
      for (int64_t i = 0; i < 2; ++i) {
        Value &weight = score[2 * half + i];
        Value power =
            buildPowerOfTwo(b, arith::SubFOp::create(b, weight, highest));
        if (isMasked) {
          Value isSeen = arith::CmpFOp::create(b, arith::CmpFPredicate::UNE,
                                               weight, block.lowest());
          power = arith::SelectOp::create(b, isSeen, power, k.number(0));
        }
        weight = power;
        total = arith::AddFOp::create(b, total, weight);
      }
    }
    decays[half] = decay;
    state.highest[half] = highest;
    state.total[half] = total;
  }
  return decays;
}

Value FragmentSoftmax::pairOf(Value x, Value y) {
  auto type = VectorType::get(2, b.getF32Type());
  Value both = vector::FromElementsOp::create(b, type, ValueRange{x, y});
  Value narrow =
      arith::TruncFOp::create(b, VectorType::get(2, block.cache.element), both);
  return LLVM::BitcastOp::create(b, b.getI32Type(), narrow);
}

void FragmentSoftmax::scaleSums(RowState &state,
                                const std::array<Value, 2> &decay) {
  for (SumFragment &sum : state.sums) {
    for (int64_t i = 0; i < 4; ++i) {
      sum[i] = arith::MulFOp::create(b, sum[i], decay[i / 2]);
    }
  }
}

LeftFragment FragmentSoftmax::leftOf(ArrayRef<SumFragment> weights, size_t n) {
  LeftFragment left;
  for (int64_t i = 0; i < 4; ++i) {
    const SumFragment &from = weights[n + i / 2];
    left[i] = pairOf(from[i % 2 * 2], from[i % 2 * 2 + 1]);
  }
  return left;
}

void FragmentSoftmax::addValues(RowState &state,
                                const std::array<Value, 2> &decay,
                                ArrayRef<SumFragment> weights,
                                KeyTiles &tiles) {
  scaleSums(state, decay);
  for (size_t n = 0; n < weights.size(); n += 2) {
    LeftFragment left = leftOf(weights, n);
    for (int64_t column = 0; column < block.cache.headDim; column += 16) {
      LeftFragment values = tiles.loadValues(block.inTile(n * 8), column);
      for (int64_t i = 0; i < 2; ++i) {
        SumFragment &sum = state.sums[column / 8 + i];
        sum = multiplyFragments(b, block.cache.element, left,
                                {values[2 * i], values[2 * i + 1]}, sum);
      }
    }
  }
}

void FragmentSoftmax::addValues(RowState &state,
                                const std::array<Value, 2> &decay,
                                ArrayRef<SumFragment> weights,
                                WarpgroupTiles &tiles) {
  scaleSums(state, decay);
  SmallVector<LeftFragment> lefts;
  for (size_t n = 0; n < weights.size(); n += 2) {
    lefts.push_back(leftOf(weights, n));
  }
  tiles.addValues(lefts, state.sums);
}
