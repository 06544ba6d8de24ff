// Scores of queries in fragments against a tile of keys.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/FragmentScores.h"

#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tfc;

void FragmentScores::loadQueries() {
  int64_t headDim = block.cache.headDim;
  for (int64_t column = 0; column < headDim; column += 16) {
    LeftFragment fragment;
    for (int64_t i = 0; i < 4; ++i) {
      const FragmentRow &row = block.rows[i % 2];
      Value place = k.add(k.scale(row.head, headDim),
                          k.add(block.pair, column + i / 2 * 8));
      fragment[i] = LLVM::BitcastOp::create(
          b, b.getI32Type(),
          loadKeptVector(k, block.op.getQuery(), row.token, place, 2));
    }
    queries.push_back(fragment);
  }
}

SmallVector<SumFragment> FragmentScores::build(KeyTiles &tiles, Value first) {
  Value zero = k.number(0);
  SmallVector<SumFragment> scores(block.numEights(), {zero, zero, zero, zero});
  for (auto [step, query] : llvm::enumerate(queries)) {
    for (int64_t n = 0; n < block.numEights(); n += 2) {
      LeftFragment keys = tiles.loadKeys(block.inTile(n * 8), step * 16);
      for (int64_t i = 0; i < 2; ++i) {
        scores[n + i] =
            multiplyFragments(b, block.cache.element, query,
                              {keys[2 * i], keys[2 * i + 1]}, scores[n + i]);
      }
    }
  }
  // Of the thread's first position, the others being constants from there.
  Value own = k.add(k.add(first, block.pair), block.inTile(0));
  auto fromOwn = [&](Value position) -> Value {
    return arith::IndexCastOp::create(b, b.getI32Type(),
                                      k.subtract(position, own));
  };
  bool isLeftBounded = bool(block.op.getLeft());
  std::array<Value, 2> ends, begins;
  for (auto [half, row] : llvm::enumerate(block.rows)) {
    ends[half] = fromOwn(row.end);
    begins[half] = isLeftBounded ? fromOwn(row.first) : Value();
  }
  for (auto [n, fragment] : llvm::enumerate(scores)) {
    for (auto [e, score] : llvm::enumerate(fragment)) {
      int64_t distance = n * 8 + e % 2;
      Value place = arith::ConstantOp::create(b, b.getI32IntegerAttr(distance));
      Value isSeen = k.isLess(place, ends[e / 2]);
      if (isLeftBounded) {
        isSeen = arith::AndIOp::create(
            b, isSeen,
            arith::CmpIOp::create(b, arith::CmpIPredicate::sge, place,
                                  begins[e / 2]));
      }
      score = arith::SelectOp::create(
          b, isSeen, finish(score, block.rows[e / 2], k.add(own, distance)),
          block.lowest());
    }
  }
  return scores;
}

/// scale * sum + bias + slope, capped, as a power of two.
Value FragmentScores::finish(Value sum, const FragmentRow &row,
                             Value position) {
  transformer::PagedAttentionOp op = block.op;
  Value toPower = k.number(kLog2E);
  if (!op.getBias() && !op.getSlopes() && !op.getCap()) {
    return arith::MulFOp::create(b, sum,
                                 arith::MulFOp::create(b, row.scale, toPower));
  }
  Value score = arith::MulFOp::create(b, sum, row.scale);
  Value distance = k.subtract(position, row.position);
  if (op.getBias()) {
    int64_t farthest = transformer::widthOf(op.getBias()) / 2;
    Value place = k.add(
        k.min(k.max(distance, k.constant(-farthest)), k.constant(farthest)),
        farthest);
    score = arith::AddFOp::create(
        b, score,
        memref::LoadOp::create(b, op.getBias(), ValueRange{row.head, place}));
  }
  if (op.getSlopes()) {
    Value steps = arith::SIToFPOp::create(
        b, b.getF32Type(),
        arith::IndexCastOp::create(b, b.getI32Type(), distance));
    Value slope =
        memref::LoadOp::create(b, op.getSlopes(), ValueRange{row.head});
    score =
        arith::AddFOp::create(b, score, arith::MulFOp::create(b, slope, steps));
  }
  return arith::MulFOp::create(b, k.capScore(score, op), toPower);
}
