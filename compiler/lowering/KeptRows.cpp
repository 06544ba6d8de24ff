// What rows are kept in between ops, and where that is read and written.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/KeptRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tfc;

Value tfc::keptRows(Value rows) {
  auto widening = rows.getDefiningOp<arith::ExtFOp>();
  if (!widening || !isa<RankedTensorType>(rows.getType())) {
    return rows;
  }
  // Of an op that is lowered already, what it became is rounded itself.
  auto rounding = widening.getIn().getDefiningOp<arith::TruncFOp>();
  return rounding && rounding.getIn().getType() == rounding.getType()
             ? rounding.getIn()
             : widening.getIn();
}

Operation *tfc::findSource(Value rows) {
  Operation *op = keptRows(rows).getDefiningOp();
  auto rounding = dyn_cast_or_null<arith::TruncFOp>(op);
  return rounding ? rounding.getIn().getDefiningOp() : op;
}

bool tfc::allUses(Value kept, function_ref<bool(OpOperand &)> test) {
  return llvm::all_of(kept.getUses(), [&](OpOperand &use) {
    auto widening = dyn_cast<arith::ExtFOp>(use.getOwner());
    return widening ? allUses(widening.getOut(), test) : test(use);
  });
}

FloatType tfc::keptElement(Operation *op) {
  Value result = op->getResult(0);
  if (result.hasOneUse()) {
    if (auto rounding = dyn_cast<arith::TruncFOp>(*result.user_begin())) {
      return cast<FloatType>(getElementTypeOrSelf(rounding.getType()));
    }
  }
  return Float32Type::get(op->getContext());
}

Value tfc::convertFloat(ImplicitLocOpBuilder &b, Value value, Type element) {
  Type type = value.getType();
  if (type == element) {
    return value;
  }
  return element.isF32() ? Value(arith::ExtFOp::create(b, element, value))
                         : arith::TruncFOp::create(b, element, value);
}
