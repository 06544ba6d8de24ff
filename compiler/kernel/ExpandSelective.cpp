// Recurrences whose numbers decay each by itself: the numbers of a few columns
// stay in registers where they are few.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/ExpandSelective.h"

#include "compiler/kernel/StepFields.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

/// Keys whose numbers go from token to token in registers; of more they go
/// through memory.
static constexpr int64_t kMaxKeys = 32;

namespace {

class SelectiveEmitter {
public:
  SelectiveEmitter(KernelBuilder &k, transformer::RaggedRecurrenceOp op,
                   const SequenceState &state, Value head, ColumnTile &tile)
      : k(k), op(op), state(state), head(head), tile(tile),
        keys(transformer::widthOf(op.getKey()) /
             static_cast<int64_t>(op.getKeyHeads())),
        values(transformer::widthOf(op.getValue()) /
               static_cast<int64_t>(op.getHeads())) {
    auto shared = static_cast<int64_t>(op.getHeads() / op.getKeyHeads());
    firstKey = k.scale(k.divide(head, shared), keys);
    firstValue = k.scale(head, values);
    if (op.getSkip()) {
      skip = tile.loadVector(op.getSkip(), firstValue);
    }
  }

  void emit() { keys <= kMaxKeys ? emitInRegisters() : emitThroughMemory(); }

private:
  void emitInRegisters();
  void emitThroughMemory();

  /// What a token brings to each column.
  struct Token {
    Value row;
    Values time, change, value;
  };
  Token loadToken(Value t);
  /// The token's result, of the sum over keys.
  void storeToken(const Token &token, ValueRange sum);

  /// Row `i` of the head's matrix in `matrices`.
  Value address(Value matrices, Value i) {
    Value row = k.add(k.scale(head, keys), i);
    return buildAddress(k.builder(), matrices, row,
                        values * static_cast<int64_t>(sizeof(float)));
  }
  Values loadMatrixRow(Value i) {
    return tile.select(state.isNew, tile.zeros(),
                       tile.loadState(address(state.from, i)));
  }
  /// What a time is times, of key `i`: its negative rates.
  Values loadRates(Value i);
  /// Key `i`'s numbers after the token.
  Values advance(const Token &token, Value i, ValueRange rates,
                 ValueRange numbers);
  /// The sum through key `i`.
  Values addTerm(const Token &token, Value i, ValueRange numbers,
                 ValueRange sum);
  Values keyOf(Value rows, const Token &token, Value i) {
    Value place[] = {token.row, k.add(firstKey, i)};
    return tile.broadcast(k.loadFloat(rows, place));
  }

  KernelBuilder &k;
  transformer::RaggedRecurrenceOp op;
  const SequenceState &state;
  Value head;
  ColumnTile &tile;
  int64_t keys, values;
  Value firstKey, firstValue; // columns
  Values skip;                // if there is one
};

} // namespace

SelectiveEmitter::Token SelectiveEmitter::loadToken(Value t) {
  Token token;
  token.row = k.add(state.firstToken, t);
  token.time = tile.loadRow(op.getDecay(), token.row, firstValue);
  token.value = tile.loadRow(op.getValue(), token.row, firstValue);
  token.change = tile.multiply(
      tile.loadRow(op.getBeta(), token.row, firstValue), token.value);
  return token;
}

void SelectiveEmitter::storeToken(const Token &token, ValueRange sum) {
  Values y(sum);
  if (op.getSkip()) {
    y = tile.fma(skip, token.value, y);
  }
  tile.storeRow(y, op.getInit(), token.row, firstValue);
}

Values SelectiveEmitter::loadRates(Value i) {
  Values rates = tile.loadRow(op.getLogRate(), i, firstValue);
  return llvm::map_to_vector(rates, [&](Value rate) -> Value {
    Value raised = math::ExpOp::create(k.builder(), rate);
    return arith::NegFOp::create(k.builder(), raised);
  });
}

Values SelectiveEmitter::advance(const Token &token, Value i, ValueRange rates,
                                 ValueRange numbers) {
  Values decay = llvm::map_to_vector(
      tile.multiply(rates, token.time), [&](Value lost) -> Value {
        return math::ExpOp::create(k.builder(), lost);
      });
  return tile.fma(keyOf(op.getKey(), token, i), token.change,
                  tile.multiply(decay, numbers));
}

Values SelectiveEmitter::addTerm(const Token &token, Value i,
                                 ValueRange numbers, ValueRange sum) {
  return tile.fma(keyOf(op.getQuery(), token, i), numbers, sum);
}

void SelectiveEmitter::emitInRegisters() {
  Values rates, matrix;
  for (int64_t i = 0; i < keys; ++i) {
    llvm::append_range(rates, loadRates(k.constant(i)));
    llvm::append_range(matrix, loadMatrixRow(k.constant(i)));
  }
  auto part = [&](ValueRange all, int64_t i) {
    return all.slice(i * tile.size(), tile.size());
  };
  matrix = k.loop(k.constant(0), state.count, 1, matrix,
                  [&](Value t, ValueRange before) -> Values {
                    Token token = loadToken(t);
                    Values after, sum = tile.zeros();
                    for (int64_t i = 0; i < keys; ++i) {
                      Values numbers = advance(token, k.constant(i),
                                               part(rates, i), part(before, i));
                      sum = addTerm(token, k.constant(i), numbers, sum);
                      llvm::append_range(after, numbers);
                    }
                    storeToken(token, sum);
                    return after;
                  });
  for (int64_t i = 0; i < keys; ++i) {
    tile.storeState(part(matrix, i), address(state.to, k.constant(i)));
  }
}

void SelectiveEmitter::emitThroughMemory() {
  k.loop(k.constant(keys), [&](Value i) {
    tile.storeState(loadMatrixRow(i), address(state.to, i));
  });
  k.loop(state.count, [&](Value t) {
    Token token = loadToken(t);
    Values sum = k.loop(k.constant(0), k.constant(keys), 1, tile.zeros(),
                        [&](Value i, ValueRange before) -> Values {
                          Value place = address(state.to, i);
                          Values numbers = advance(token, i, loadRates(i),
                                                   tile.loadState(place));
                          tile.storeState(numbers, place);
                          return addTerm(token, i, numbers, before);
                        });
    storeToken(token, sum);
  });
}

void tfc::emitSelective(KernelBuilder &k, transformer::RaggedRecurrenceOp op,
                        const SequenceState &state, Value head,
                        ColumnTile &tile) {
  SelectiveEmitter(k, op, state, head, tile).emit();
}
