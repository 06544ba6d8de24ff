// Taps become calls of the host, if it has one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/Passes.h"

#include "compiler/kernel/StepFields.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tfc {
#define GEN_PASS_DEF_CALLTAPSPASS
#include "compiler/host/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// The id as a string of the library: tap_<number>.
static LLVM::GlobalOp addString(ModuleOp module, Location loc, StringRef id,
                                unsigned number) {
  ImplicitLocOpBuilder b(loc, module.getContext());
  b.setInsertionPointToStart(module.getBody());
  SmallString<64> text(id);
  text.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), text.size());
  return LLVM::GlobalOp::create(
      b, type, /*isConstant=*/true, LLVM::Linkage::Internal,
      "tap_" + std::to_string(number), b.getStringAttr(text));
}

/// What the host is told of the elements' type.
static uint32_t dtypeOf(Type element) {
  return element.isF16()    ? TFC_DTYPE_F16
         : element.isBF16() ? TFC_DTYPE_BF16
                            : TFC_DTYPE_F32;
}

/// tap "id" %x ->
///   if (host->tap) host->tap(ctx, "id", layer, dtype, x, rows, width)
static void callTap(transformer::TapOp op, Value step, LLVM::GlobalOp id) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value host = loadPointer(b, step, offsetof(tfc_step_v0, host));
  Value tap = loadPointer(b, host, offsetof(tfc_host_v0, tap));
  Value null = LLVM::ZeroOp::create(b, pointer);
  Value given = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, tap, null);
  auto conditional = scf::IfOp::create(b, given, /*withElseRegion=*/false);
  b.setInsertionPoint(conditional.getThenRegion().front().getTerminator());
  auto toI64 = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, b.getI64Type(), index);
  };
  Value layer = op.getLayer()
                    ? toI64(op.getLayer())
                    : arith::ConstantIntOp::create(b, -1, 64).getResult();
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(b, op.getValue());
  Value data = LLVM::IntToPtrOp::create(b, pointer, toI64(address));
  Value rows = toI64(memref::DimOp::create(b, op.getValue(), 0));
  Value width =
      arith::ConstantIntOp::create(b, transformer::widthOf(op.getValue()), 64);
  Value name = LLVM::AddressOfOp::create(b, id);
  Value context = loadPointer(b, host, offsetof(tfc_host_v0, ctx));
  auto function = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()),
      {pointer, pointer, b.getI64Type(), b.getI32Type(), pointer,
       b.getI64Type(), b.getI64Type()});
  Type element = cast<MemRefType>(op.getValue().getType()).getElementType();
  Value dtype = arith::ConstantIntOp::create(b, dtypeOf(element), 32);
  LLVM::CallOp::create(
      b, function,
      ValueRange{tap, context, name, layer, dtype, data, rows, width});
  op.erase();
}

/// The host is told where the first row begins, and takes the others to follow.
static LogicalResult expectDense(transformer::TapOp op) {
  auto type = cast<MemRefType>(op.getValue().getType());
  if (type.getLayout().isIdentity() && !type.isDynamicDim(1)) {
    return success();
  }
  return op.emitOpError() << "expected rows of static width that follow each "
                             "other in memory (the host is given their "
                             "beginning), got "
                          << type;
}

namespace {
struct CallTapsPass : tfc::impl::CallTapsPassBase<CallTapsPass> {
  void runOnOperation() override {
    unsigned number = 0;
    for (auto entry : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      Value step = transformer::findArgument(entry, transformer::kStepAttrName);
      WalkResult result = entry.walk([&](transformer::TapOp op) -> WalkResult {
        if (!step) {
          return op.emitOpError()
                 << "expected a function with an argument marked as '"
                 << transformer::kStepAttrName << "' (by tfc-bind-weights)";
        }
        if (failed(expectDense(op))) {
          return WalkResult::interrupt();
        }
        callTap(op, step,
                addString(getOperation(), op.getLoc(), op.getId(), number++));
        ++numTaps;
        return WalkResult::advance();
      });
      if (result.wasInterrupted()) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
