// Convolutions and recurrences: a few columns of a sequence are an item, which
// goes from token to token.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/ExpandRecurrent.h"

#include "compiler/kernel/ColumnTile.h"
#include "compiler/kernel/ExpandSelective.h"
#include "compiler/kernel/StepFields.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

//===-- the convolution ---------------------------------------------------===//

/// The rows before a sequence's new tokens, the oldest first, one behind the
/// other.
static Values loadTail(KernelBuilder &k, ColumnTile &tile,
                       const SequenceState &state, int64_t rows,
                       int64_t rowBytes) {
  Values tail, zeros = tile.zeros();
  for (int64_t row = 0; row < rows; ++row) {
    Values kept =
        tile.loadState(buildAddress(k.builder(), state.from, row * rowBytes));
    llvm::append_range(tail, tile.select(state.isNew, zeros, kept));
  }
  return tail;
}

static void emitConv(KernelBuilder &k, transformer::RaggedConvOp conv,
                     const SequenceState &state, ColumnTile &tile) {
  int64_t taps = transformer::widthOf(conv.getWeight());
  int64_t rowBytes = transformer::widthOf(conv.getInput()) *
                     static_cast<int64_t>(sizeof(float));
  SmallVector<Values> weights;
  for (int64_t tap = 0; tap < taps; ++tap) {
    weights.push_back(tile.loadTransposed(conv.getWeight(), k.constant(tap)));
  }
  Values begin =
      conv.getBias() ? tile.loadVector(conv.getBias()) : tile.zeros();
  Values tail = loadTail(k, tile, state, taps - 1, rowBytes);
  Value none = k.constant(0);
  tail = k.loop(
      none, state.count, 1, tail, [&](Value t, ValueRange before) -> Values {
        Value token = k.add(state.firstToken, t);
        Values rows(before);
        llvm::append_range(rows, tile.loadRow(conv.getInput(), token, none));
        Values sum = begin;
        for (int64_t tap = 0; tap < taps; ++tap) {
          ValueRange row =
              ValueRange(rows).slice(tap * tile.size(), tile.size());
          sum = tile.fma(weights[tap], row, sum);
        }
        tile.storeRow(sum, conv.getInit(), token, none);
        return Values(ArrayRef<Value>(rows).drop_front(tile.size()));
      });
  for (int64_t row = 0; row + 1 < taps; ++row) {
    tile.storeState(ValueRange(tail).slice(row * tile.size(), tile.size()),
                    buildAddress(k.builder(), state.to, row * rowBytes));
  }
}

void tfc::expandConv(transformer::RaggedConvOp op, Value step, int64_t lanes,
                     RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  KernelBuilder k(op.getLoc(), rewriter, step);
  StateLayout layout(op.getState().getType());
  forEachColumnTile(k, step, {}, transformer::widthOf(op.getInput()), lanes,
                    /*vectors=*/1,
                    [&](Value sequence, ValueRange, ColumnTile &tile) {
                      emitConv(k, op,
                               loadState(k, step, layout, sequence,
                                         op.getLayer(), op.getFirst()),
                               tile);
                    });
  rewriter.eraseOp(op);
}

//===-- the recurrence ----------------------------------------------------===//

namespace {

/// Some columns of the values of a head of a sequence.
class RecurrenceEmitter {
public:
  RecurrenceEmitter(KernelBuilder &k, transformer::RaggedRecurrenceOp op,
                    const SequenceState &state, Value head, ColumnTile &tile)
      : k(k), op(op), state(state), head(head), tile(tile),
        keys(transformer::widthOf(op.getKey()) /
             static_cast<int64_t>(op.getKeyHeads())),
        values(transformer::widthOf(op.getValue()) /
               static_cast<int64_t>(op.getHeads())) {}

  void emit();

private:
  Value number(Value rows, Value token, Value column) {
    return k.loadFloat(rows, ValueRange{token, column});
  }
  /// Row `i` of the head's matrix.
  Value address(Value matrices, Value i) {
    Value row = k.add(k.scale(head, keys), i);
    return buildAddress(k.builder(), matrices, row,
                        values * static_cast<int64_t>(sizeof(float)));
  }
  bool adds() { return op.getRule() == transformer::RecurrenceRule::Add; }
  /// Key `i` of the head at `token`, times its decay if it has one of its own:
  /// what finds something in a matrix that has not decayed yet.
  Value findingKey(Value token, Value i);
  /// Copies the matrix to where it is written; returns its product with the
  /// first key, or nothing where tokens add.
  Values begin();
  /// A token, whose key's product with the matrix is `found`; returns that of
  /// the next one's. Where tokens add nobody asks for it.
  Values advance(Value t, ValueRange found);

