// Attention by hashes: buckets of rows, the order of rows by bucket, and of
// each row a softmax over the chunks that this order puts nearby.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/ExpandHashed.h"

#include "compiler/kernel/ColumnTile.h"
#include "compiler/kernel/LaneSum.h"
#include "compiler/kernel/NewRows.h"
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

/// Below every score, and raised to nothing beside any.
static constexpr double kLowest = -1e30;
/// Of a row and itself.
static constexpr double kOwnScore = -1e5;
/// Vectors of products that are added to side by side.
static constexpr int64_t kVectors = 4;

namespace {

/// How the rows of a sequence lie in chunks, at run time.
struct Circle {
  Value rows; // visible ones
  Value rounds, chunksOfRound, chunks;
  Value before, near; // chunks before a row's own, and all that it sees
};

class HashEmitter {
public:
  HashEmitter(transformer::RaggedHashedOp op, Value step, int64_t lanes,
              OpBuilder &builder)
      : op(op), k(op.getLoc(), builder, step), b(k.builder()), step(step),
        lanes(lanes), heads(static_cast<int64_t>(op.getNumHeads())),
        width(transformer::widthOf(op.getQuery()) / heads),
        hashes(static_cast<int64_t>(op.getHashes())),
        block(static_cast<int64_t>(op.getBlock())) {}

  void emit();

private:
  /// Buckets of all rows, in `places`.
  void emitBuckets();
  Value bucketOf(Value token, Value head, Value round);
  /// The number of the greatest of so many products and their opposites.
  Value findGreatest(Value token, Value head, Value column, int64_t products);
  Values multiply(Value token, Value head, ColumnTile &tile);

  /// Sorts the rows of each sequence by what `places` has, and writes there
  /// where they are then.
  void emitOrders();
  void emitOrder(const NewRows &rows, Value column);
  void sift(const NewRows &rows, Value column, Value levels, Value node,
            Value end);
  /// By bucket, then by number: no two rows have the same.
  Value keyOf(const NewRows &rows, Value column, Value row);

  void emitRows();
  void emitRow(Value token, Value head);
  Circle findCircle(const NewRows &rows);
  Value scoreOf(Value token, Value row, Value column);

  Value loadIndex(Value buffer, Value row, Value column) {
    Value number = memref::LoadOp::create(b, buffer, ValueRange{row, column});
    return arith::IndexCastOp::create(b, b.getIndexType(), number);
  }
  void storeIndex(Value number, Value buffer, Value row, Value column) {
    Value narrow = arith::IndexCastOp::create(b, b.getI32Type(), number);
    memref::StoreOp::create(b, narrow, buffer, ValueRange{row, column});
  }
  Value multiplyIndices(Value x, Value y) {
    return arith::MulIOp::create(b, x, y);
  }
  Value divideBy(Value x, Value y) { return arith::DivUIOp::create(b, x, y); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value isGreater(Value x, Value y) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y);
  }
  /// A round of a head is a column of `order` and of `places`.
  Value columnOf(Value head, Value round) {
    return k.add(k.scale(head, hashes), round);
  }
  void forEach(Value x, Value y, function_ref<void(Value, Value)> body);

  transformer::RaggedHashedOp op;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  Value step;
  int64_t lanes, heads, width, hashes, block;
  /// order[first + i, c] is the row that is number i, places[first + r, c] the
  /// number of row r: both are counted in their sequence.
  Value order, places;
};

} // namespace

void HashEmitter::forEach(Value x, Value y,
                          function_ref<void(Value, Value)> body) {
  Value zero = k.constant(0), one = k.constant(1);
  auto loop = scf::ParallelOp::create(b, ValueRange{zero, zero},
                                      ValueRange{x, y}, ValueRange{one, one});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVars()[0], loop.getInductionVars()[1]);
}

void HashEmitter::emit() {
  Value tokens = memref::DimOp::create(b, op.getInit(), 0);
  auto type =
      MemRefType::get({ShapedType::kDynamic, heads * hashes}, b.getI32Type());
  order = memref::AllocOp::create(b, type, tokens);
  places = memref::AllocOp::create(b, type, tokens);
  emitBuckets();
  emitOrders();
  emitRows();
}

