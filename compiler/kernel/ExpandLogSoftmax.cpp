// Log probabilities, a row at a time: of each softmax the greatest score, the
// sum of exponentials, then what is written.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/ExpandLogSoftmax.h"

#include "compiler/kernel/ColumnTile.h"
#include "compiler/kernel/LaneSum.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tfc;

namespace {

class LogSoftmaxEmitter {
public:
  LogSoftmaxEmitter(transformer::ClusteredLogSoftmaxOp op, Value step,
                    int64_t lanes, OpBuilder &builder)
      : op(op), k(op.getLoc(), builder, step), b(k.builder()), lanes(lanes) {}

  void emit();

private:
  Value load(Value rows, Value column, int64_t width);
  /// ln(sum exp) of the columns of `parts` together.
  Value logSum(ArrayRef<Value> parts);
  /// Writes `from` plus `added` to the result's columns from `first` on.
  void write(Value from, Value added, int64_t first);

  transformer::ClusteredLogSoftmaxOp op;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  int64_t lanes;
  Value row;
};

} // namespace

void LogSoftmaxEmitter::emit() {
  Value zero = k.constant(0), one = k.constant(1);
  Value count = memref::DimOp::create(b, op.getInit(), 0);
  auto loop = scf::ParallelOp::create(b, zero, count, one);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  row = loop.getInductionVars()[0];
  SmallVector<Value> together = {op.getInput()};
  if (op.getGates()) {
    together.push_back(op.getGates());
  }
  Value all = logSum(together);
  write(op.getInput(), arith::NegFOp::create(b, all), 0);
  int64_t first = transformer::widthOf(op.getInput());
  for (auto [number, cluster] : llvm::enumerate(op.getClusters())) {
    Value place[] = {row, k.constant(int64_t(number))};
    Value gate =
        arith::SubFOp::create(b, k.loadFloat(op.getGates(), place), all);
    write(cluster, arith::SubFOp::create(b, gate, logSum(cluster)), first);
    first += transformer::widthOf(cluster);
  }
}

Value LogSoftmaxEmitter::load(Value rows, Value column, int64_t width) {
  ColumnTile tile(k, column, ColumnPiece{0, width});
  return tile.loadRow(rows, row, k.constant(0)).front();
}

Value LogSoftmaxEmitter::logSum(ArrayRef<Value> parts) {
  auto greater = [&](Value x, Value y) -> Value {
    return arith::MaximumFOp::create(b, x, y);
  };
  auto sum = [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(b, x, y);
  };
  Value lowest = k.number(std::numeric_limits<float>::lowest());
  Value greatest = lowest;
  for (Value rows : parts) {
    greatest = reduceColumns(
        k, transformer::widthOf(rows), lanes, greatest, lowest,
        [&](Value column, int64_t width, Value old) {
          return greater(old, load(rows, column, width));
        },
        greater);
  }
  Value total = k.number(0);
  for (Value rows : parts) {
    total = reduceColumns(
        k, transformer::widthOf(rows), lanes, total, k.number(0),
        [&](Value column, int64_t width, Value old) -> Value {
          ColumnTile tile(k, column, ColumnPiece{0, width});
          Value difference = arith::SubFOp::create(
              b, load(rows, column, width), tile.broadcast(greatest).front());
          return sum(old, math::ExpOp::create(b, difference));
        },
        sum);
  }
  return arith::AddFOp::create(b, greatest, math::LogOp::create(b, total));
}

void LogSoftmaxEmitter::write(Value from, Value added, int64_t first) {
  int64_t columns = transformer::widthOf(from);
  int64_t whole = lanes == 1 ? 0 : columns / lanes * lanes;
  auto emit = [&](Value column, int64_t width) {
    ColumnTile tile(k, column, ColumnPiece{0, width});
    Value y = arith::AddFOp::create(b, load(from, column, width),
                                    tile.broadcast(added).front());
    tile.storeRow(y, op.getInit(), row, k.constant(first));
  };
  if (whole > 0) {
    k.loop(k.constant(0), k.constant(whole), lanes,
           [&](Value column) { emit(column, lanes); });
  }
  k.loop(k.constant(whole), k.constant(columns), 1,
         [&](Value column) { emit(column, 1); });
}

void tfc::expandLogSoftmax(transformer::ClusteredLogSoftmaxOp op, Value step,
                           int64_t lanes, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  LogSoftmaxEmitter(op, step, lanes, rewriter).emit();
  rewriter.eraseOp(op);
}
