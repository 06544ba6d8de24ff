// tfc with an op of its own (sum.three), a pattern that fuses two of the
// model's additions into it, its lowering to linalg, and a family.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/CommandLine.h"
#include "compiler/pipeline/Extension.h"
#include "compiler/spec/family/FamilyTable.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/raw_ostream.h"

#include <SumDialect.h.inc>
#define GET_OP_CLASSES
#include <SumOps.h.inc>

#include <SumDialect.cpp.inc>
#define GET_OP_CLASSES
#include <SumOps.cpp.inc>

using namespace mlir;

void sum::SumDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include <SumOps.cpp.inc>
      >();
}

namespace {

/// add(add(a, b), c) -> sum.three(a, b, c), where nobody else reads the inner
/// sum. Rounding is the same: the order of the additions is.
struct FuseAdds : OpRewritePattern<tfc::transformer::AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tfc::transformer::AddOp outer,
                                PatternRewriter &rewriter) const override {
    auto inner = outer.getLhs().getDefiningOp<tfc::transformer::AddOp>();
    if (!inner || !inner->hasOneUse() || inner.getType() != outer.getType() ||
        outer.getRhs().getType() != outer.getType()) {
      return failure();
    }
    Location where = rewriter.getFusedLoc({inner.getLoc(), outer.getLoc()});
    Value three = sum::ThreeOp::create(rewriter, where, inner.getLhs(),
                                       inner.getRhs(), outer.getRhs());
    rewriter.replaceOp(outer, three);
    return success();
  }
};

/// sum.three -> linalg.generic: from here on the passes of tfc cut it into
/// tiles and vectors as they do with their own.
struct LowerThree : OpRewritePattern<sum::ThreeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(sum::ThreeOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto type = cast<RankedTensorType>(op.getType());
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(b, b.getLoc(), op.getA());
    Value empty = tensor::EmptyOp::create(b, sizes, type.getElementType());
    AffineMap rows = b.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> parallel(type.getRank(),
                                              utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        b, type, ValueRange{op.getA(), op.getB(), op.getC()}, empty,
        ArrayRef<AffineMap>{rows, rows, rows, rows}, parallel,
        [](OpBuilder &builder, Location where, ValueRange each) {
          Value inner = arith::AddFOp::create(builder, where, each[0], each[1]);
          Value outer = arith::AddFOp::create(builder, where, inner, each[2]);
          linalg::YieldOp::create(builder, where, outer);
        });
    rewriter.replaceOp(op, generic);
    return success();
  }
};

/// A pass of one pattern.
template <typename Pattern, typename Self>
struct PatternPass : PassWrapper<Self, OperationPass<>> {
  void runOnOperation() override {
    RewritePatternSet patterns(&this->getContext());
    patterns.add<Pattern>(&this->getContext());
    if (failed(
            applyPatternsGreedily(this->getOperation(), std::move(patterns)))) {
      this->signalPassFailure();
    }
  }
};

struct FuseSumsPass : PatternPass<FuseAdds, FuseSumsPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FuseSumsPass)
  StringRef getArgument() const override { return "sum-fuse-adds"; }
};

struct LowerSumsPass : PatternPass<LowerThree, LowerSumsPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerSumsPass)
  StringRef getArgument() const override { return "sum-lower"; }
};

} // namespace

/// The table of the family, as text.
static const char *const family =
#include <Family.inc>
    ;

int main(int argc, char **argv) {
  tfc::Extension extension;
  extension.registerDialects = [](DialectRegistry &registry) {
    registry.insert<sum::SumDialect>();
  };
  extension.stage = "fused";
  extension.addPasses = [](OpPassManager &pm) {
    pm.addPass(std::make_unique<FuseSumsPass>());
    pm.addPass(std::make_unique<LowerSumsPass>());
  };
  tfc::addExtension(extension);
  if (!tfc::family::addTable("sum_gpt", family)) {
    llvm::errs()
        << "sum-tfc: error: expected a family's table, got family.json\n";
    return 70;
  }
  return tfc::runTfc(argc, argv);
}