//===-- buckets -----------------------------------------------------------===//

void HashEmitter::emitBuckets() {
  Value tokens = memref::DimOp::create(b, op.getInit(), 0);
  forEach(tokens, k.constant(heads), [&](Value token, Value head) {
    NewRows rows = findNewRows(k, step, token);
    // What sees all needs no order but its own.
    Value isWhole = k.isAtMost(rows.visible, k.constant(block));
    k.loop(k.constant(hashes), [&](Value round) {
      Value column = columnOf(head, round);
      k.when(
          isWhole, [&] { storeIndex(k.constant(0), places, token, column); },
          [&] {
            storeIndex(bucketOf(token, head, round), places, token, column);
          });
    });
  });
}

Value HashEmitter::bucketOf(Value token, Value head, Value round) {
  int64_t columns = transformer::widthOf(op.getRotations()) / hashes;
  Value begin = k.scale(round, columns);
  Value bucket = k.constant(0);
  int64_t first = 0, factor = 1;
  for (int64_t buckets : op.getBuckets()) {
    Value own = findGreatest(token, head, k.add(begin, first), buckets / 2);
    bucket = k.add(bucket, k.scale(own, factor));
    first += buckets / 2;
    factor *= buckets;
  }
  return bucket;
}

Values HashEmitter::multiply(Value token, Value head, ColumnTile &tile) {
  Value zero = k.constant(0), first = k.scale(head, width);
  return k.loop(
      zero, k.constant(width), 1, tile.zeros(),
      [&](Value number, ValueRange sums) -> Values {
        Value column = k.add(first, number);
        Value query = k.loadFloat(op.getQuery(), ValueRange{token, column});
        return tile.fma(tile.broadcast(query),
                        tile.loadRow(op.getRotations(), column, zero), sums);
      });
}

Value HashEmitter::findGreatest(Value token, Value head, Value column,
                                int64_t products) {
  // The greatest product and its number, the greatest opposite and its.
  auto compare = [&](Value number, ArrayRef<ColumnPiece> pieces,
                     ValueRange best) -> Values {
    ColumnTile tile(k, k.add(column, number), pieces);
    Values state(best.begin(), best.end());
    Values sums = multiply(token, head, tile);
    for (auto [piece, sum] : llvm::zip(pieces, sums)) {
      for (int64_t i = 0; i < piece.width; ++i) {
        Value product = isa<VectorType>(sum.getType())
                            ? Value(vector::ExtractOp::create(b, sum, i))
                            : sum;
        Value own = k.add(number, piece.offset + i);
        for (int side = 0; side < 2; ++side) {
          Value x =
              side == 0 ? product : Value(arith::NegFOp::create(b, product));
          Value isBetter = isGreater(x, state[2 * side]);
          state[2 * side] = select(isBetter, x, state[2 * side]);
          state[2 * side + 1] = select(isBetter, own, state[2 * side + 1]);
        }
      }
    }
    return state;
  };
  SmallVector<ColumnPiece> many;
  for (int64_t i = 0; i < kVectors; ++i) {
    many.push_back({i * lanes, lanes});
  }
  Value lowest = k.number(-std::numeric_limits<float>::max());
  Values best = {lowest, k.constant(0), lowest, k.constant(0)};
  int64_t tile = kVectors * lanes, whole = products / tile * tile;
  if (whole > 0) {
    best = k.loop(k.constant(0), k.constant(whole), tile, best,
                  [&](Value number, ValueRange best) {
                    return compare(number, many, best);
                  });
  }
  for (const ColumnPiece &piece : cutColumns(products - whole, lanes)) {
    best = compare(k.constant(whole + piece.offset),
                   ColumnPiece{0, piece.width}, best);
  }
  // Of equal ones the products come first.
  return select(isGreater(best[2], best[0]), k.add(best[3], products), best[1]);
}

//===-- orders ------------------------------------------------------------===//

