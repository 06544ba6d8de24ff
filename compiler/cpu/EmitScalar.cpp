// The plain expansion of the structured ops: one query at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/EmitScalar.h"

#include "compiler/cpu/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace tfc;

ScalarCache::ScalarCache(transformer::CacheType type) {
  rowBytes = type.getKvHeads() * type.getHeadDim() * sizeof(float);
  int64_t bytes = 2 * kBlockTokens * rowBytes;
  layerBytes = type.getScratch() ? 0 : bytes;
  blockBytes = type.getScratch() ? bytes : bytes * type.getLayers();
}

namespace {

/// A work item at run time, all indices.
struct Item {
  Value firstRow;   // its first query, counted in the sequence
  Value rows;       // its queries
  Value firstToken; // of the sequence, in the step
  Value past, keys;
  Value blocks; // pointer to block numbers
};

/// Emits into one function at one place; shared by the two kernels.
class ScalarEmitter {
public:
  ScalarEmitter(Location loc, OpBuilder &builder, transformer::CacheType type,
                Value step, Value layer)
      : b(loc, builder), cache(type), step(step), layer(layer) {}

  ImplicitLocOpBuilder &builder() { return b; }

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value scale(Value x, int64_t factor) {
    return arith::MulIOp::create(b, x, constant(factor));
  }
  Value number(double value) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  }

