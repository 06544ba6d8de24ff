// Keys and values on their way from the cache to shared memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/PositionCopies.h"

#include "compiler/gpu/thread/AsyncCopies.h"
#include "compiler/gpu/thread/WarpBuilder.h"
#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tfc;

/// The state space of device memory in pointers.
static constexpr unsigned kGlobalSpace = 1;

/// A warp has every fourth row, so that all of a thread's copies lie at fixed
/// distances from its first: of rows of 32 copies or more, which need not be
/// whole times that many.
static void copyByWarps(KernelBuilder &k, const DeviceCache &cache,
                        Value thread, const PositionRows &to, Value device,
                        llvm::function_ref<Value(Value)> fillOf) {
  ImplicitLocOpBuilder &b = k.builder();
  constexpr int64_t lanes = WarpBuilder::kLanes;
  constexpr int64_t warps = kAttentionThreads / lanes;
  int64_t perRow = cache.positionBytes / kCopyBytes;
  Value warp = k.divide(thread, lanes), lane = k.remainder(thread, lanes);
  Value place = buildAddress(b, buildAddress(b, to.memory, warp, to.rowBytes),
                             lane, kCopyBytes);
  Value source = buildAddress(
      b, buildAddress(b, device, warp, cache.positionBytes), lane, kCopyBytes);
  for (int64_t row = 0; row < DeviceCache::kBlockTokens; row += warps) {
    Value fill = fillOf(k.add(warp, row));
    for (int64_t first = 0; first < perRow; first += lanes) {
      int64_t offset = first * kCopyBytes;
      auto copy = [&] {
        copyAsync(b, buildAddress(b, place, row * to.rowBytes + offset),
                  buildAddress(b, source, row * cache.positionBytes + offset),
                  fill);
      };
      if (first + lanes <= perRow) {
        copy();
      } else {
        k.when(k.isLess(lane, k.constant(perRow - first)), copy);
      }
    }
  }
}

/// A head's rows lie one after the other, as its copies do. Where a row takes a
/// part of the threads, a thread's copies are in one column, and its rows
/// constants from the first: nothing but that is kept in registers.
void tfc::copyPositions(KernelBuilder &k, const DeviceCache &cache,
                        Value thread, const PositionRows &to, Value source,
                        Value from, Value end) {
  ImplicitLocOpBuilder &b = k.builder();
  int64_t perRow = cache.positionBytes / kCopyBytes;
  int64_t numCopies = DeviceCache::kBlockTokens * perRow;
  bool isRegular = kAttentionThreads % perRow == 0;
  Value device = LLVM::AddrSpaceCastOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), kGlobalSpace), source);
  Type word = b.getI32Type();
  Value all = arith::ConstantOp::create(b, b.getI32IntegerAttr(kCopyBytes));
  Value none = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  auto fillOf = [&](Value own) -> Value {
    Value isInside = arith::AndIOp::create(
        b, k.isLess(own, end),
        arith::CmpIOp::create(b, arith::CmpIPredicate::sge, own, from));
    return arith::SelectOp::create(b, word, isInside, all, none);
  };
  if (perRow >= WarpBuilder::kLanes) {
    copyByWarps(k, cache, thread, to, device, fillOf);
    return;
  }
  Value row, place;
  for (int64_t first = 0; first < numCopies; first += kAttentionThreads) {
    Value part = k.add(thread, first);
    if (first == 0 || !isRegular) {
      row = k.divide(part, perRow);
      place = buildAddress(b, buildAddress(b, to.memory, row, to.rowBytes),
                           k.remainder(part, perRow), kCopyBytes);
    }
    int64_t on = isRegular ? first / perRow : 0;
    auto copy = [&] {
      Value fill = fillOf(k.add(row, on));
      copyAsync(b, buildAddress(b, place, on * to.rowBytes),
                buildAddress(b, device, part, kCopyBytes), fill);
    };
    if (first + kAttentionThreads <= numCopies) {
      copy();
    } else {
      k.when(k.isLess(part, k.constant(numCopies)), copy);
    }
  }
}