void HashEmitter::emitOrders() {
  Value sequences =
      tfc::loadIndex(b, step, offsetof(tfc_step_v0, n_sequences), 64);
  forEach(sequences, k.constant(heads * hashes),
          [&](Value sequence, Value column) {
            emitOrder(loadNewRows(k, step, sequence), column);
          });
}

Value HashEmitter::keyOf(const NewRows &rows, Value column, Value row) {
  Value bucket = loadIndex(places, k.add(rows.first, row), column);
  return k.add(multiplyIndices(bucket, rows.visible), row);
}

/// Moves what is at `node` of the heap down until nothing below is greater.
void HashEmitter::sift(const NewRows &rows, Value column, Value levels,
                       Value node, Value end) {
  auto at = [&](Value number) { return k.add(rows.first, number); };
  auto load = [&](Value number) {
    return loadIndex(order, at(number), column);
  };
  Value moved = load(node), key = keyOf(rows, column, moved);
  Value last = k.subtract(end, k.constant(1));
  k.loop(k.constant(0), levels, 1, node,
         [&](Value, ValueRange state) -> Values {
           Value left = k.add(k.scale(state[0], 2), 1);
           Value own = k.min(left, last), other = k.min(k.add(left, 1), last);
           Value ownRow = load(own), otherRow = load(other);
           Value ownKey = keyOf(rows, column, ownRow);
           Value otherKey = keyOf(rows, column, otherRow);
           Value isOther = k.isLess(ownKey, otherKey);
           Value below = select(isOther, other, own);
           Value row = select(isOther, otherRow, ownRow);
           Value isMoved = arith::AndIOp::create(
               b, k.isLess(left, end),
               k.isLess(key, select(isOther, otherKey, ownKey)));
           k.when(isMoved, [&] {
             storeIndex(row, order, at(state[0]), column);
             storeIndex(moved, order, at(below), column);
           });
           return {select(isMoved, below, state[0])};
         });
}

void HashEmitter::emitOrder(const NewRows &rows, Value column) {
  auto at = [&](Value number) { return k.add(rows.first, number); };
  Value count = rows.visible, one = k.constant(1);
  k.loop(count, [&](Value row) { storeIndex(row, order, at(row), column); });
  k.when(k.isLess(k.constant(block), count), [&] {
    Value levels = k.reduce(
        k.constant(31), k.constant(0), [&](Value level, Value sum) -> Value {
          Value least = arith::ShLIOp::create(b, one, level);
          return select(k.isAtMost(least, count), k.add(sum, 1), sum);
        });
    Value half = k.divide(count, 2);
    k.loop(half, [&](Value number) {
      sift(rows, column, levels, k.subtract(k.subtract(half, one), number),
           count);
    });
    k.loop(k.subtract(count, one), [&](Value number) {
      Value end = k.subtract(k.subtract(count, one), number);
      Value greatest = loadIndex(order, rows.first, column);
      Value last = loadIndex(order, at(end), column);
      storeIndex(last, order, rows.first, column);
      storeIndex(greatest, order, at(end), column);
      sift(rows, column, levels, k.constant(0), end);
    });
  });
  k.loop(count, [&](Value number) {
    storeIndex(number, places, at(loadIndex(order, at(number), column)),
               column);
  });
}

//===-- rows --------------------------------------------------------------===//

void HashEmitter::emitRows() {
  Value tokens = memref::DimOp::create(b, op.getInit(), 0);
  forEach(tokens, k.constant(heads),
          [&](Value token, Value head) { emitRow(token, head); });
}

Circle HashEmitter::findCircle(const NewRows &rows) {
  Value one = k.constant(1);
  auto multiple = static_cast<int64_t>(op.getMultiple());
  auto before = static_cast<int64_t>(op.getBefore());
  auto after = static_cast<int64_t>(op.getAfter());
  Value isWhole = k.isAtMost(rows.visible, k.constant(block));
  auto choose = [&](Value whole, Value part) {
    return select(isWhole, whole, part);
  };
  Value chunks =
      k.scale(k.roundUpDivide(rows.visible, multiple), multiple / block);
  Circle circle;
  circle.rows = rows.visible;
  circle.rounds = choose(one, k.constant(hashes));
  circle.chunksOfRound = choose(one, chunks);
  circle.chunks = multiplyIndices(circle.rounds, circle.chunksOfRound);
  circle.before = choose(k.constant(0), k.constant(before));
  circle.near = choose(one, k.constant(before + after + 1));
  return circle;
}