  /// for i in [0, count): body(i)
  void loop(Value count, function_ref<void(Value)> body) {
    auto op = scf::ForOp::create(b, constant(0), count, constant(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    body(op.getInductionVar());
  }

  /// x = init; for i in [0, count): x = body(i, x)
  Value reduce(Value count, Value init,
               function_ref<Value(Value, Value)> body) {
    auto op = scf::ForOp::create(b, constant(0), count, constant(1),
                                 ValueRange{init});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    Value next = body(op.getInductionVar(), op.getRegionIterArg(0));
    scf::YieldOp::create(b, next);
    return op.getResult(0);
  }

  /// In parallel, for every work item.
  void forEachItem(function_ref<void(const Item &)> body) {
    Value count = loadIndex(b, step, offsetof(tfc_step_v0, n_items), 64);
    auto op = scf::ParallelOp::create(
        b, ValueRange{constant(0)}, ValueRange{count}, ValueRange{constant(1)});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    body(loadItem(op.getInductionVars().front()));
  }

  /// Pointer to the row of keys (values behind them) at a position.
  Value keyRow(const Item &item, Value position) {
    Value size = constant(ScalarCache::kBlockTokens);
    Value number = arith::DivUIOp::create(b, position, size);
    Value slot = arith::RemUIOp::create(b, position, size);
    Value block = loadIndex(b, buildAddress(b, item.blocks, number, 4), 0, 32);
    Value base = loadPointer(b, step, offsetof(tfc_step_v0, self_cache));
    Value address = buildAddress(b, base, block, cache.blockBytes);
    address = buildAddress(b, address, layer, cache.layerBytes);
    return buildAddress(b, address, slot, cache.rowBytes);
  }
  Value valueRow(Value keyRow) {
    return buildAddress(b, keyRow, ScalarCache::kBlockTokens * cache.rowBytes);
  }

  Value load(Value row, Value column) {
    return LLVM::LoadOp::create(b, b.getF32Type(),
                                buildAddress(b, row, column, sizeof(float)));
  }
  void store(Value value, Value row, Value column) {
    LLVM::StoreOp::create(b, value,
                          buildAddress(b, row, column, sizeof(float)));
  }

private:
  Item loadItem(Value number) {
    Value items = loadPointer(b, step, offsetof(tfc_step_v0, items));
    Value entry = buildAddress(b, items, number, sizeof(tfc_item_v0));
    Value sequence = loadIndex(b, entry, offsetof(tfc_item_v0, sequence), 32);
    Value sequences = loadPointer(b, step, offsetof(tfc_step_v0, sequences));
    Value table = buildAddress(b, sequences, sequence, sizeof(tfc_sequence_v0));
    auto field = [&](int64_t offset) {
      return loadIndex(b, table, offset, 32);
    };
    Item item;
    item.firstRow = loadIndex(b, entry, offsetof(tfc_item_v0, first_row), 32);
    item.firstToken = field(offsetof(tfc_sequence_v0, first));
    item.past = field(offsetof(tfc_sequence_v0, past));
    item.keys = field(offsetof(tfc_sequence_v0, keys));
    item.blocks = loadPointer(b, table, offsetof(tfc_sequence_v0, blocks));
    Value count = field(offsetof(tfc_sequence_v0, count));
    Value left = arith::SubIOp::create(b, count, item.firstRow);
    item.rows =
        arith::MinSIOp::create(b, left, constant(ScalarCache::kQueryRows));
    return item;
  }

  ImplicitLocOpBuilder b;
  ScalarCache cache;
  Value step, layer;
};

/// One query of one head: its place in the rows, and what it may see.
struct Query {
  Value token, column, kvColumn, visible;
};

/// Emits paged attention: softmax in two passes over the keys, the first for
/// the maximum, the second for the weighted sum.
class ScalarAttention {
public:
  ScalarAttention(transformer::PagedAttentionOp op, Value step, Value scratch,
                  OpBuilder &builder)
      : op(op),
        e(op.getLoc(), builder, op.getCache().getType(), step, op.getLayer()),
        b(e.builder()), scratch(scratch),
        headDim(op.getCache().getType().getHeadDim()) {}

  void emit() {
    int64_t heads = op.getNumHeads();
    int64_t group = heads / op.getCache().getType().getKvHeads();
    e.forEachItem([&](const Item &item) {
      Value worker = transformer::WorkerOp::create(b, b.getIndexType());
      e.loop(item.rows, [&](Value row) {
        Value t = e.add(item.firstRow, row);
        Query query;
        query.token = e.add(item.firstToken, t);
        query.visible = visible(item, t);
        e.loop(e.constant(heads), [&](Value head) {
          Value kvHead = arith::DivUIOp::create(b, head, e.constant(group));
          query.column = e.scale(head, headDim);
          query.kvColumn = e.scale(kvHead, headDim);
          emitHead(item, query, worker);
        });
      });
    });
  }

private:
  Value visible(const Item &item, Value t) {
    if (op.getMask() == transformer::Mask::Bidirectional) {
      return item.keys;
    }
    Value own = e.add(e.add(item.past, t), e.constant(1));
    return arith::MinSIOp::create(b, own, item.keys);
  }

  /// scale * q . K[position]
  Value score(const Query &query, Value keyRow) {
    Value dot = e.reduce(
        e.constant(headDim), e.number(0), [&](Value d, Value sum) -> Value {
          Value q = memref::LoadOp::create(
              b, op.getQuery(),
              ValueRange{query.token, e.add(query.column, d)});
          Value k = e.load(keyRow, e.add(query.kvColumn, d));
          return arith::AddFOp::create(b, sum, arith::MulFOp::create(b, q, k));
        });
    return arith::MulFOp::create(b, dot, op.getScale());
  }

  void emitHead(const Item &item, const Query &query, Value worker) {
    Value lowest = e.number(-std::numeric_limits<float>::infinity());
    Value highest =
        e.reduce(query.visible, lowest, [&](Value j, Value best) -> Value {
          Value s = score(query, e.keyRow(item, j));
          return arith::MaximumFOp::create(b, best, s);
        });
    e.loop(e.constant(headDim), [&](Value d) {
      memref::StoreOp::create(b, e.number(0), scratch, ValueRange{worker, d});
    });
    Value sum =
        e.reduce(query.visible, e.number(0), [&](Value j, Value sum) -> Value {
          Value keyRow = e.keyRow(item, j);
          Value difference =
              arith::SubFOp::create(b, score(query, keyRow), highest);
          Value weight = math::ExpOp::create(b, difference);
          accumulate(query, weight, e.valueRow(keyRow), worker);
          return arith::AddFOp::create(b, sum, weight);
        });
    e.loop(e.constant(headDim), [&](Value d) {
      Value total = memref::LoadOp::create(b, scratch, ValueRange{worker, d});
      Value mean = arith::DivFOp::create(b, total, sum);
      memref::StoreOp::create(b, mean, op.getInit(),
                              ValueRange{query.token, e.add(query.column, d)});
    });
  }

  /// scratch[worker] += weight * V[position]
  void accumulate(const Query &query, Value weight, Value valueRow,
                  Value worker) {
    e.loop(e.constant(headDim), [&](Value d) {
      Value old = memref::LoadOp::create(b, scratch, ValueRange{worker, d});
      Value v = e.load(valueRow, e.add(query.kvColumn, d));
      Value next =
          arith::AddFOp::create(b, old, arith::MulFOp::create(b, weight, v));
      memref::StoreOp::create(b, next, scratch, ValueRange{worker, d});
    });
  }

  transformer::PagedAttentionOp op;
  ScalarEmitter e;
  ImplicitLocOpBuilder &b;
  Value scratch;
  int64_t headDim;
};

} // namespace

void tfc::emitScalar(transformer::CacheWriteOp op, Value step,
                     RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  ScalarEmitter e(op.getLoc(), rewriter, op.getCache().getType(), step,
                  op.getLayer());
  ImplicitLocOpBuilder &b = e.builder();
  transformer::CacheType type = op.getCache().getType();
  e.forEachItem([&](const Item &item) {
    e.loop(item.rows, [&](Value row) {
      Value t = e.add(item.firstRow, row);
      Value token = e.add(item.firstToken, t);
      Value keyRow = e.keyRow(item, e.add(item.past, t));
      Value valueRow = e.valueRow(keyRow);
      e.loop(e.constant(type.getKvHeads() * type.getHeadDim()), [&](Value d) {
        SmallVector<Value> place = {token, d};
        e.store(memref::LoadOp::create(b, op.getKey(), place), keyRow, d);
        e.store(memref::LoadOp::create(b, op.getValue(), place), valueRow, d);
      });
    });
  });
  rewriter.eraseOp(op);
}

void tfc::emitScalar(transformer::PagedAttentionOp op, Value step,
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
