// Each thread has every 1024th column; lanes tell each other, then warps do.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/rows/GreatestColumn.h"

#include "compiler/gpu/thread/KernelModule.h"
#include "compiler/gpu/thread/ThreadBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tfc/abi.h"

#include <limits>

using namespace mlir;
using namespace tfc;

/// Columns that a thread asks for before it waits for one.
static constexpr int32_t kAhead = 8;
static constexpr int32_t kWarps = kGreatestThreads / kWarpLanes;
static_assert(kWarps == kWarpLanes, "the first warp has a lane for each");
/// Behind every column: of what is no greater than minus infinity.
static constexpr int32_t kNoColumn = std::numeric_limits<int32_t>::max();
static constexpr float kInfinity = std::numeric_limits<float>::infinity();

namespace {

class GreatestColumn {
public:
  GreatestColumn(ImplicitLocOpBuilder &b, gpu::GPUModuleOp kernels)
      : b(b), t(b), kernels(kernels) {}

  void emit(Value rows, Value found, Value width);

private:
  /// A number, and the first of the columns that have it. One with a NaN is
  /// infinity in a column before all others, so that nothing comes before it.
  struct Best {
    Value number, column;
  };

  Best ofThread(Value rows, Value width);
  /// Of equal ones the first column.
  Best choose(Best own, Best other);
  Best ofLanes(Best own);

  Value number(float value) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  }
  Value compare(arith::CmpFPredicate how, Value x, Value y) {
    return arith::CmpFOp::create(b, how, x, y);
  }
  Value exchange(Value value, int32_t distance) {
    return gpu::ShuffleOp::create(b, value, distance, kWarpLanes,
                                  gpu::ShuffleMode::XOR)
        .getShuffleResult();
  }

  ImplicitLocOpBuilder &b;
  ThreadBuilder t;
  gpu::GPUModuleOp kernels;
};

} // namespace

/// In order, so that of equal columns the first one stays. Those behind the
/// row's end are its last one again.
GreatestColumn::Best GreatestColumn::ofThread(Value rows, Value width) {
  Value last = t.subtract(width, 1), thread = t.thread(), row = t.blockX();
  Value isNone = arith::ConstantOp::create(b, b.getBoolAttr(false));
  ThreadBuilder::Values best =
      t.loop(t.number(0), width, kAhead * kGreatestThreads,
             {number(-kInfinity), t.number(kNoColumn), isNone},
             [&](Value first, ValueRange carried) {
               ThreadBuilder::Values columns, values, best(carried);
               for (int32_t i = 0; i < kAhead; ++i) {
                 Value column =
                     t.add(t.add(first, thread), i * kGreatestThreads);
                 columns.push_back(t.min(column, last));
                 Value address =
                     t.element(rows, b.getF32Type(), row, width, columns[i]);
                 values.push_back(t.load(b.getF32Type(), address, 4));
               }
               for (int32_t i = 0; i < kAhead; ++i) {
                 Value isGreater =
                     compare(arith::CmpFPredicate::OGT, values[i], best[0]);
                 Value isNan =
                     compare(arith::CmpFPredicate::UNO, values[i], values[i]);
                 best = {t.select(isGreater, values[i], best[0]),
                         t.select(isGreater, columns[i], best[1]),
                         arith::OrIOp::create(b, best[2], isNan)};
               }
               return best;
             });
  return {t.select(best[2], number(kInfinity), best[0]),
          t.select(best[2], t.number(TFC_GREATEST_NAN), best[1])};
}

GreatestColumn::Best GreatestColumn::choose(Best own, Best other) {
  Value isGreater =
      compare(arith::CmpFPredicate::OGT, other.number, own.number);
  Value isFirst =
      t.both(compare(arith::CmpFPredicate::OEQ, other.number, own.number),
             t.isLess(other.column, own.column));
  Value isBetter = arith::OrIOp::create(b, isGreater, isFirst);
  return {t.select(isBetter, other.number, own.number),
          t.select(isBetter, other.column, own.column)};
}

GreatestColumn::Best GreatestColumn::ofLanes(Best own) {
  for (int32_t distance = kWarpLanes / 2; distance > 0; distance /= 2) {
    own = choose(
        own, {exchange(own.number, distance), exchange(own.column, distance)});
  }
  return own;
}

void GreatestColumn::emit(Value rows, Value found, Value width) {
  constexpr int32_t bytes = sizeof(float);
  Best own = ofLanes(ofThread(rows, width));
  Value numbers = findSharedMemory(b, kernels);
  Value columns = t.bytes(numbers, kWarps * bytes);
  Value lane = t.lane(), warp = t.warp(), zero = t.number(0);
  t.when(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, zero), [&] {
    Value place = t.scale(warp, bytes);
    t.store(own.number, t.bytes(numbers, place), bytes);
    t.store(own.column, t.bytes(columns, place), bytes);
  });
  t.barrier();
  t.when(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, warp, zero), [&] {
    Value place = t.scale(lane, bytes);
    Best all =
        ofLanes({t.load(b.getF32Type(), t.bytes(numbers, place), bytes),
                 t.load(b.getI32Type(), t.bytes(columns, place), bytes)});
    t.when(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, zero), [&] {
      Value isNone = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                           all.column, t.number(kNoColumn));
      Value told = t.select(isNone, t.number(TFC_GREATEST_NONE), all.column);
      t.store(told,
              t.element(found, b.getI32Type(), Value(), Value(), t.blockX()),
              bytes);
    });
  });
}

gpu::GPUFuncOp tfc::buildGreatestColumn(Location loc,
                                        gpu::GPUModuleOp kernels) {
  ImplicitLocOpBuilder b(loc, kernels.getContext());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  gpu::GPUFuncOp kernel = createKernel(
      b, kernels, "greatest_column", {pointer, pointer, b.getI32Type()},
      kGreatestThreads, 2 * kWarps * sizeof(float));
  b.setInsertionPointToStart(&kernel.getBody().front());
  ThreadBuilder t(b);
  Value rows = t.global(kernel.getArgument(0));
  Value found = t.global(kernel.getArgument(1));
  GreatestColumn(b, kernels).emit(rows, found, kernel.getArgument(2));
  gpu::ReturnOp::create(b);
  return kernel;
}
