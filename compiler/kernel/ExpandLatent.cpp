// Latent attention with heads in lanes: a row of the cache is read once for as
// many heads as a vector has lanes, for scores and for sums.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/ExpandLatent.h"

#include "compiler/kernel/ColumnPieces.h"
#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

namespace {

class LatentKernel {
public:
  LatentKernel(transformer::PagedLatentOp op, const CacheGeometry &cache,
               Value step, Value workers, int64_t lanes, OpBuilder &builder);

  void emitWrites();
  void emitAttention();

private:
  /// A row of an item, for one vector of heads.
  struct Query {
    WorkItem item;
    Value token, firstHead;
    Value end; // of the positions that it sees
  };
  /// Positions of one block, from its first on.
  struct Stretch {
    Value block; // address of the first
    Value count; // that are seen
  };

  void copyRow(Value rows, Value token, Value address, int64_t column);
  void loadQuery(const Query &query);
  void emitStretch(const Stretch &stretch);
  void emitScores(const Stretch &stretch);
  void emitWeights(const Stretch &stretch);
  void emitSums(const Stretch &stretch);
  void emitSumTile(const Stretch &stretch, Value column, int64_t columns);
  void storeResult(const Query &query);

  /// A number of the cache, `column` behind `row`, for all lanes.
  Value loadShared(Value row, int64_t column) {
    Value address = buildAddress(b, row, column * cache.elementBytes);
    return spread(cache.load(k, address, b.getF32Type()));
  }
  Value addressOf(const Stretch &stretch, Value position) {
    return buildAddress(b, stretch.block, position, cache.rowBytes);
  }
  /// A vector at a place of the worker's memory that counts vectors; of one
  /// lane a number.
  Value load(Value place);
  void store(Value value, Value place);
  Value load(int64_t place) { return load(k.constant(place)); }
  void store(Value value, int64_t place) { store(value, k.constant(place)); }
  Value spread(Value number) {
    return lanes == 1 ? number
                      : Value(vector::BroadcastOp::create(
                            b, f32Vector(k, lanes), number));
  }
  Value multiplyAdd(Value x, Value y, Value sum);

  transformer::PagedLatentOp op;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  CacheGeometry cache;
  int64_t lanes, heads, width, values;
  /// Parts of an item that may be at work, each with memory of its own: a
  /// device, whose code is of one lane, has a worker for each item, and a
  /// thread for each part of it.
  int64_t parts;
  /// Positions, or columns, whose sums are in registers at a time.
  int64_t tile;
  // The worker's memory, in vectors: the query by columns, its sums, scores
  // (later weights) of a stretch; the greatest score, the total of weights, and
  // by how much what was before decays.
  int64_t sums, scores, highest, total, decay, size;
  Value memory, worker, origin; // where in the worker's memory the part's is
};

} // namespace

LatentKernel::LatentKernel(transformer::PagedLatentOp op,
                           const CacheGeometry &cache, Value step,
                           Value workers, int64_t lanes, OpBuilder &builder)
    : op(op), k(op.getLoc(), builder, step), b(k.builder()), cache(cache),
      lanes(lanes), heads(op.getNumHeads()),
      width(op.getCache().getType().getHeadDim()),
      values(op.getCache().getType().getValues()),
      parts(lanes == 1 ? heads : 1), tile(lanes) {
  sums = width;
  scores = sums + values;
  highest = scores + cache.blockTokens;
  total = highest + 1;
  decay = total + 1;
  size = llvm::alignTo((decay + 1) * lanes, 16);
  auto type =
      MemRefType::get({ShapedType::kDynamic, parts * size}, b.getF32Type());
  memory = memref::AllocOp::create(b, type, workers);
}

Value LatentKernel::load(Value place) {
  Value at[] = {worker, k.add(k.scale(place, lanes), origin)};
  return lanes == 1 ? Value(memref::LoadOp::create(b, memory, at))
                    : Value(vector::LoadOp::create(b, f32Vector(k, lanes),
                                                   memory, at));
}

void LatentKernel::store(Value value, Value place) {
  Value at[] = {worker, k.add(k.scale(place, lanes), origin)};
  if (lanes == 1) {
    memref::StoreOp::create(b, value, memory, at);
  } else {
    vector::StoreOp::create(b, value, memory, at);
  }
}

