// A thread has some columns of a stretch's rows, and of those before it, in
// registers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/recurrent/StretchConvolution.h"

#include "compiler/gpu/recurrent/SequenceStretch.h"
#include "compiler/gpu/rows/RowAlignment.h"
#include "compiler/gpu/rows/RowVector.h"
#include "compiler/gpu/thread/ThreadBuilder.h"
#include "compiler/kernel/NarrowFloat.h"
#include "compiler/kernel/StateBlocks.h"
#include "compiler/kernel/StepFields.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

/// Bytes of the widest access of a thread.
static constexpr int64_t kAccessBytes = 16;
/// New tokens of a stretch.
static constexpr int64_t kTokens = 8;

/// Columns of a thread: an access of the input, of which rows are whole ones.
static int64_t chooseColumns(transformer::RaggedConvOp op) {
  auto type = cast<MemRefType>(op.getInput().getType());
  int64_t columns = kAccessBytes * 8 / type.getElementTypeBitWidth();
  while (transformer::widthOf(op.getInput()) % columns != 0) {
    columns /= 2;
  }
  return columns;
}

namespace {

class StretchConvolution {
public:
  StretchConvolution(transformer::RaggedConvOp op, Value step,
                     OpBuilder &builder)
      : op(op), k(op.getLoc(), builder, step), b(k.builder()), warp(k),
        step(step), taps(transformer::widthOf(op.getWeight())),
        width(transformer::widthOf(op.getInput())), columns(chooseColumns(op)),
        type(VectorType::get(columns, b.getF32Type())) {}

  void emit();

private:
  void emitStretch(Value first);
  /// Token `t` of the stretch, if there is one, and those behind it: the sums
  /// of the rows up to it.
  void emitTokens(Value first, int64_t t, ValueRange before);
  void loadWeights();
  /// The columns of the sequence's new row `t`, or of its last one where there
  /// is none.
  Value loadRow(Value t);
  /// Those before the sequence's new ones, the oldest first.
  Values loadState();
  /// Those before the stretch.
  Values loadBefore(Value first);
  /// What is left for the tokens to come: the sequence's first stretch does it,
  /// as nobody else may read what was kept, whose place it may be.
  void storeState(ValueRange kept);
  Value addressOf(Value rows, int64_t row);
  Value widen(Value row) {
    return getElementTypeOrSelf(row.getType()).isF32() ? row
                                                       : widenFloat(b, row);
  }
  Value zeros() { return arith::ConstantOp::create(b, b.getZeroAttr(type)); }

  transformer::RaggedConvOp op;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  WarpBuilder warp;
  Value step;
  int64_t taps, width;
  int64_t columns; // of a thread
  VectorType type; // of them

  SequenceState state;
  Value column;    // the thread's first
  Values weights;  // by tap
  Value bias;      // or zeros
  Values arrivals; // the stretch's rows as they are kept
};

} // namespace

void StretchConvolution::loadWeights() {
  Values rows;
  for (int64_t i = 0; i < columns; ++i) {
    rows.push_back(loadRowVector(k, op.getWeight(), k.add(column, i),
                                 k.constant(0), taps));
  }
  for (int64_t tap = 0; tap < taps; ++tap) {
    Values numbers;
    for (Value row : rows) {
      numbers.push_back(vector::ExtractOp::create(b, row, tap));
    }
    weights.push_back(vector::FromElementsOp::create(b, type, numbers));
  }
  bias = zeros();
  if (Value buffer = op.getBias()) {
    bias = vector::LoadOp::create(
        b, type, buffer, column, /*nontemporal=*/false,
        llvm::MaybeAlign(alignmentOfRow(buffer, columns)));
  }
}

Value StretchConvolution::loadRow(Value t) {
  Value last = k.subtract(state.count, k.constant(1));
  // Of a sequence without tokens it is another's row, which nobody uses.
  Value token = k.max(k.add(state.firstToken, k.min(t, last)), k.constant(0));
  return loadKeptVector(k, op.getInput(), token, column, columns);
}

