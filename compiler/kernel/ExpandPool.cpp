// Pooling: the sequence of each wanted row is looked for, then its visible rows
// are gone through.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/ExpandPool.h"

#include "compiler/kernel/ColumnPieces.h"
#include "compiler/kernel/NewRows.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

namespace {

class PoolEmitter {
public:
  PoolEmitter(transformer::RaggedPoolOp op, Value step, int64_t lanes,
              OpBuilder &builder)
      : op(op), k(op.getLoc(), builder, step), b(k.builder()), step(step),
        lanes(lanes), width(transformer::widthOf(op.getInput())) {}

  void emit();

private:
  NewRows findRows(Value row);
  /// What the sum is divided by, or nothing.
  Value findDivisor(Value count);
  void emitPiece(const NewRows &rows, Value divisor, Value row, Value column,
                 int64_t pieceWidth);

  Value broadcast(Value number, int64_t pieceWidth) {
    return pieceWidth == 1 ? number
                           : vector::BroadcastOp::create(
                                 b, f32Vector(k, pieceWidth), number);
  }

  transformer::RaggedPoolOp op;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  Value step;
  int64_t lanes, width;
};

} // namespace

void PoolEmitter::emit() {
  Value zero = k.constant(0), one = k.constant(1);
  Value count = memref::DimOp::create(b, op.getInit(), 0);
  bool isScalar = lanes == 1;
  Values upper = {count}, lower = {zero}, steps = {one};
  if (isScalar) {
    upper.push_back(k.constant(width));
    lower.push_back(zero);
    steps.push_back(one);
  }
  auto loop = scf::ParallelOp::create(b, lower, upper, steps);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVars()[0];
  NewRows rows = findRows(row);
  Value divisor = findDivisor(rows.visible);
  if (isScalar) {
    emitPiece(rows, divisor, row, loop.getInductionVars()[1], 1);
    return;
  }
  int64_t whole = width / lanes * lanes;
  k.loop(zero, k.constant(whole), lanes,
         [&](Value column) { emitPiece(rows, divisor, row, column, lanes); });
  for (const ColumnPiece &piece : cutColumns(width - whole, lanes)) {
    emitPiece(rows, divisor, row, k.constant(whole + piece.offset),
              piece.width);
  }
}

NewRows PoolEmitter::findRows(Value row) {
  Value token = arith::IndexCastOp::create(
      b, b.getIndexType(), memref::LoadOp::create(b, op.getRows(), row));
  NewRows rows = findNewRows(k, step, token);
  if (auto skip = static_cast<int64_t>(op.getSkip().value_or(0))) {
    Value left = arith::SubIOp::create(b, rows.visible, k.constant(skip));
    rows.first = k.add(rows.first, k.constant(skip));
    rows.visible = arith::MaxSIOp::create(b, left, k.constant(0));
  }
  return rows;
}

Value PoolEmitter::findDivisor(Value count) {
  if (op.getHow() == transformer::Pooling::Max) {
    return {};
  }
  Value number = arith::SIToFPOp::create(
      b, b.getF32Type(), arith::IndexCastOp::create(b, b.getI32Type(), count));
  return op.getHow() == transformer::Pooling::Mean
             ? number
             : Value(math::SqrtOp::create(b, number));
}

void PoolEmitter::emitPiece(const NewRows &rows, Value divisor, Value row,
                            Value column, int64_t pieceWidth) {
  double lowest = -std::numeric_limits<double>::infinity();
  Value init = broadcast(k.number(divisor ? 0 : lowest), pieceWidth);
  Value y = k.reduce(rows.visible, init, [&](Value i, Value best) -> Value {
    Value place[] = {k.add(rows.first, i), column};
    Value x = pieceWidth == 1
                  ? k.loadFloat(op.getInput(), place)
                  : vector::LoadOp::create(b, f32Vector(k, pieceWidth),
                                           op.getInput(), place);
    return divisor ? Value(arith::AddFOp::create(b, best, x))
                   : arith::MaximumFOp::create(b, best, x);
  });
  if (divisor) {
    y = arith::DivFOp::create(b, y, broadcast(divisor, pieceWidth));
  }
  Value place[] = {row, column};
  if (pieceWidth == 1) {
    k.storeFloat(y, op.getInit(), place);
  } else {
    vector::StoreOp::create(b, y, op.getInit(), place);
  }
}

void tfc::expandPool(transformer::RaggedPoolOp op, Value step, int64_t lanes,
                     RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  PoolEmitter(op, step, lanes, rewriter).emit();
  rewriter.eraseOp(op);
}
