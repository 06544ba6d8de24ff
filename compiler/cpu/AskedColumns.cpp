// The columns of a head that a step asks for alone.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/AskedColumns.h"

#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tfc;

/// A host that does not know of them lends a shorter step.
AskedColumns::AskedColumns(KernelBuilder &builder, Value step, int64_t width)
    : k(builder), width(width) {
  constexpr int64_t end =
      offsetof(tfc_step_v0, head_rows) + sizeof(tfc_step_v0::head_rows);
  ImplicitLocOpBuilder &b = k.builder();
  Value size = loadIndex(b, step, offsetof(tfc_step_v0, struct_size), 64);
  auto known = scf::IfOp::create(
      b, k.isAtMost(k.constant(end), size),
      [&](OpBuilder &builder, Location loc) {
        ImplicitLocOpBuilder then(loc, builder);
        Value list = loadPointer(then, step, offsetof(tfc_step_v0, head_rows));
        Value number =
            loadIndex(then, step, offsetof(tfc_step_v0, n_head_rows), 64);
        scf::YieldOp::create(then, ValueRange{number, list});
      },
      [&](OpBuilder &builder, Location loc) {
        Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
        scf::YieldOp::create(builder, loc, ValueRange{zero, step});
      });
  count = known.getResult(0);
  list = known.getResult(1);
}

/// From the panel's first column on; a large number for one before it.
Value AskedColumns::laneOf(Value panel, Value number) {
  ImplicitLocOpBuilder &b = k.builder();
  Value column =
      loadIndex(b, buildAddress(b, list, number, sizeof(int32_t)), 0, 32);
  return k.subtract(column, k.scale(panel, width));
}

Value AskedColumns::isLane(Value lane) {
  return arith::CmpIOp::create(k.builder(), arith::CmpIPredicate::ult, lane,
                               k.constant(width));
}

Value AskedColumns::isAll() { return k.isEqual(count, k.constant(0)); }

Value AskedColumns::isRead(Value panel) {
  return k.reduce(count, isAll(), [&](Value number, Value found) -> Value {
    return arith::OrIOp::create(k.builder(), found,
                                isLane(laneOf(panel, number)));
  });
}

void AskedColumns::forEach(Value panel, function_ref<void(Value, Value)> body) {
  k.loop(count, [&](Value number) {
    Value lane = laneOf(panel, number);
    k.when(isLane(lane), [&] { body(number, lane); });
  });
}
