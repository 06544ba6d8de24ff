// What heads make of rows beyond products, memories of zeros, hashes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/reference/Formulas.h"
#include "compiler/reference/InterpreterState.h"

using namespace mlir;
using namespace tfc::transformer;
using namespace tfc::reference;

FailureOr<const Sequence *> Interpreter::sequenceOf(Operation *op,
                                                    int32_t token) {
  for (const Sequence &each : step.sequences) {
    if (token >= each.first && token < each.first + each.count) {
      return &each;
    }
  }
  return op->emitError() << "expected a row of a sequence, got " << token;
}

LogicalResult Interpreter::runOp(PairRowsOp op) {
  const Matrix &x = rows(op.getInput());
  Matrix result(x.rows, 4 * x.cols);
  for (const Sequence &sequence : step.sequences) {
    pairRows(x, sequence, op.getQuery(), result);
  }
  return setRows(op, std::move(result));
}

LogicalResult Interpreter::runOp(WeighRowsOp op) {
  const Matrix &x = rows(op.getInput());
  const Ids &wanted = ids(op.getRows());
  Matrix result(static_cast<int64_t>(wanted.size()), 2 * x.cols);
  for (int64_t row = 0; row < result.rows; ++row) {
    FailureOr<const Sequence *> own = sequenceOf(op, wanted[row]);
    if (failed(own)) {
      return failure();
    }
    weighRows(x, rows(op.getWeights()), **own, op.getQuery(), row, result);
  }
  return setRows(op, std::move(result));
}

LogicalResult Interpreter::runOp(LogSoftmaxOp op) {
  SmallVector<const Matrix *> clusters;
  for (Value cluster : op.getClusters()) {
    clusters.push_back(&rows(cluster));
  }
  return setRows(
      op, logSoftmax(rows(op.getInput()), rowsOrNull(op.getGates()), clusters));
}

LogicalResult Interpreter::runOp(MemorySinksOp op) {
  const Matrix &query = rows(op.getQuery());
  ZeroMemory memory = {rows(op.getRelativeKeys()),
                       rowsOrNull(op.getRelativeBias()),
                       static_cast<int64_t>(op.getNumHeads()),
                       index(op.getLeft()),
                       static_cast<int64_t>(op.getSpan()),
                       op.getScale().convertToDouble()};
  Matrix result(query.rows, memory.heads);
  for (const Sequence &sequence : step.sequences) {
    memorySinks(query, sequence, memory, result);
  }
  return setRows(op, std::move(result));
}

LogicalResult Interpreter::runOp(HashedAttentionOp op) {
  HashedRows of = {rows(op.getQuery()),
                   rows(op.getKey()),
                   rows(op.getValue()),
                   rows(op.getRotations()),
                   static_cast<int64_t>(op.getNumHeads()),
                   static_cast<int64_t>(op.getBlock()),
                   static_cast<int64_t>(op.getBefore()),
                   static_cast<int64_t>(op.getAfter()),
                   static_cast<int64_t>(op.getHashes()),
                   op.getBuckets(),
                   static_cast<int64_t>(op.getMultiple()),
                   op.getScale().convertToDouble()};
  Matrix result(of.query.rows, of.query.cols);
  for (const Sequence &sequence : step.sequences) {
    attendHashed(of, sequence, result);
  }
  return setRows(op, std::move(result));
}