Value LatentKernel::multiplyAdd(Value x, Value y, Value sum) {
  if (lanes > 1) {
    return vector::FMAOp::create(b, x, y, sum);
  }
  return arith::AddFOp::create(b, arith::MulFOp::create(b, x, y), sum);
}

/// Columns of a token into the cache, from column `column` of a key on.
void LatentKernel::copyRow(Value rows, Value token, Value address,
                           int64_t column) {
  int64_t count = cast<ShapedType>(rows.getType()).getDimSize(1);
  int64_t whole = count / lanes * lanes;
  auto copy = [&](Value first, int64_t width) {
    Value at[] = {token, first};
    Value value =
        lanes == 1 || width == 1
            ? k.loadFloat(rows, at)
            : Value(vector::LoadOp::create(b, f32Vector(k, width), rows, at));
    Value to =
        buildAddress(b, address, k.add(first, column), cache.elementBytes);
    cache.store(k, value, to);
  };
  k.loop(k.constant(0), k.constant(whole), lanes,
         [&](Value first) { copy(first, lanes); });
  for (const ColumnPiece &piece : cutColumns(count - whole, lanes)) {
    copy(k.constant(whole + piece.offset), piece.width);
  }
}

void LatentKernel::emitWrites() {
  k.forEachItem(cache, [&](const WorkItem &item) {
    k.loop(item.rows, [&](Value row) {
      Value number = k.add(item.firstRow, row);
      Value token = k.add(item.firstToken, number);
      Value position = k.add(item.past, number);
      Value block = k.blockAddress(
          cache, item, k.divide(position, cache.blockTokens), op.getLayer());
      Value slot = k.remainder(position, cache.blockTokens);
      Value address = buildAddress(b, block, slot, cache.rowBytes);
      copyRow(op.getRopeKey(), token, address, 0);
      copyRow(op.getLatent(), token, address, width - values);
    });
  });
}

void LatentKernel::emitAttention() {
  int64_t groups = llvm::divideCeil(heads, lanes);
  k.forEachItem(cache, groups, [&](const ItemPart &own, const ItemPart &) {
    Value thread = transformer::WorkerOp::create(b, b.getIndexType());
    worker = k.divide(thread, parts);
    origin = k.scale(k.remainder(thread, parts), size);
    const WorkItem &item = own.item;
    k.loop(item.rows, [&](Value row) {
      Query query;
      query.item = item;
      query.token = k.add(item.firstToken, k.add(item.firstRow, row));
      query.firstHead = k.scale(own.part, lanes);
      query.end = k.min(k.add(k.position(item, row), 1), item.keys);
      loadQuery(query);
      k.loop(k.constant(0), query.end, cache.blockTokens, [&](Value begin) {
        Stretch stretch;
        stretch.block = k.blockAddress(
            cache, item, k.divide(begin, cache.blockTokens), op.getLayer());
        stretch.count =
            k.min(k.subtract(query.end, begin), k.constant(cache.blockTokens));
        emitStretch(stretch);
      });
      storeResult(query);
    });
  });
}

/// Spare lanes repeat the last head.
void LatentKernel::loadQuery(const Query &query) {
  Value scale = k.number(op.getScale().convertToDouble());
  k.loop(k.constant(lanes), [&](Value lane) {
    Value head = k.min(k.add(query.firstHead, lane), k.constant(heads - 1));
    Value first = k.scale(head, width);
    k.loop(k.constant(width), [&](Value d) {
      Value at[] = {query.token, k.add(first, d)};
      Value q = arith::MulFOp::create(b, k.loadFloat(op.getQuery(), at), scale);
      Value to[] = {worker, k.add(k.add(k.scale(d, lanes), lane), origin)};
      memref::StoreOp::create(b, q, memory, to);
    });
  });
  Value zero = spread(k.number(0));
  k.loop(k.constant(values),
         [&](Value column) { store(zero, k.add(column, sums)); });
  // Finite, so that the first difference is no NaN.
  store(spread(k.number(std::numeric_limits<float>::lowest())), highest);
  store(zero, total);
}

void LatentKernel::emitStretch(const Stretch &stretch) {
  emitScores(stretch);
  emitWeights(stretch);
  emitSums(stretch);
}

