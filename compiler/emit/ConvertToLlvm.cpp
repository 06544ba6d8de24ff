// Loops, buffers, vectors and numbers become the LLVM dialect at once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/Passes.h"

#include "dialect/TransformerDialect.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tfc {
#define GEN_PASS_DEF_CONVERTTOLLVMPASS
#include "compiler/emit/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// Ops of other dialects on the way: each becomes what the next set knows.
static void populateExpansions(RewritePatternSet &patterns) {
  populateAffineToStdConversionPatterns(patterns);
  affine::populateAffineExpandIndexOpsPatterns(patterns);
  populateSCFToControlFlowConversionPatterns(patterns);
  memref::populateExpandStridedMetadataPatterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
}

static void populateConversions(const LLVMTypeConverter &types,
                                RewritePatternSet &patterns) {
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
  populateFuncToLLVMConversionPatterns(types, patterns);
  // Before those of a device, which call NVIDIA's library for a root.
  populateMathToLLVMConversionPatterns(types, patterns,
                                       /*approximateLog1p=*/true,
                                       /*benefit=*/2);
  populateVectorToLLVMConversionPatterns(types, patterns);
  ub::populateUBToLLVMConversionPatterns(types, patterns);
}

/// LLVM's own maximum orders zeros, for which x86 has no instruction; what it
/// becomes here is a comparison.
static LogicalResult expandMaxima(Operation *root) {
  SmallVector<Operation *> maxima;
  root->walk([&](Operation *op) {
    if (isa<arith::MaximumFOp, arith::MinimumFOp>(op)) {
      maxima.push_back(op);
    }
  });
  RewritePatternSet patterns(root->getContext());
  arith::populateArithExpandOpsPatterns(patterns);
  return applyOpPatternsGreedily(maxima, std::move(patterns));
}

/// Casts between a converted value and its former type, which cancel out.
static void reconcileCasts(Operation *root) {
  SmallVector<UnrealizedConversionCastOp> casts;
  root->walk([&](UnrealizedConversionCastOp op) { casts.push_back(op); });
  reconcileUnrealizedCasts(casts);
}

namespace {
struct ConvertToLlvmPass : tfc::impl::ConvertToLlvmPassBase<ConvertToLlvmPass> {
  void runOnOperation() override {
    if (failed(expandMaxima(getOperation()))) {
      return signalPassFailure();
    }
    MLIRContext *context = &getContext();
    LLVMTypeConverter types(context);
    RewritePatternSet patterns(context);
    populateExpansions(patterns);
    populateConversions(types, patterns);
    LLVMConversionTarget target(*context);
    if (isa<gpu::GPUModuleOp>(getOperation())) {
      populateGpuToNVVMConversionPatterns(types, patterns);
      target.addIllegalDialect<gpu::GPUDialect>();
      target.addLegalOp<gpu::GPUModuleOp>();
      // What LLVM has no function for becomes PTX here.
      populateNVVMToLLVMConversionPatterns(patterns);
      target.addDynamicallyLegalDialect<NVVM::NVVMDialect>([](Operation *op) {
        auto ptx = dyn_cast<NVVM::BasicPtxBuilderInterface>(op);
        return !ptx || ptx.hasIntrinsic();
      });
    }
    target.addIllegalDialect<
        affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect,
        func::FuncDialect, math::MathDialect, memref::MemRefDialect,
        scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
    // Its body would no longer be one.
    target.addIllegalOp<transformer::ProductOp>();
    // Of a pointer that the step gives and the buffer behind it.
    target.addLegalOp<UnrealizedConversionCastOp>();
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns)))) {
      return signalPassFailure();
    }
    reconcileCasts(getOperation());
  }
};
} // namespace
