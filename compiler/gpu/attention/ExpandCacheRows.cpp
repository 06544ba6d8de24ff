// Writing keys and values into the cache, a thread a few columns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/ExpandCacheRows.h"

#include "compiler/gpu/rows/ComputedRows.h"
#include "compiler/gpu/rows/RowVector.h"
#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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

void tfc::expandCacheRows(transformer::CacheWriteOp op,
                          const DeviceCache &cache, Value step,
                          RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  KernelBuilder k(op.getLoc(), rewriter, step);
  ImplicitLocOpBuilder &b = k.builder();
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