Value HashEmitter::scoreOf(Value token, Value row, Value column) {
  auto add = [&](Value at, int64_t width, Value sum) -> Value {
    ColumnTile tile(k, column, ColumnPiece{0, width});
    Value query = tile.loadRow(op.getQuery(), token, at).front();
    Value key = tile.loadRow(op.getKey(), row, at).front();
    return math::FmaOp::create(b, query, key, sum);
  };
  Value zero = k.number(0);
  Value dot = reduceColumns(k, width, lanes, zero, zero, add,
                            [&](Value x, Value y) -> Value {
                              return arith::AddFOp::create(b, x, y);
                            });
  return arith::MulFOp::create(b, dot,
                               k.number(op.getScale().convertToDouble()));
}

void HashEmitter::emitRow(Value token, Value head) {
  NewRows rows = findNewRows(k, step, token);
  Circle circle = findCircle(rows);
  Value zero = k.constant(0), column = k.scale(head, width);
  ColumnTile tile(k, column, cutColumns(width, lanes));
  Value own = k.subtract(token, rows.first);
  Value isSeen = k.isLess(own, rows.visible);
  // A row behind the visible ones sees what the last one in order does.
  Value last = k.max(k.subtract(rows.visible, k.constant(1)), zero);

  auto addRow = [&](Value number, Value place, ValueRange state) -> Values {
    Value row = loadIndex(order, k.add(rows.first, number), place);
    Value other = k.add(rows.first, row);
    Value score = scoreOf(token, other, column);
    score = select(k.isEqual(row, own), k.number(kOwnScore), score);
    Value greatest = arith::MaximumFOp::create(b, state[0], score);
    Value old =
        math::ExpOp::create(b, arith::SubFOp::create(b, state[0], greatest));
    Value weight =
        math::ExpOp::create(b, arith::SubFOp::create(b, score, greatest));
    Value total = math::FmaOp::create(b, state[1], old, weight);
    Values sums = tile.multiply(tile.broadcast(old), state.drop_front(2));
    sums = tile.fma(tile.broadcast(weight),
                    tile.loadRow(op.getValue(), other, zero), sums);
    Values next = {greatest, total};
    next.append(sums);
    return next;
  };
  Values state = {k.number(kLowest), k.number(0)};
  state.append(tile.zeros());
  state =
      k.loop(zero, circle.rounds, 1, state, [&](Value round, ValueRange state) {
        Value place = loadIndex(places, token, columnOf(head, round));
        place = select(isSeen, place, last);
        Value chunk = k.add(multiplyIndices(round, circle.chunksOfRound),
                            k.divide(place, block));
        return k.loop(
            zero, circle.near, 1, state, [&](Value near, ValueRange state) {
              Value turned = k.subtract(
                  k.add(k.add(chunk, near), circle.chunks), circle.before);
              Value seen = arith::RemUIOp::create(b, turned, circle.chunks);
              Value from = divideBy(seen, circle.chunksOfRound);
              Value begin = k.scale(
                  k.subtract(seen, multiplyIndices(from, circle.chunksOfRound)),
                  block);
              Value end = k.min(k.add(begin, block), circle.rows);
              return k.loop(
                  begin, end, 1, state, [&](Value number, ValueRange state) {
                    return addRow(number, columnOf(head, from), state);
                  });
            });
      });
  Values sums;
  for (auto [total, sum] :
       llvm::zip(tile.broadcast(state[1]), ValueRange(state).drop_front(2))) {
    sums.push_back(arith::DivFOp::create(b, sum, total));
  }
  tile.storeRow(sums, op.getInit(), token, zero);
}

void tfc::expandHashed(transformer::RaggedHashedOp op, Value step,
                       int64_t lanes, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  HashEmitter(op, step, lanes, rewriter).emit();
  rewriter.eraseOp(op);
}
