// Writing keys and values into the cache, a thread a few columns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/ExpandCacheRows.h"

#include "compiler/gpu/rows/ComputedRows.h"
#include "compiler/gpu/rows/RowVector.h"
#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tfc;

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
  KernelBuilder::Values axes = {
      k.mostRows(cache),
      k.constant(op.getCache().getType().getKvHeads() * perHead)};
  k.forEachPlace(cache, axes, [&](const WorkItem &item, ValueRange places) {
    Value row = places[0], vector = places[1];
    auto branch = scf::IfOp::create(b, k.isLess(row, item.rows));
    b.setInsertionPointToStart(branch.thenBlock());
    Value head = k.divide(vector, perHead);
    Value t = k.add(item.firstRow, row);
    Value token = k.add(item.firstToken, t);
    Value position = k.add(item.past, t);
    Value slot = k.remainder(position, cache.blockTokens);
    Value block = k.blockAddress(
        cache, item, k.divide(position, cache.blockTokens), op.getLayer());
    Value offset = k.scale(k.remainder(vector, perHead), width);
    Value column = k.scale(vector, width);
    auto write = [&](const std::optional<ComputedRows> &computed, Value rows,
                     Value base) {
      Value address = buildAddress(b, base, slot, cache.positionBytes);
      address = buildAddress(b, address, offset, cache.elementBytes);
      Value kept = computed ? computed->build(b, token, column)
                            : loadKeptVector(k, rows, token, column, width);
      cache.storeKept(k, kept, address);
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
