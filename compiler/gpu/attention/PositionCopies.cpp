// Keys and values on their way from the cache to shared memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/PositionCopies.h"

#include "compiler/gpu/thread/AsyncCopies.h"
#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tfc;

/// The state space of device memory in pointers.
static constexpr unsigned kGlobalSpace = 1;

/// A head's rows lie one after the other, as its copies do.
void tfc::copyPositions(KernelBuilder &k, const DeviceCache &cache,
                        Value thread, const PositionRows &to, Value source,
                        Value from, Value end) {
  ImplicitLocOpBuilder &b = k.builder();
  int64_t perRow = cache.positionBytes / kCopyBytes;
  Value device = LLVM::AddrSpaceCastOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), kGlobalSpace), source);
  Type word = b.getI32Type();
  Value all = arith::ConstantOp::create(b, b.getI32IntegerAttr(kCopyBytes));
  Value none = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  for (int64_t first = 0; first < DeviceCache::kBlockTokens * perRow;
       first += kAttentionThreads) {
    Value part = k.add(thread, first);
    Value row = k.divide(part, perRow), column = k.remainder(part, perRow);
    Value isInside = arith::AndIOp::create(
        b, k.isLess(row, end),
        arith::CmpIOp::create(b, arith::CmpIPredicate::sge, row, from));
    Value fill = arith::SelectOp::create(b, word, isInside, all, none);
    Value place = buildAddress(b, to.memory, row, to.rowBytes);
    copyAsync(b, buildAddress(b, place, column, kCopyBytes),
              buildAddress(b, device, part, kCopyBytes), fill);
  }
}
