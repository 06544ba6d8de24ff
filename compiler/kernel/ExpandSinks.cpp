// What a memory of zeros adds to softmaxes: of a query and a head the scores of
// the distances that lie before the sequence's beginning, in one pass.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/ExpandSinks.h"

#include "compiler/kernel/ColumnTile.h"
#include "compiler/kernel/LaneSum.h"
#include "compiler/kernel/NewRows.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

namespace {

class SinkEmitter {
public:
  SinkEmitter(transformer::RaggedSinksOp sinks, Value step, int64_t lanes,
              OpBuilder &builder)
      : sinks(sinks), k(sinks.getLoc(), builder, step), b(k.builder()),
        step(step), lanes(lanes),
        heads(static_cast<int64_t>(sinks.getNumHeads())),
        width(transformer::widthOf(sinks.getQuery()) / heads) {}

  void emit();

private:
  Value sinkOf(Value token, Value column);
  /// The head's product of the query, with its bias, and a row of the table.
  Value multiply(Value token, Value column, Value row);

  transformer::RaggedSinksOp sinks;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  Value step;
  int64_t lanes, heads, width;
};

} // namespace

void SinkEmitter::emit() {
  Value zero = k.constant(0), one = k.constant(1);
  Value tokens = memref::DimOp::create(b, sinks.getInit(), 0);
  auto loop = scf::ParallelOp::create(b, ValueRange{zero, zero},
                                      ValueRange{tokens, k.constant(heads)},
                                      ValueRange{one, one});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value token = loop.getInductionVars()[0], head = loop.getInductionVars()[1];
  Value sink = sinkOf(token, k.scale(head, width));
  k.storeFloat(sink, sinks.getInit(), ValueRange{token, head});
}

Value SinkEmitter::multiply(Value token, Value column, Value row) {
  auto add = [&](Value at, int64_t width, Value sum) -> Value {
    ColumnTile tile(k, column, ColumnPiece{0, width});
    Value query = tile.loadRow(sinks.getQuery(), token, at).front();
    if (Value bias = sinks.getRelativeBias()) {
      ColumnTile own(k, k.add(column, at), ColumnPiece{0, width});
      query = arith::AddFOp::create(b, query, own.loadVector(bias).front());
    }
    Value key = tile.loadRow(sinks.getRelativeKeys(), row, at).front();
    return math::FmaOp::create(b, query, key, sum);
  };
  Value zero = k.number(0);
  return reduceColumns(k, width, lanes, zero, zero, add,
                       [&](Value x, Value y) -> Value {
                         return arith::AddFOp::create(b, x, y);
                       });
}

Value SinkEmitter::sinkOf(Value token, Value column) {
  NewRows rows = findNewRows(k, step, token);
  Value position = k.add(rows.past, k.subtract(token, rows.first));
  Value begin = k.add(position, 1), end = k.add(sinks.getLeft(), 1);
  Value last = k.subtract(memref::DimOp::create(b, sinks.getRelativeKeys(), 0),
                          k.constant(1));
  Value nearest = k.constant(static_cast<int64_t>(sinks.getSpan()) - 1);
  Value scale = k.number(sinks.getScale().convertToDouble());
  Value lowest = k.number(-1e30);
  Values state =
      k.loop(begin, end, 1, Values{lowest, k.number(0)},
             [&](Value distance, ValueRange state) -> Values {
               // Counted from the last row, whatever rows there are before.
               Value back = k.subtract(nearest, k.min(distance, nearest));
               Value dot = multiply(token, column, k.subtract(last, back));
               Value score = arith::MulFOp::create(b, dot, scale);
               Value greatest = arith::MaximumFOp::create(b, state[0], score);
               Value old = math::ExpOp::create(
                   b, arith::SubFOp::create(b, state[0], greatest));
               Value own = math::ExpOp::create(
                   b, arith::SubFOp::create(b, score, greatest));
               Value total = math::FmaOp::create(b, state[1], old, own);
               return {greatest, total};
             });
  Value sum =
      arith::AddFOp::create(b, state[0], math::LogOp::create(b, state[1]));
  return arith::SelectOp::create(b, k.isLess(begin, end), sum, lowest);
}

void tfc::expandSinks(transformer::RaggedSinksOp op, Value step, int64_t lanes,
                      RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  SinkEmitter(op, step, lanes, rewriter).emit();
  rewriter.eraseOp(op);
}
