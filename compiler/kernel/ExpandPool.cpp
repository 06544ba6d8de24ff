// Pooling: the sequence of each wanted row is looked for, then its visible rows
// are gone through.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/ExpandPool.h"

#include "compiler/kernel/ColumnPieces.h"
#include "compiler/kernel/StepFields.h"
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

/// The visible rows of a sequence: `count` of them from `first` on.
struct PooledRows {
  Value first, count;
};

class PoolEmitter {
public:
  PoolEmitter(transformer::RaggedPoolOp op, Value step, int64_t lanes,
              OpBuilder &builder)
      : op(op), k(op.getLoc(), builder, step), b(k.builder()), step(step),
        lanes(lanes), width(transformer::widthOf(op.getInput())) {}

  void emit();

private:
  PooledRows findRows(Value row);
  /// What the sum is divided by, or nothing.
  Value findDivisor(Value count);
  void emitPiece(const PooledRows &rows, Value divisor, Value row, Value column,
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
  PooledRows rows = findRows(row);
  Value divisor = findDivisor(rows.count);
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

PooledRows PoolEmitter::findRows(Value row) {
  Value token = arith::IndexCastOp::create(
      b, b.getIndexType(), memref::LoadOp::create(b, op.getRows(), row));
  Value sequences = loadPointer(b, step, offsetof(tfc_step_v0, sequences));
  auto field = [&](Value number, int64_t offset) {
    Value entry = buildAddress(b, sequences, number, sizeof(tfc_sequence_v0));
    return loadIndex(b, entry, offset, 32);
  };
  Value own = k.reduce(
      loadIndex(b, step, offsetof(tfc_step_v0, n_sequences), 64), k.constant(0),
      [&](Value number, Value found) -> Value {
        Value first = field(number, offsetof(tfc_sequence_v0, first));
        Value count = field(number, offsetof(tfc_sequence_v0, count));
        Value isBehind = k.isLess(token, first);
        Value isInside = arith::AndIOp::create(
            b, k.isLess(token, k.add(first, count)),
            arith::XOrIOp::create(b, isBehind,
                                  arith::ConstantIntOp::create(b, true, 1)));
        return arith::SelectOp::create(b, isInside, number, found);
      });
  Value visible = k.subtract(field(own, offsetof(tfc_sequence_v0, keys)),
                             field(own, offsetof(tfc_sequence_v0, past)));
  return {field(own, offsetof(tfc_sequence_v0, first)),
          k.min(field(own, offsetof(tfc_sequence_v0, count)), visible)};
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

void PoolEmitter::emitPiece(const PooledRows &rows, Value divisor, Value row,
                            Value column, int64_t pieceWidth) {
  double lowest = -std::numeric_limits<double>::infinity();
  Value init = broadcast(k.number(divisor ? 0 : lowest), pieceWidth);
  Value y = k.reduce(rows.count, init, [&](Value i, Value best) -> Value {
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
