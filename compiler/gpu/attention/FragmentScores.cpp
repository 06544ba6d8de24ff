// Scores of queries in fragments against a tile of keys.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/FragmentScores.h"

#include "compiler/gpu/rows/RowVector.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

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

SmallVector<SumFragment> FragmentScores::multiply(KeyTiles &tiles) {
  Value zero = k.number(0);
  SmallVector<SumFragment> products(block.numEights(),
                                    {zero, zero, zero, zero});
  for (auto [step, query] : llvm::enumerate(queries)) {
    for (int64_t n = 0; n < block.numEights(); n += 2) {
      LeftFragment keys = tiles.loadKeys(block.inTile(n * 8), step * 16);
      for (int64_t i = 0; i < 2; ++i) {
        products[n + i] =
            multiplyFragments(b, block.cache.element, query,
                              {keys[2 * i], keys[2 * i + 1]}, products[n + i]);
      }
    }
  }
  return products;
}

void FragmentScores::build(SmallVectorImpl<SumFragment> &products, Value first,
                           bool isMasked) {
  // Of the thread's first position, the others being constants from there.
  Value own = k.add(k.add(first, block.pair), block.inTile(0));
  auto fromOwn = [&](Value position) -> Value {
    return arith::IndexCastOp::create(b, b.getI32Type(),
                                      k.subtract(position, own));
  };
  bool isLeftBounded = block.score.hasFirst();
  std::array<Value, 2> ends, begins;
  for (auto [half, row] : llvm::enumerate(block.rows)) {
    ends[half] = fromOwn(row.end);
    begins[half] = isLeftBounded ? fromOwn(row.first) : Value();
  }
  for (auto [n, fragment] : llvm::enumerate(products)) {
    for (auto [e, score] : llvm::enumerate(fragment)) {
      int64_t distance = n * 8 + e % 2;
      score = block.score.score(score, block.rows[e / 2], k.add(own, distance));
      if (!isMasked) {
        continue;
      }
      Value place = arith::ConstantOp::create(b, b.getI32IntegerAttr(distance));
      Value isSeen = k.isLess(place, ends[e / 2]);
      if (isLeftBounded) {
        isSeen = arith::AndIOp::create(
            b, isSeen,
            arith::CmpIOp::create(b, arith::CmpIPredicate::sge, place,
                                  begins[e / 2]));
      }
      score = arith::SelectOp::create(b, isSeen, score, block.lowest());
    }
  }
}