Value StretchConvolution::addressOf(Value rows, int64_t row) {
  Value number = k.add(column, row * width);
  return buildAddress(b, rows, number, sizeof(float));
}

Values StretchConvolution::loadState() {
  Values rows;
  for (int64_t row = 0; row + 1 < taps; ++row) {
    Value kept = LLVM::LoadOp::create(b, type, addressOf(state.from, row),
                                      alignmentOfState(op.getFirst(), columns));
    rows.push_back(arith::SelectOp::create(b, state.isNew, zeros(), kept));
  }
  return rows;
}

void StretchConvolution::storeState(ValueRange kept) {
  for (int64_t row = 0; row + 1 < taps; ++row) {
    // Of the rows that were kept and the new ones, one behind the other.
    Value place = k.add(state.count, row);
    Value value = widen(loadRow(k.subtract(place, k.constant(taps - 1))));
    for (int64_t old = row; old + 1 < taps; ++old) {
      value = arith::SelectOp::create(b, k.isEqual(place, k.constant(old)),
                                      kept[old], value);
    }
    LLVM::StoreOp::create(b, value, addressOf(state.to, row),
                          alignmentOfState(op.getFirst(), columns));
  }
}

Values StretchConvolution::loadBefore(Value first) {
  SmallVector<Type> types(static_cast<size_t>(taps - 1), type);
  return ThreadBuilder(b).choose(
      k.isEqual(first, k.constant(0)), types,
      [&] {
        Values kept = loadState();
        storeState(kept);
        return kept;
      },
      [&] {
        Values rows;
        for (int64_t row = 0; row + 1 < taps; ++row) {
          Value t = k.subtract(k.add(first, row), k.constant(taps - 1));
          rows.push_back(widen(loadRow(t)));
        }
        return rows;
      });
}

void StretchConvolution::emitTokens(Value first, int64_t t, ValueRange before) {
  if (t == kTokens) {
    return;
  }
  Value own = k.add(first, t);
  k.when(k.isLess(own, state.count), [&] {
    Values rows(before);
    rows.push_back(widen(arrivals[t]));
    Value sum = bias;
    for (auto [weight, row] : llvm::zip_equal(weights, rows)) {
      sum = math::FmaOp::create(b, weight, row, sum);
    }
    storeRowVector(k, sum, op.getInit(), k.add(state.firstToken, own), column);
    emitTokens(first, t + 1, ArrayRef(rows).drop_front());
  });
}

void StretchConvolution::emitStretch(Value first) {
  loadWeights();
  // All at once: each is waited for as long as one is.
  for (int64_t t = 0; t < kTokens; ++t) {
    arrivals.push_back(loadRow(k.add(first, t)));
  }
  emitTokens(first, 0, loadBefore(first));
}

void StretchConvolution::emit() {
  int64_t vectors = width / columns;
  forEachStretch(
      k, warp, step, kTokens, llvm::divideCeil(vectors, WarpBuilder::kLanes),
      [&](const SequenceStretch &stretch, Value place) {
        Value vector = k.add(k.scale(place, WarpBuilder::kLanes), warp.lane);
        column = k.scale(vector, columns);
        StateLayout layout(op.getState().getType());
        state = tfc::loadState(k, step, layout, stretch.sequence, op.getLayer(),
                               op.getFirst());
        k.when(k.isLess(column, k.constant(width)),
               [&] { emitStretch(stretch.first); });
      });
}

bool tfc::fitsStretch(transformer::RaggedConvOp op) {
  return transformer::widthOf(op.getWeight()) <= kTokens + 1;
}

void tfc::expandStretchConvolution(transformer::RaggedConvOp op, Value step,
                                   RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  StretchConvolution(op, step, rewriter).emit();
  rewriter.eraseOp(op);
}
