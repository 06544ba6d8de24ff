// Steps may ask for the greatest column of each row of logits.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/Passes.h"

#include "compiler/gpu/rows/GreatestColumn.h"
#include "compiler/gpu/thread/KernelModule.h"
#include "compiler/kernel/StepFields.h"
#include "compiler/support/ClearStatistics.h"
#include "compiler/support/DeviceKernels.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tfc {
#define GEN_PASS_DEF_FINDGREATESTPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// What tokens are chosen from: of a decoder, a row for every token that asks.
static bool isChosenFrom(func::FuncOp entry, transformer::OutputPortAttr port) {
  return entry.getName() == "step" &&
         port.getRows() == transformer::RowKind::Wanted &&
         port.getTake() == transformer::Take::All && !port.getSqueezed();
}

/// The argument with what tokens of `entry` are chosen from, which is marked as
/// such; null without one.
static BlockArgument markRows(func::FuncOp entry) {
  int32_t number = 0;
  for (BlockArgument argument : entry.getArguments()) {
    auto port = entry.getArgAttrOfType<transformer::OutputPortAttr>(
        argument.getArgNumber(), transformer::kOutputAttrName);
    if (port && isChosenFrom(entry, port) && !port.getHeadRows()) {
      Builder b(entry.getContext());
      entry->setAttr(kGreatestAttrName, b.getI32IntegerAttr(number));
      return argument;
    }
    number += bool(port);
  }
  return {};
}

/// Where the numbers go; null where nobody asks. A host that does not know of
/// them lends a shorter step.
static Value loadPlace(ImplicitLocOpBuilder &b, Value step) {
  constexpr int64_t end =
      offsetof(tfc_step_v0, greatest) + sizeof(tfc_step_v0::greatest);
  Value size = loadIndex(b, step, offsetof(tfc_step_v0, struct_size), 64);
  Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, size,
                                        arith::ConstantIndexOp::create(b, end));
  return scf::IfOp::create(
             b, isThere,
             [&](OpBuilder &builder, Location loc) {
               ImplicitLocOpBuilder then(loc, builder);
               scf::YieldOp::create(
                   then,
                   loadPointer(then, step, offsetof(tfc_step_v0, greatest)));
             },
             [&](OpBuilder &builder, Location loc) {
               Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
               Value null = LLVM::ZeroOp::create(builder, loc, pointer);
               scf::YieldOp::create(builder, loc, null);
             })
      .getResult(0);
}

/// if %greatest and %rows > 0 { launch } at the end of the entry
static void buildLaunch(func::FuncOp entry, Value step, Value rows,
                        gpu::GPUFuncOp kernel) {
  ImplicitLocOpBuilder b(rows.getLoc(),
                         entry.getBody().front().getTerminator());
  Value place = loadPlace(b, step);
  Value null = LLVM::ZeroOp::create(b, place.getType());
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value count = memref::DimOp::create(b, rows, 0);
  Value isAsked = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, place, null);
  Value isAny =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, count, zero);
  auto branch = scf::IfOp::create(b, arith::AndIOp::create(b, isAsked, isAny));
  b.setInsertionPointToStart(branch.thenBlock());
  Value address = arith::IndexCastOp::create(
      b, b.getI64Type(),
      memref::ExtractAlignedPointerAsIndexOp::create(b, rows));
  Value from = LLVM::IntToPtrOp::create(b, place.getType(), address);
  Value width = arith::ConstantIntOp::create(
      b, cast<MemRefType>(rows.getType()).getDimSize(1), 32);
  Value threads = arith::ConstantIndexOp::create(b, kGreatestThreads);
  gpu::LaunchFuncOp::create(b, kernel, gpu::KernelDim3{count, one, one},
                            gpu::KernelDim3{threads, one, one},
                            /*dynamicSharedMemorySize=*/Value(),
                            ValueRange{from, place, width});
}

namespace {
struct FindGreatestPass : tfc::impl::FindGreatestPassBase<FindGreatestPass> {
  void runOnOperation() override {
    clearStatistics(*this);
    for (auto entry : getOperation().getOps<func::FuncOp>()) {
      Value step = transformer::findArgument(entry, transformer::kStepAttrName);
      BlockArgument rows = step ? markRows(entry) : BlockArgument();
      if (!rows) {
        continue;
      }
      FailureOr<gpu::GPUModuleOp> kernels = findKernelModule(getOperation());
      if (failed(kernels)) {
        return signalPassFailure();
      }
      buildLaunch(entry, step, rows,
                  buildGreatestColumn(rows.getLoc(), *kernels));
      ++numOutputs;
    }
  }
};
} // namespace
