// Swizzled panels, and products by wgmma.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/WarpgroupTiles.h"

#include "compiler/gpu/product/WarpgroupMatrices.h"
#include "compiler/gpu/rows/RowVector.h"
#include "compiler/gpu/thread/AsyncCopies.h"
#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tfc;

/// The state space of device memory in pointers.
static constexpr unsigned kGlobalSpace = 1;
/// Chunks of a panel's row.
static constexpr int64_t kPanelChunks = 128 / kCopyBytes;

Value WarpgroupTiles::tile(int64_t number, int64_t panel) {
  return buildAddress(b, memory,
                      number * tileBytes(block.cache.headDim) +
                          panel * panelBytes());
}

Value WarpgroupTiles::placeOf(int64_t number, Value row, Value chunk) {
  Value panel = k.divide(chunk, kPanelChunks);
  Value inPanel = arith::XOrIOp::create(b, k.remainder(chunk, kPanelChunks),
                                        k.remainder(row, 8));
  Value place = buildAddress(b, tile(number), panel, panelBytes());
  place = buildAddress(b, place, row, kPanelChunks * kCopyBytes);
  return buildAddress(b, place, inPanel, kCopyBytes);
}

void WarpgroupTiles::forEachChunk(
    function_ref<void(Value, Value, Value)> each) {
  int64_t perRow = block.cache.headDim * 2 / kCopyBytes;
  for (int64_t first = 0; first < KeyTiles::kPositions * perRow;
       first += KeyTiles::kThreads) {
    Value part = k.add(block.thread, first);
    each(part, k.divide(part, perRow), k.remainder(part, perRow));
  }
}

void WarpgroupTiles::storeQueries(const WorkItem &item, Value head) {
  forEachChunk([&](Value, Value row, Value chunk) {
    Value token = block.makeRow(item, head, row).token;
    Value column = k.add(k.scale(head, block.cache.headDim),
                         k.scale(chunk, kCopyBytes / 2));
    Value queries =
        loadKeptVector(k, block.op.getQuery(), token, column, kCopyBytes / 2);
    Value words =
        LLVM::BitcastOp::create(b, VectorType::get(4, b.getI32Type()), queries);
    LLVM::StoreOp::create(b, words, placeOf(0, row, chunk), kCopyBytes);
  });
}

/// A head's rows lie one after the other, as its copies do.
void WarpgroupTiles::copy(int64_t number, Value source, Value from, Value end) {
  Value device = LLVM::AddrSpaceCastOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), kGlobalSpace), source);
  Value all = arith::ConstantOp::create(b, b.getI32IntegerAttr(kCopyBytes));
  Value none = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  forEachChunk([&](Value part, Value row, Value chunk) {
    Value isInside = arith::AndIOp::create(
        b, k.isLess(row, end),
        arith::CmpIOp::create(b, arith::CmpIPredicate::sge, row, from));
    Value fill = arith::SelectOp::create(b, isInside, all, none);
    copyAsync(b, placeOf(number, row, chunk),
              buildAddress(b, device, part, kCopyBytes), fill);
  });
}

static Value addTo(ImplicitLocOpBuilder &b, Value described, int64_t amount) {
  return amount == 0
             ? described
             : arith::AddIOp::create(
                   b, described, arith::ConstantIntOp::create(b, amount, 64))
                   .getResult();
}

static SmallVector<SumFragment> takeFragments(ImplicitLocOpBuilder &b,
                                              Value sums) {
  SmallVector<Value> all = takeSums(b, sums);
  SmallVector<SumFragment> fragments;
  for (size_t i = 0; i < all.size(); i += 4) {
    fragments.push_back({all[i], all[i + 1], all[i + 2], all[i + 3]});
  }
  return fragments;
}

SmallVector<SumFragment> WarpgroupTiles::multiplyKeys() {
  Value sums = zeroSums(b, KeyTiles::kPositions);
  orderSums(b);
  for (int64_t panel = 0; panel < block.cache.headDim / 64; ++panel) {
    Value queries = describeTile(b, tile(0, panel));
    Value keys = describeTile(b, tile(1, panel));
    for (int64_t column = 0; column < 64; column += 16) {
      int64_t on = column / 16 * kNextColumns;
      sums = multiplyTiles(b, block.cache.element, addTo(b, queries, on),
                           addTo(b, keys, on), sums,
                           /*isFirst=*/panel == 0 && column == 0);
    }
  }
  commitProducts(b);
  waitForProducts(b, 0);
  return takeFragments(b, sums);
}

void WarpgroupTiles::addValues(ArrayRef<LeftFragment> weights,
                               SmallVectorImpl<SumFragment> &sums) {
  SmallVector<Value> all;
  for (const SumFragment &sum : sums) {
    all.append(sum.begin(), sum.end());
  }
  Value values = describeRows(b, tile(2), panelBytes());
  orderSums(b);
  Value added = makeSums(b, all);
  for (auto [step, fragment] : llvm::enumerate(weights)) {
    added = multiplyRows(b, block.cache.element, fragment,
                         addTo(b, values, int64_t(step) * kNextRows), added);
  }
  commitProducts(b);
  waitForProducts(b, 0);
  sums = takeFragments(b, added);
}