  KernelBuilder &k;
  transformer::RaggedRecurrenceOp op;
  const SequenceState &state;
  Value head;
  ColumnTile &tile;
  int64_t keys, values;
  Value firstKey, firstValue; // columns
  Value firstDecay;           // of keys, where each has one
};

} // namespace

Value RecurrenceEmitter::findingKey(Value token, Value i) {
  Value key = number(op.getKey(), token, k.add(firstKey, i));
  if (!op.hasKeyDecays()) {
    return key;
  }
  Value decay = number(op.getDecay(), token, k.add(firstDecay, i));
  return arith::MulFOp::create(k.builder(), decay, key);
}

Values RecurrenceEmitter::begin() {
  return k.loop(
      k.constant(0), k.constant(keys), 1, adds() ? Values() : tile.zeros(),
      [&](Value i, ValueRange found) -> Values {
        Values row = tile.select(state.isNew, tile.zeros(),
                                 tile.loadState(address(state.from, i)));
        tile.storeState(row, address(state.to, i));
        if (adds()) {
          return {};
        }
        Values key = tile.broadcast(findingKey(state.firstToken, i));
        return tile.fma(key, row, found);
      });
}

Values RecurrenceEmitter::advance(Value t, ValueRange found) {
  Value token = k.add(state.firstToken, t);
  // Of the last token nobody reads what the next one would find.
  Value next =
      k.add(state.firstToken,
            k.min(k.add(t, 1), k.subtract(state.count, k.constant(1))));
  bool ofKeys = op.hasKeyDecays();
  Values decay =
      ofKeys ? Values() : tile.broadcast(number(op.getDecay(), token, head));
  Values beta = tile.broadcast(number(op.getBeta(), token, head));
  Values value = tile.loadRow(op.getValue(), token, firstValue);
  Values known(found);
  if (!adds() && !ofKeys) {
    known = tile.multiply(decay, found);
  }
  Values change =
      tile.multiply(beta, adds() ? value : tile.subtract(value, known));
  Values sums = tile.zeros();
  if (!adds()) {
    llvm::append_range(sums, tile.zeros());
  }
  sums = k.loop(
      k.constant(0), k.constant(keys), 1, sums,
      [&](Value i, ValueRange before) -> Values {
        Value column = k.add(firstKey, i);
        auto at = [&](Value rows, Value of) {
          return tile.broadcast(number(rows, of, column));
        };
        Values left = ofKeys ? tile.broadcast(number(op.getDecay(), token,
                                                     k.add(firstDecay, i)))
                             : decay;
        Values row = tile.multiply(left, tile.loadState(address(state.to, i)));
        row = tile.fma(at(op.getKey(), token), change, row);
        tile.storeState(row, address(state.to, i));
        Values after = tile.fma(at(op.getQuery(), token), row,
                                before.take_front(tile.size()));
        if (!adds()) {
          llvm::append_range(after,
                             tile.fma(tile.broadcast(findingKey(next, i)), row,
                                      before.drop_front(tile.size())));
        }
        return after;
      });
  Values y(ArrayRef<Value>(sums).take_front(tile.size()));
  if (op.getSkip()) {
    y = tile.fma(tile.broadcast(k.loadFloat(op.getSkip(), head)), value, y);
  }
  tile.storeRow(y, op.getInit(), token, firstValue);
  return Values(ArrayRef<Value>(sums).drop_front(tile.size()));
}

void RecurrenceEmitter::emit() {
  auto shared = static_cast<int64_t>(op.getHeads() / op.getKeyHeads());
  firstKey = k.scale(k.divide(head, shared), keys);
  firstValue = k.scale(head, values);
  if (op.hasKeyDecays()) {
    firstDecay = k.scale(head, keys);
  }
  k.loop(k.constant(0), state.count, 1, begin(),
         [&](Value t, ValueRange found) { return advance(t, found); });
}

void tfc::expandRecurrence(transformer::RaggedRecurrenceOp op, Value step,
                           int64_t lanes, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  KernelBuilder k(op.getLoc(), rewriter, step);
  StateLayout layout(op.getState().getType());
  auto heads = static_cast<int64_t>(op.getHeads());
  // As many columns as stay in the nearest cache with all of their keys, and a
  // sum's latency is hidden by the others. Of numbers one, so that threads of a
  // device beside each other have columns beside each other.
  int64_t vectors = lanes > 1 ? 4 : 1;
  forEachColumnTile(
      k, step, {heads}, transformer::widthOf(op.getValue()) / heads, lanes,
      vectors, [&](Value sequence, ValueRange places, ColumnTile &tile) {
        SequenceState state =
            loadState(k, step, layout, sequence, op.getLayer(), op.getFirst());
        if (op.getLogRate()) {
          emitSelective(k, op, state, places.front(), tile);
        } else {
          RecurrenceEmitter(k, op, state, places.front(), tile).emit();
        }
      });
  rewriter.eraseOp(op);
}
