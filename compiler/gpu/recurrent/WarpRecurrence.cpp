// Tokens one after the other: a key's sums over the lanes that share a column,
// with the next ones' rows on their way.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/recurrent/WarpRecurrence.h"

#include "compiler/gpu/recurrent/HeadSplit.h"
#include "compiler/gpu/rows/RowVector.h"
#include "compiler/gpu/thread/WarpBuilder.h"
#include "compiler/kernel/NarrowFloat.h"
#include "compiler/kernel/StateBlocks.h"
#include "compiler/kernel/StepFields.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

/// Bytes of the widest access of a thread.
static constexpr int64_t kAccessBytes = 16;
/// Chains of a lane's sum: an addition is waited for as long as four are begun.
static constexpr int64_t kChains = 2;

namespace {

class WarpRecurrence {
public:
  WarpRecurrence(transformer::RaggedRecurrenceOp op, Value step,
                 OpBuilder &builder)
      : op(op), k(op.getLoc(), builder, step), b(k.builder()), warp(k),
        split(op), step(step) {}

  void emit();

private:
  /// What goes from token to token.
  struct Carried {
    ValueRange matrix;       // the lane's
    ValueRange parts, value; // of the token before: the lane's parts of sums
    ValueRange result;       // of the one before that
    ValueRange arrivals;     // rows of this one and of those that come
  };

  bool adds() { return op.getRule() == transformer::RecurrenceRule::Add; }
  void place(ValueRange places);
  void emitTokens();
  Values advance(Value t, ValueRange before);
  Carried splitCarried(ValueRange values);

  /// The lane's part of the matrix, the columns of a key beside each other.
  Values loadMatrix();
  void storeMatrix(ValueRange matrix);
  Value addressOf(Value matrices, int64_t key);

  /// The lane's numbers of token `t` as they are kept, or the last one's where
  /// there is none: of key and query, and of decay where each key has one; of
  /// the value's columns; decay, where the head has one, and beta.
  Values loadToken(Value t);
  /// Of the head's row of keys, queries or decays, which begins at `first`.
  void loadKeys(Values &loaded, Value rows, Value token, Value first);
  /// Takes as many as loadKeys has given, and widens them.
  Values widenKeys(ValueRange &loaded);
  Values widen(Value loaded);
  int64_t keyVector(Value rows);

  /// For each column the lane's part of the product with the matrix.
  Values multiply(ValueRange keys, ValueRange matrix);
  /// The sums of all lanes that share a column.
  Values sum(ValueRange parts);
  /// What a token gives, of the sums of all lanes and its value.
  Values skipState(ValueRange sums, ValueRange value);
  /// What token `t` gives, if there is one.
  void storeResult(Value t, ValueRange result);

  Value both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value product(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }

  transformer::RaggedRecurrenceOp op;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  WarpBuilder warp;
  HeadSplit split;
  Value step;

  SequenceState state;
  Value head, part;           // the lane's, of those that share a column
  Value column, isOwn;        // its first one of the head; there is one
  Value lastToken;            // of the sequence, in the step
  Value firstKey, firstValue; // columns of the rows
  Value firstDecay;           // of keys, where each has one
  Values isKey;               // of the lane's, where some are missing
  Value skip;
};

} // namespace

void WarpRecurrence::place(ValueRange places) {
  StateLayout layout(op.getState().getType());
  state = loadState(k, step, layout, places[0], op.getLayer(), op.getFirst());
  // Of a sequence without tokens it is another's row, which nobody uses.
  Value end = k.add(state.firstToken, state.count);
  lastToken = k.max(k.subtract(end, k.constant(1)), k.constant(0));
  head = places[1];
  warp.lane = places[3];
  part = k.remainder(warp.lane, split.lanes);
  Value group = k.divide(warp.lane, split.lanes);
  column = k.add(k.scale(places[2], split.warpColumns()),
                 k.scale(group, split.columns));
  isOwn = k.isLess(column, k.constant(split.values));
  // Who has none takes part in exchanges, with another's.
  column = k.min(column, k.constant(split.values - split.columns));
  auto shared = static_cast<int64_t>(op.getHeads() / op.getKeyHeads());
  firstKey = k.scale(k.divide(head, shared), split.keys);
  firstValue = k.add(k.scale(head, split.values), column);
  if (op.hasKeyDecays()) {
    firstDecay = k.scale(head, split.keys);
  }
  if (split.hasRest()) {
    for (int64_t key = 0; key < split.laneKeys; ++key) {
      Value number = k.add(k.scale(part, split.laneKeys), key);
      isKey.push_back(k.isLess(number, k.constant(split.keys)));
    }
  }
  if (op.getSkip()) {
    skip = k.loadFloat(op.getSkip(), head);
  }
}

//===-- the matrix --------------------------------------------------------===//

Value WarpRecurrence::addressOf(Value matrices, int64_t key) {
  Value row = k.add(k.scale(part, split.laneKeys), key);
  if (split.hasRest()) {
    row = k.min(row, k.constant(split.keys - 1));
  }
  Value first = k.add(k.scale(head, split.keys), row);
  Value number = k.add(k.scale(first, split.values), column);
  return buildAddress(b, matrices, number, sizeof(float));
}

