// Sums over ranks become calls of the host.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/Passes.h"

#include "compiler/kernel/StepFields.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace tfc {
#define GEN_PASS_DEF_CALLREDUCEPASS
#include "compiler/host/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// reduce_in_place %x -> status = host->reduce(ctx, x, rows * width)
static void callReduce(transformer::ReduceInPlaceOp op, Value step) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value host = loadPointer(b, step, offsetof(tfc_step_v0, host));
  Value reduce = loadPointer(b, host, offsetof(tfc_host_v0, reduce));
  Value context = loadPointer(b, host, offsetof(tfc_host_v0, ctx));
  Value rows = memref::DimOp::create(b, op.getInit(), 0);
  Value width =
      arith::ConstantIndexOp::create(b, transformer::widthOf(op.getInit()));
  Value count = arith::IndexCastOp::create(
      b, b.getI64Type(), arith::MulIOp::create(b, rows, width));
  auto function = LLVM::LLVMFunctionType::get(
      b.getI32Type(), {pointer, pointer, b.getI64Type()});
  auto call = LLVM::CallOp::create(
      b, function,
      ValueRange{reduce, context, buildPointer(b, op.getInit()), count});
  call->setAttr(transformer::kStatusAttrName, b.getUnitAttr());
  op.erase();
}

namespace {
struct CallReducePass : tfc::impl::CallReducePassBase<CallReducePass> {
  void runOnOperation() override {
    for (auto entry : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      Value step = transformer::findArgument(entry, transformer::kStepAttrName);
      WalkResult result =
          entry.walk([&](transformer::ReduceInPlaceOp op) -> WalkResult {
            if (!step) {
              return op.emitOpError()
                     << "expected a function with an argument marked as '"
                     << transformer::kStepAttrName << "' (by tfc-bind-weights)";
            }
            if (!isPlain(op.getInit().getType())) {
              return op.emitOpError()
                     << "expected rows that follow each other in memory (the "
                        "host is given their beginning), got "
                     << op.getInit().getType();
            }
            callReduce(op, step);
            ++numCalls;
            return WalkResult::advance();
          });
      if (result.wasInterrupted()) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