/// Those of a tile's positions that nobody sees mean nothing, and are not
/// looked at.
void LatentKernel::emitScores(const Stretch &stretch) {
  Value zero = spread(k.number(0));
  k.loop(k.constant(0), stretch.count, tile, [&](Value position) {
    Value row = addressOf(stretch, position);
    Values dots = k.loop(k.constant(0), k.constant(width), 1,
                         Values(tile, zero), [&](Value d, ValueRange before) {
                           Value q = load(d);
                           Value column =
                               buildAddress(b, row, d, cache.elementBytes);
                           Values next;
                           for (int64_t j = 0; j < tile; ++j) {
                             Value key = loadShared(column, j * width);
                             next.push_back(multiplyAdd(q, key, before[j]));
                           }
                           return next;
                         });
    for (int64_t j = 0; j < tile; ++j) {
      store(dots[j], k.add(position, scores + j));
    }
  });
}

void LatentKernel::emitWeights(const Stretch &stretch) {
  Value old = load(highest);
  Value best =
      k.reduce(stretch.count, old, [&](Value position, Value best) -> Value {
        Value score = load(k.add(position, scores));
        Value isLarger =
            arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, score, best);
        return arith::SelectOp::create(b, isLarger, score, best);
      });
  Value fade = math::ExpOp::create(b, arith::SubFOp::create(b, old, best));
  Value sum = k.reduce(stretch.count, spread(k.number(0)),
                       [&](Value position, Value sum) -> Value {
                         Value place = k.add(position, scores);
                         Value weight = math::ExpOp::create(
                             b, arith::SubFOp::create(b, load(place), best));
                         store(weight, place);
                         return arith::AddFOp::create(b, sum, weight);
                       });
  store(multiplyAdd(load(total), fade, sum), total);
  store(best, highest);
  store(fade, decay);
}

void LatentKernel::emitSums(const Stretch &stretch) {
  int64_t whole = values / tile * tile;
  k.loop(k.constant(0), k.constant(whole), tile,
         [&](Value column) { emitSumTile(stretch, column, tile); });
  if (values > whole) {
    emitSumTile(stretch, k.constant(whole), values - whole);
  }
}

void LatentKernel::emitSumTile(const Stretch &stretch, Value column,
                               int64_t columns) {
  Value first = k.add(column, sums), fade = load(decay);
  Values inits;
  for (int64_t c = 0; c < columns; ++c) {
    inits.push_back(arith::MulFOp::create(b, load(k.add(first, c)), fade));
  }
  Value begin = buildAddress(b, stretch.block, k.add(column, width - values),
                             cache.elementBytes);
  Values ends = k.loop(
      k.constant(0), stretch.count, 1, inits,
      [&](Value position, ValueRange before) {
        Value weight = load(k.add(position, scores));
        Value row = buildAddress(b, begin, position, cache.rowBytes);
        Values next;
        for (int64_t c = 0; c < columns; ++c) {
          next.push_back(multiplyAdd(weight, loadShared(row, c), before[c]));
        }
        return next;
      });
  for (int64_t c = 0; c < columns; ++c) {
    store(ends[c], k.add(first, c));
  }
}

void LatentKernel::storeResult(const Query &query) {
  Value inverse = arith::DivFOp::create(b, spread(k.number(1)), load(total));
  store(inverse, total);
  Value own =
      k.min(k.constant(lanes), k.subtract(k.constant(heads), query.firstHead));
  k.loop(own, [&](Value lane) {
    auto number = [&](Value place) -> Value {
      Value at[] = {worker, k.add(k.add(k.scale(place, lanes), lane), origin)};
      return memref::LoadOp::create(b, memory, at);
    };
    Value factor = number(k.constant(total));
    Value first = k.scale(k.add(query.firstHead, lane), values);
    k.loop(k.constant(values), [&](Value column) {
      Value mean =
          arith::MulFOp::create(b, number(k.add(column, sums)), factor);
      Value at[] = {query.token, k.add(first, column)};
      k.storeFloat(mean, op.getInit(), at);
    });
  });
}

void tfc::expandLatent(transformer::PagedLatentOp op,
                       const CacheGeometry &cache, Value step, Value workers,
                       int64_t lanes, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  LatentKernel kernel(op, cache, step, workers, lanes, rewriter);
  kernel.emitWrites();
  kernel.emitAttention();
  rewriter.eraseOp(op);
}
