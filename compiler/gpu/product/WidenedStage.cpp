// Rows of x in 16 bytes a lane, integers of w in a word or two.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/WidenedStage.h"

#include "compiler/gpu/product/MatrixFragments.h"
#include "compiler/gpu/product/TiledProduct.h"
#include "compiler/gpu/thread/AsyncCopies.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

using Tile = TiledProduct;

static constexpr int32_t kHalf = WidenedWeights::kHalf;
static_assert(Tile::kSteps == WidenedWeights::kColumns,
              "a stage is what integers are read at once");

WidenedStage::WidenedStage(ThreadBuilder &t, const TiledProduct &tile,
                           const ProductForm &form,
                           const ProductOperands &operands,
                           const Places &places)
    : t(t), tile(tile), form(form), p(operands), at(places),
      scales(tile.side, TiledProduct::kThreads, form) {}

Value WidenedStage::placeOf(Value chunk, Value row) {
  return t.exclusiveOr(chunk, t.scale(t.remainder(row, 2), 4));
}

void WidenedStage::requestScales(Value base, Value stage) {
  scales.request(t, form, p, at.firstColumn,
                 t.bytes(base, tile.scalesOffset(form)), stage);
}

/// Of rows group, group + 8, ... of the warp's, the lane's words of a half.
SmallVector<WidenedStage::Words> WidenedStage::loadInput(Value base,
                                                         Value half) {
  ImplicitLocOpBuilder &b = t.builder();
  Value group = t.divide(at.lane, 4), place = t.remainder(at.lane, 4);
  Value row = t.add(at.warpRow, group);
  Value chunk = placeOf(t.add(place, t.scale(half, 4)), row);
  Value first = t.bytes(
      base, t.add(t.scale(row, Tile::kRowBytes), t.scale(chunk, kCopyBytes)));
  SmallVector<Words> rows;
  for (int32_t i = 0; i < 2 * tile.lefts(); ++i) {
    Value vector = t.load(VectorType::get(4, b.getI32Type()),
                          t.bytes(first, 8 * i * Tile::kRowBytes), kCopyBytes);
    Words &words = rows.emplace_back();
    for (int64_t word = 0; word < 4; ++word) {
      words.push_back(vector::ExtractOp::create(b, vector, word));
    }
  }
  return rows;
}

/// The zero point of column `group of the lane` of eight, as it is kept.
Value WidenedStage::loadZero(int32_t right, Value group) {
  int32_t share = form.gate ? 2 : 1;
  Value column = t.add(at.firstColumn, t.divide(at.warpColumn, share));
  column = t.add(t.add(column, 8 * (right / share)), t.divide(at.lane, 4));
  column = t.min(column, t.subtract(p.width, 1));
  bool isGate = form.gate && right % 2 == 0;
  return RowGroups(t, form, isGate ? p.gateGroups : p.groups, column, p.depth)
      .loadZero(t, group);
}

/// Of eight columns, the lane's pairs of a half.
WidenedStage::Words WidenedStage::loadWeights(Value base, int32_t right,
                                              Value half, Value group) {
  WidenedWeights integers(t, form);
  int32_t bytes = Tile::weightRowBytes(form);
  Value row = t.add(at.warpColumn, t.divide(at.lane, 4));
  Value own = t.add(t.scale(row, bytes),
                    t.scale(t.remainder(at.lane, 4), integers.laneBytes()));
  own = t.add(own, t.scale(half, integers.laneBytes(kHalf)));
  Value address =
      t.bytes(t.bytes(base, own), tile.weightsOffset() + 8 * right * bytes);
  Value zero = form.hasZeros ? loadZero(right, group) : Value();
  return integers.widen(integers.load(address, kHalf), /*half=*/0, zero);
}

/// Of the two columns whose sums the lane has.
WidenedStage::Words WidenedStage::loadScales(Value base, int32_t right,
                                             Value half) {
  return llvm::to_vector(scales.load(t, t.bytes(base, tile.scalesOffset(form)),
                                     t.add(at.warpColumn, 8 * right), half));
}

/// With eight columns; without groups there are no scales here.
void WidenedStage::multiplyRight(ArrayRef<Words> input, const Words &weights,
                                 const Words &scales, int32_t right,
                                 Sums &sums) {
  ImplicitLocOpBuilder &b = t.builder();
  for (int32_t i = 0; i < tile.lefts(); ++i) {
    const Words &upper = input[2 * i], &lower = input[2 * i + 1];
    Value *all = &sums[4 * (i * tile.rights() + right)];
    SumFragment own = {all[0], all[1], all[2], all[3]};
    if (!scales.empty()) {
      own.fill(t.zero());
    }
    for (int32_t k : {0, 2}) {
      own = multiplyFragments(b, form.element,
                              {upper[k], lower[k], upper[k + 1], lower[k + 1]},
                              {weights[k], weights[k + 1]}, own);
    }
    for (int32_t j = 0; j < 4; ++j) {
      all[j] = scales.empty()
                   ? own[j]
                   : LLVM::FMAOp::create(b, own[j], scales[j % 2], all[j])
                         .getResult();
    }
  }
}

WidenedStage::Sums WidenedStage::multiplyHalf(Value base, Value half,
                                              Value stage, ValueRange before) {
  Sums sums(before);
  Value group;
  if (form.hasZeros) {
    Value k = t.add(t.scale(stage, Tile::kSteps), t.scale(half, kHalf));
    group = RowGroups::find(t, form, k, p.depth);
  }
  SmallVector<Words> input = loadInput(base, half);
  for (int32_t right = 0; right < tile.rights(); ++right) {
    Words weights = loadWeights(base, right, half, group);
    Words scales = form.group ? loadScales(base, right, half) : Words();
    multiplyRight(input, weights, scales, right, sums);
  }
  return sums;
}

/// One half after the other, in a loop whose length nobody knows: operands of
/// both at once would not fit the registers beside the sums.
WidenedStage::Sums WidenedStage::multiply(Value slot, Value stage,
                                          ArrayRef<Value> before) {
  Value base = t.bytes(at.shared, t.scale(slot, tile.stageBytes(form)));
  Value left = t.subtract(p.depth, t.scale(stage, Tile::kSteps));
  Value halves = t.min(t.divide(t.add(left, kHalf - 1), kHalf), t.number(2));
  return t.loop(t.number(0), halves, 1, before,
                [&](Value half, ValueRange sums) {
                  return multiplyHalf(base, half, stage, sums);
                });
}
