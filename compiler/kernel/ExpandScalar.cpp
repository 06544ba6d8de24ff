// The plain expansion of the structured ops: one query at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/ExpandScalar.h"

#include "compiler/kernel/AttentionScore.h"
#include "compiler/kernel/Quantize.h"
#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace tfc;

CacheGeometry tfc::getScalarCache(transformer::CacheType type) {
  // Blocks are small, so that short sequences waste little; an item's cost is
  // its overhead many times.
  return CacheGeometry(type, /*blockTokens=*/16, /*queryRows=*/4);
}

namespace {

/// Emits into one function at one place; shared by the two kernels. A row is
/// the heads' elements, and of a quantized cache their scales behind them.
class ScalarEmitter : public KernelBuilder {
public:
  ScalarEmitter(Location loc, OpBuilder &builder, transformer::CacheType type,
                Value step, Value layer)
      : KernelBuilder(loc, builder, step), cache(getScalarCache(type)),
        headDim(type.getHeadDim()), kvHeads(type.getKvHeads()),
        isQuantized(type.getElementType().isInteger()), layer(layer) {}

  /// Pointer to the row of keys (values behind them) at a position.
  Value keyRow(const WorkItem &item, Value position) {
    Value number = divide(position, cache.blockTokens);
    Value slot = remainder(position, cache.blockTokens);
    Value address = blockAddress(cache, item, number, layer);
    return buildAddress(builder(), address, slot, cache.rowBytes);
  }
  Value valueRow(Value keyRow) {
    return buildAddress(builder(), keyRow, cache.blockTokens * cache.rowBytes);
  }

  /// Column `d` of a head.
  Value load(Value row, Value kvHead, Value d) {
    Value value =
        cache.load(*this, elementAt(row, kvHead, d), builder().getF32Type());
    if (!isQuantized) {
      return value;
    }
    Value scale = LLVM::LoadOp::create(builder(), builder().getF32Type(),
                                       scaleAt(row, kvHead), /*alignment=*/1);
    return arith::MulFOp::create(builder(), value, scale);
  }
  /// A token's columns of a head.
  void store(Value rows, Value token, Value row, Value kvHead) {
    auto element = [&](Value d) {
      return loadFloat(rows, ValueRange{token, columnOf(kvHead, d)});
    };
    Value greatest;
    if (isQuantized) {
      greatest = reduce(constant(headDim), buildLeastGreatest(builder()),
                        [&](Value d, Value greatest) {
                          return buildGreater(builder(), greatest, element(d));
                        });
      LLVM::StoreOp::create(builder(), buildScale(builder(), greatest),
                            scaleAt(row, kvHead), /*alignment=*/1);
    }
    loop(constant(headDim), [&](Value d) {
      Value value = element(d);
      if (greatest) {
        value = buildInteger(builder(), value, greatest, /*excess=*/0);
      }
      cache.store(*this, value, elementAt(row, kvHead, d));
    });
  }

  const CacheGeometry cache;
  const int64_t headDim, kvHeads;
  const bool isQuantized;

private:
  Value columnOf(Value kvHead, Value d) {
    return add(scale(kvHead, headDim), d);
  }
  Value elementAt(Value row, Value kvHead, Value d) {
    return buildAddress(builder(), row, columnOf(kvHead, d),
                        cache.elementBytes);
  }
  Value scaleAt(Value row, Value kvHead) {
    return buildAddress(builder(), row, kvHead, sizeof(float),
                        kvHeads * headDim * cache.elementBytes);
  }

  Value layer;
};

/// One query of one head, its place in the rows, and how many positions it sees
/// from `first` on.
struct Query : ScoreRow {
  Value token, column, kvHead, visible;
};

/// Emits paged attention: softmax in two passes over the keys, the first for
/// the maximum, the second for the weighted sum.
class ScalarAttention {
public:
  ScalarAttention(transformer::PagedAttentionOp op, Value step, Value scratch,
                  OpBuilder &builder)
      : op(op),
        e(op.getLoc(), builder, op.getCache().getType(), step, op.getLayer()),
        b(e.builder()), scores(e, op), scratch(scratch),
        headDim(op.getCache().getType().getHeadDim()) {}