Values WarpRecurrence::loadMatrix() {
  auto type = VectorType::get(split.columns, b.getF32Type());
  Values matrix;
  for (int64_t key = 0; key < split.laneKeys; ++key) {
    Value kept =
        LLVM::LoadOp::create(b, type, addressOf(state.from, key),
                             alignmentOfState(op.getFirst(), split.columns));
    for (int64_t i = 0; i < split.columns; ++i) {
      Value number = vector::ExtractOp::create(b, kept, i);
      number = select(state.isNew, k.number(0), number);
      matrix.push_back(split.hasRest() ? select(isKey[key], number, k.number(0))
                                       : number);
    }
  }
  return matrix;
}

void WarpRecurrence::storeMatrix(ValueRange matrix) {
  // Lanes that have less have read what is another's, which may be replaced.
  if (split.hasRest() || split.values % split.warpColumns() != 0) {
    Value all = arith::ConstantIntOp::create(b, -1, 32);
    NVVM::SyncWarpOp::create(b, all);
  }
  auto type = VectorType::get(split.columns, b.getF32Type());
  for (int64_t key = 0; key < split.laneKeys; ++key) {
    Value isThere = split.hasRest() ? both(isOwn, isKey[key]) : isOwn;
    k.when(isThere, [&] {
      Value row = vector::FromElementsOp::create(
          b, type, matrix.slice(key * split.columns, split.columns));
      LLVM::StoreOp::create(b, row, addressOf(state.to, key),
                            alignmentOfState(op.getFirst(), split.columns));
    });
  }
}

//===-- rows --------------------------------------------------------------===//

/// So many that a lane's keys are whole vectors, and so are the head's.
int64_t WarpRecurrence::keyVector(Value rows) {
  int64_t bits = cast<MemRefType>(rows.getType()).getElementTypeBitWidth();
  int64_t width = kAccessBytes * 8 / bits;
  while (split.laneKeys % width != 0 || split.keys % width != 0) {
    width /= 2;
  }
  return width;
}

void WarpRecurrence::loadKeys(Values &loaded, Value rows, Value token,
                              Value first) {
  int64_t width = keyVector(rows);
  for (int64_t i = 0; i < split.laneKeys; i += width) {
    Value key = k.add(k.scale(part, split.laneKeys), i);
    if (split.hasRest()) {
      key = k.min(key, k.constant(split.keys - width));
    }
    loaded.push_back(loadKeptVector(k, rows, token, k.add(first, key), width));
  }
}

Values WarpRecurrence::loadToken(Value t) {
  Value token = k.min(k.add(state.firstToken, t), lastToken);
  Values loaded;
  loadKeys(loaded, op.getKey(), token, firstKey);
  loadKeys(loaded, op.getQuery(), token, firstKey);
  if (op.hasKeyDecays()) {
    loadKeys(loaded, op.getDecay(), token, firstDecay);
  }
  loaded.push_back(
      loadKeptVector(k, op.getValue(), token, firstValue, split.columns));
  if (!op.hasKeyDecays()) {
    loaded.push_back(loadKeptVector(k, op.getDecay(), token, head, 1));
  }
  loaded.push_back(loadKeptVector(k, op.getBeta(), token, head, 1));
  return loaded;
}

Values WarpRecurrence::widen(Value loaded) {
  Value wide = getElementTypeOrSelf(loaded.getType()).isF32()
                   ? loaded
                   : widenFloat(b, loaded);
  Values numbers;
  for (int64_t i = 0; i < cast<VectorType>(wide.getType()).getNumElements();
       ++i) {
    numbers.push_back(vector::ExtractOp::create(b, wide, i));
  }
  return numbers;
}

Values WarpRecurrence::widenKeys(ValueRange &loaded) {
  Values keys;
  while (static_cast<int64_t>(keys.size()) < split.laneKeys) {
    keys.append(widen(loaded.front()));
    loaded = loaded.drop_front();
  }
  for (auto [key, is] : llvm::zip(keys, isKey)) {
    key = select(is, key, k.number(0));
  }
  return keys;
}

//===-- sums --------------------------------------------------------------===//

Values WarpRecurrence::multiply(ValueRange keys, ValueRange matrix) {
  Values sums;
  for (int64_t i = 0; i < split.columns; ++i) {
    Values chains;
    for (int64_t key = 0; key < split.laneKeys; ++key) {
      Value number = matrix[key * split.columns + i];
      if (key < kChains) {
        chains.push_back(product(keys[key], number));
      } else {
        Value &chain = chains[key % kChains];
        chain = fma(keys[key], number, chain);
      }
    }
    Value sum = chains.front();
    for (Value chain : ArrayRef(chains).drop_front()) {
      sum = arith::AddFOp::create(b, sum, chain);
    }
    sums.push_back(sum);
  }
  return sums;
}

Values WarpRecurrence::sum(ValueRange parts) {
  return warp.combine(parts, static_cast<int32_t>(split.lanes),
                      [&](Value x, Value y) -> Value {
                        return arith::AddFOp::create(b, x, y);
                      });
}

