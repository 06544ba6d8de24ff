// Writing keys and values into the cache, a thread a few columns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/ExpandCacheRows.h"

#include "compiler/gpu/rows/ComputedRows.h"
#include "compiler/gpu/rows/RowVector.h"
#include "compiler/kernel/Quantize.h"
#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

/// The parallel loop over items, rows and `vectors` of a row; the body gets the
/// token, the address of the layer in the block of its position, which slot of
/// the block that is, and the vector's number.
static void forEachVector(
    KernelBuilder &k, const DeviceCache &cache, Value layer, int64_t vectors,
    llvm::function_ref<void(Value token, Value block, Value slot, Value vector)>
        body) {
  KernelBuilder::Values axes = {k.mostRows(cache), k.constant(vectors)};
  k.forEachPlace(cache, axes, [&](const WorkItem &item, ValueRange places) {
    ImplicitLocOpBuilder &b = k.builder();
    Value row = places[0];
    auto branch = scf::IfOp::create(b, k.isLess(row, item.rows));
    b.setInsertionPointToStart(branch.thenBlock());
    Value t = k.add(item.firstRow, row);
    Value position = k.add(item.past, t);
    Value slot = k.remainder(position, cache.blockTokens);
    Value block = k.blockAddress(cache, item,
                                 k.divide(position, cache.blockTokens), layer);
    body(k.add(item.firstToken, t), block, slot, places[1]);
  });
}

/// A vector of a token's row, loaded or computed, to `address`.
static void writeVector(KernelBuilder &k, const DeviceCache &cache,
                        const std::optional<ComputedRows> &computed, Value rows,
                        Value token, Value column, Value address) {
  Value kept =
      computed ? computed->build(k.builder(), token, column)
               : loadKeptVector(k, rows, token, column, cache.vectorWidth());
  cache.storeKept(k, kept, address);
}

/// A head's key, or value, of a token as integers, and their scale, by a
/// thread. The head's begin at `base`.
static void writeQuantized(KernelBuilder &k, const DeviceCache &cache,
                           Value rows, Value token, Value head, Value slot,
                           Value base) {
  ImplicitLocOpBuilder &b = k.builder();
  int64_t width = cache.vectorWidth();
  auto load = [&](Value d) {
    return loadRowVector(k, rows, token, k.add(k.scale(head, cache.headDim), d),
                         width);
  };
  Value least = buildLeastGreatest(b);
  Value greatest =
      k.loop(k.constant(0), k.constant(cache.headDim), width, least,
             [&](Value d, ValueRange carried) -> KernelBuilder::Values {
               Value own = carried.front(), vector = load(d);
               for (int64_t e = 0; e < width; ++e) {
                 own = buildGreater(b, own,
                                    vector::ExtractOp::create(b, vector, e));
               }
               return {own};
             })
          .front();
  LLVM::StoreOp::create(b, buildScale(b, greatest),
                        cache.scaleAt(k, base, slot), sizeof(float));
  Value address = buildAddress(b, base, slot, cache.positionBytes);
  Value all = vector::BroadcastOp::create(
      b, VectorType::get(width, greatest.getType()), greatest);
  k.loop(k.constant(0), k.constant(cache.headDim), width, [&](Value d) {
    Value integers = buildInteger(b, load(d), all, /*excess=*/0);
    Value kept = arith::TruncIOp::create(
        b, VectorType::get(width, cache.element), integers);
    cache.storeKept(k, kept, buildAddress(b, address, d, cache.elementBytes));
  });
}

static void expandQuantizedRows(transformer::CacheWriteOp op,
                                const DeviceCache &cache, KernelBuilder &k) {
  forEachVector(k, cache, op.getLayer(), op.getCache().getType().getKvHeads(),
                [&](Value token, Value block, Value slot, Value head) {
                  writeQuantized(k, cache, op.getKey(), token, head, slot,
                                 cache.keys(k, block, head));
                  writeQuantized(k, cache, op.getValue(), token, head, slot,
                                 cache.values(k, block, head));
                });
}

void tfc::expandCacheRows(transformer::CacheWriteOp op,
                          const DeviceCache &cache, Value step,
                          RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  KernelBuilder k(op.getLoc(), rewriter, step);
  ImplicitLocOpBuilder &b = k.builder();
  if (cache.isQuantized) {
    expandQuantizedRows(op, cache, k);
    rewriter.eraseOp(op);
    return;
  }
  int64_t width = cache.vectorWidth();
  int64_t perHead = cache.headDim / width;
  // Keys that were turned for the cache alone, each thread turns on the way.
  auto keys = ComputedRows::find(op.getKey(), op, width);
  auto values = ComputedRows::find(op.getValue(), op, width);
  int64_t vectors = op.getCache().getType().getKvHeads() * perHead;
  forEachVector(
      k, cache, op.getLayer(), vectors,
      [&](Value token, Value block, Value slot, Value vector) {
        Value head = k.divide(vector, perHead);
        Value offset = k.scale(k.remainder(vector, perHead), width);
        Value column = k.scale(vector, width);
        auto write = [&](const std::optional<ComputedRows> &computed,
                         Value rows, Value base) {
          Value address = buildAddress(b, base, slot, cache.positionBytes);
          address = buildAddress(b, address, offset, cache.elementBytes);
          writeVector(k, cache, computed, rows, token, column, address);
        };
        write(keys, op.getKey(), cache.keys(k, block, head));
        write(values, op.getValue(), cache.values(k, block, head));
      });
  for (const std::optional<ComputedRows> &computed : {keys, values}) {
    if (computed) {
      computed->erase(rewriter);
    }
  }
  rewriter.eraseOp(op);
}

/// What is turned, then the latent, a row of the cache.
void tfc::expandLatentRows(transformer::PagedLatentOp op,
                           const DeviceCache &cache, Value step,
                           RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  KernelBuilder k(op.getLoc(), rewriter, step);
  ImplicitLocOpBuilder &b = k.builder();
  int64_t width = cache.vectorWidth(), first = 0;
  for (Value rows : {op.getRopeKey(), op.getLatent()}) {
    int64_t columns = cast<MemRefType>(rows.getType()).getDimSize(1);
    auto computed = ComputedRows::find(rows, op, width);
    forEachVector(
        k, cache, op.getLayer(), columns / width,
        [&](Value token, Value block, Value slot, Value vector) {
          Value column = k.scale(vector, width);
          Value address = buildAddress(b, block, slot, cache.positionBytes,
                                       first * cache.elementBytes);
          address = buildAddress(b, address, column, cache.elementBytes);
          writeVector(k, cache, computed, rows, token, column, address);
        });
    if (computed) {
      computed->erase(rewriter);
    }
    first += columns;
  }
}