  void emit() {
    int64_t heads = op.getNumHeads();
    int64_t group = heads / op.getCache().getType().getKvHeads();
    e.forEachItem(e.cache, [&](const WorkItem &item) {
      Value worker = transformer::WorkerOp::create(b, b.getIndexType());
      e.loop(item.rows, [&](Value row) {
        Value t = e.add(item.firstRow, row);
        Query query;
        query.token = e.add(item.firstToken, t);
        static_cast<ScoreRow &>(query) = scores.rowOf(item, row, Value());
        query.visible = query.end;
        if (query.first) {
          query.first = e.min(query.first, query.end);
          query.visible = e.subtract(query.end, query.first);
        } else {
          query.first = e.constant(0);
        }
        e.loop(e.constant(heads), [&](Value head) {
          query.head = head;
          query.kvHead = e.divide(head, group);
          query.column = e.scale(head, headDim);
          scores.beginRows(item, row, query);
          emitHead(item, query, worker);
        });
      });
    });
  }

private:
  Value score(const Query &query, Value position, Value keyRow) {
    Value dot = e.reduce(
        e.constant(headDim), e.number(0), [&](Value d, Value sum) -> Value {
          Value q = scores.keyQuery(query.token, e.add(query.column, d));
          Value k = e.load(keyRow, query.kvHead, d);
          return arith::AddFOp::create(b, sum, arith::MulFOp::create(b, q, k));
        });
    dot = scores.addRelative(
        dot, query, position, headDim,
        [&](Value d) {
          return scores.tableQuery(query.token, e.add(query.column, d));
        },
        [&](Value d) { return e.load(keyRow, query.kvHead, d); });
    return scores.score(dot, query, position);
  }

  void emitHead(const WorkItem &item, const Query &query, Value worker) {
    Value sink = scores.sink(query.token, query.head);
    Value lowest =
        sink ? sink : e.number(-std::numeric_limits<float>::infinity());
    Value highest =
        e.reduce(query.visible, lowest, [&](Value n, Value best) -> Value {
          Value j = e.add(query.first, n);
          Value s = score(query, j, e.keyRow(item, j));
          return arith::MaximumFOp::create(b, best, s);
        });
    e.loop(e.constant(headDim), [&](Value d) {
      memref::StoreOp::create(b, e.number(0), scratch, ValueRange{worker, d});
    });
    Value none = e.number(0);
    if (sink) {
      none = math::ExpOp::create(b, arith::SubFOp::create(b, sink, highest));
    }
    Value sum = e.reduce(query.visible, none, [&](Value n, Value sum) -> Value {
      Value j = e.add(query.first, n);
      Value keyRow = e.keyRow(item, j);
      Value difference =
          arith::SubFOp::create(b, score(query, j, keyRow), highest);
      Value weight = math::ExpOp::create(b, difference);
      accumulate(query, j, weight, e.valueRow(keyRow), worker);
      return arith::AddFOp::create(b, sum, weight);
    });
    e.loop(e.constant(headDim), [&](Value d) {
      Value total = memref::LoadOp::create(b, scratch, ValueRange{worker, d});
      Value mean = arith::DivFOp::create(b, total, sum);
      e.storeFloat(mean, op.getInit(),
                   ValueRange{query.token, e.add(query.column, d)});
    });
  }

  /// scratch[worker] += weight * V[position], and with it the row of values of
  /// its distance
  void accumulate(const Query &query, Value position, Value weight,
                  Value valueRow, Value worker) {
    Value table = scores.valueTable(), place, column;
    if (table) {
      place = scores.tableRow(e.subtract(position, query.position));
      column = scores.tableColumn(table, query.column);
    }
    e.loop(e.constant(headDim), [&](Value d) {
      Value old = memref::LoadOp::create(b, scratch, ValueRange{worker, d});
      Value v = e.load(valueRow, query.kvHead, d);
      if (table) {
        Value own = e.loadFloat(table, ValueRange{place, e.add(column, d)});
        v = arith::AddFOp::create(b, v, own);
      }
      Value next =
          arith::AddFOp::create(b, old, arith::MulFOp::create(b, weight, v));
      memref::StoreOp::create(b, next, scratch, ValueRange{worker, d});
    });
  }

  transformer::PagedAttentionOp op;
  ScalarEmitter e;
  ImplicitLocOpBuilder &b;
  AttentionScore scores;
  Value scratch;
  int64_t headDim;
};

} // namespace

void tfc::expandScalar(transformer::CacheWriteOp op, Value step,
                       RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  ScalarEmitter e(op.getLoc(), rewriter, op.getCache().getType(), step,
                  op.getLayer());
  e.forEachItem(e.cache, [&](const WorkItem &item) {
    e.loop(item.rows, [&](Value row) {
      Value t = e.add(item.firstRow, row);
      Value token = e.add(item.firstToken, t);
      Value keyRow = e.keyRow(item, e.add(item.past, t));
      Value valueRow = e.valueRow(keyRow);
      e.loop(e.constant(e.kvHeads), [&](Value kvHead) {
        e.store(op.getKey(), token, keyRow, kvHead);
        e.store(op.getValue(), token, valueRow, kvHead);
      });
    });
  });
  rewriter.eraseOp(op);
}

void tfc::expandScalar(transformer::PagedAttentionOp op, Value step,
                       Value workers, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  int64_t headDim = op.getCache().getType().getHeadDim();
  Value scratch = memref::AllocOp::create(
      b, MemRefType::get({ShapedType::kDynamic, headDim}, b.getF32Type()),
      ValueRange{workers});
  ScalarAttention(op, step, scratch, rewriter).emit();
  rewriter.eraseOp(op);
}