Values WarpRecurrence::skipState(ValueRange sums, ValueRange value) {
  Values results(sums);
  if (op.getSkip()) {
    for (auto [result, number] : llvm::zip_equal(results, value)) {
      result = fma(skip, number, result);
    }
  }
  return results;
}

void WarpRecurrence::storeResult(Value t, ValueRange result) {
  Value isFirst = k.isEqual(part, k.constant(0));
  Value isThere = k.isAtMost(k.constant(0), t);
  k.when(both(isThere, both(isOwn, isFirst)), [&] {
    auto type = VectorType::get(split.columns, b.getF32Type());
    storeRowVector(k, vector::FromElementsOp::create(b, type, result),
                   op.getInit(), k.add(state.firstToken, t), firstValue);
  });
}

//===-- tokens ------------------------------------------------------------===//

/// A result is stored two tokens later, in front of the exchanges: a branch
/// behind them would keep what does not need them from going on. The rows to
/// come are asked for in front of the branch, else LLVM moves them to the next
/// token.
Values WarpRecurrence::advance(Value t, ValueRange before) {
  Carried carried = splitCarried(before);
  Values coming = loadToken(k.add(t, HeadSplit::kAhead));
  storeResult(k.subtract(t, k.constant(2)), carried.result);
  ValueRange loaded = carried.arrivals.take_front(coming.size());
  Values key = widenKeys(loaded), query = widenKeys(loaded);
  bool ofKeys = op.hasKeyDecays();
  Values decays = ofKeys ? widenKeys(loaded) : Values();
  Values value = widen(loaded.front());
  if (!ofKeys) {
    decays.assign(split.laneKeys, widen(loaded[1]).front());
  }
  Value beta = widen(loaded.back()).front();
  // Nobody waits for what the token before gives: its exchanges go with those
  // that this one needs.
  Values parts(carried.parts);
  if (!adds()) {
    Values finding(key);
    for (int64_t i = 0; ofKeys && i < split.laneKeys; ++i) {
      finding[i] = product(decays[i], key[i]);
    }
    parts.append(multiply(finding, carried.matrix));
  }
  Values sums = sum(parts);
  Values result =
      skipState(ArrayRef(sums).take_front(split.columns), carried.value);
  Values change = value;
  for (auto [i, number] : llvm::enumerate(change)) {
    if (!adds()) {
      Value known = sums[split.columns + i];
      known = ofKeys ? known : product(decays.front(), known);
      number = arith::SubFOp::create(b, number, known);
    }
    number = product(beta, number);
  }
  Values next;
  for (auto [i, number] : llvm::enumerate(carried.matrix)) {
    next.push_back(fma(key[i / split.columns], change[i % split.columns],
                       product(decays[i / split.columns], number)));
  }
  next.append(multiply(query, next));
  next.append(value);
  next.append(result);
  llvm::append_range(next, carried.arrivals.drop_front(coming.size()));
  next.append(coming);
  return next;
}

WarpRecurrence::Carried WarpRecurrence::splitCarried(ValueRange values) {
  auto take = [&](int64_t count) {
    ValueRange taken = values.take_front(count);
    values = values.drop_front(count);
    return taken;
  };
  Carried carried;
  carried.matrix = take(split.laneKeys * split.columns);
  carried.parts = take(split.columns);
  carried.value = take(split.columns);
  carried.result = take(split.columns);
  carried.arrivals = values;
  return carried;
}

void WarpRecurrence::emitTokens() {
  Values inits = loadMatrix();
  inits.append(3 * split.columns, k.number(0));
  for (int64_t t = 0; t < HeadSplit::kAhead; ++t) {
    inits.append(loadToken(k.constant(t)));
  }
  Values left =
      k.loop(k.constant(0), state.count, 1, inits,
             [&](Value t, ValueRange before) { return advance(t, before); });
  Carried carried = splitCarried(left);
  storeMatrix(carried.matrix);
  storeResult(k.subtract(state.count, k.constant(2)), carried.result);
  storeResult(k.subtract(state.count, k.constant(1)),
              skipState(sum(carried.parts), carried.value));
}

void WarpRecurrence::emit() {
  int64_t stretches = llvm::divideCeil(split.values, split.warpColumns());
  Values upper = {countSequences(k, step),
                  k.constant(static_cast<int64_t>(op.getHeads())),
                  k.constant(stretches), k.constant(WarpBuilder::kLanes)};
  Values lower(upper.size(), k.constant(0)), steps(upper.size(), k.constant(1));
  auto loop = scf::ParallelOp::create(b, lower, upper, steps);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  place(loop.getInductionVars());
  emitTokens();
}

bool tfc::fitsWarp(transformer::RaggedRecurrenceOp op) {
  return !op.getLogRate() && HeadSplit(op).fits();
}

void tfc::expandWarpRecurrence(transformer::RaggedRecurrenceOp op, Value step,
                               RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  WarpRecurrence(op, step, rewriter).emit();
  rewriter.eraseOp(op);
}
