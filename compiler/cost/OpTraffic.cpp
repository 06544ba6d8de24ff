// The bytes that a group of ops moves, if what they hand each other stays.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cost/OpTraffic.h"

#include "compiler/cost/WorkOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace tfc::cost;

/// Ops that give values other shapes, or parts of them, and move nothing.
static bool isView(Operation *op) {
  return isa<tensor::ExtractSliceOp, tensor::InsertSliceOp,
             tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
      op);
}

/// What made the contents of `value`, or null: for a function's, a loop's.
static Operation *makerOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && isView(op)) {
    // Of an insertion, the part that was written last.
    op = op->getOperand(0).getDefiningOp();
  }
  return op;
}

/// Whether there is anything in it yet.
static bool isFresh(Operation *maker) {
  return isa_and_nonnull<tensor::EmptyOp, bufferization::AllocTensorOp,
                         bufferization::ToTensorOp, linalg::FillOp>(maker);
}

static bool isRead(Operation *op, OpOperand &operand) {
  if (!isa<ShapedType>(operand.get().getType())) {
    return false;
  }
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    return structured.payloadUsesValueFromOperand(&operand);
  }
  auto style = dyn_cast<DestinationStyleOpInterface>(op);
  return !style || !style.isDpsInit(&operand);
}

/// Whether anybody outside of `ops` sees it, maybe a part of it.
static bool isSeenOutside(Value value,
                          const SmallPtrSetImpl<Operation *> &ops) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isView(user)
               ? isSeenOutside(user->getResult(0), ops)
               : !ops.contains(user) && !ops.contains(user->getParentOp());
  });
}

static std::optional<double> bytesOf(Operation *op, OpOperand &operand,
                                     const StepSizes &sizes) {
  auto known = dyn_cast<WorkOpInterface>(op);
  return known ? known.getOperandBytes(operand, sizes)
               : sizes.bytes(operand.get());
}

std::optional<double> tfc::cost::trafficOf(ArrayRef<Operation *> ops,
                                           const StepSizes &sizes) {
  SmallPtrSet<Operation *, 8> group(ops.begin(), ops.end());
  llvm::DenseSet<Value> known;
  double total = 0;
  for (Operation *op : ops) {
    for (OpOperand &operand : op->getOpOperands()) {
      Operation *maker = makerOf(operand.get());
      if (!isRead(op, operand) || isFresh(maker) || group.contains(maker) ||
          !known.insert(operand.get()).second) {
        continue;
      }
      std::optional<double> bytes = bytesOf(op, operand, sizes);
      if (!bytes) {
        return std::nullopt;
      }
      total += *bytes;
    }
    for (Value result : op->getResults()) {
      std::optional<double> bytes = sizes.bytes(result);
      if (!bytes) {
        return std::nullopt;
      }
      total += isSeenOutside(result, group) ? *bytes : 0;
    }
  }
  return total;
}
