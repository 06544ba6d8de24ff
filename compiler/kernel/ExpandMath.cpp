// exp, log, tanh, erf, sin and cos become arithmetic, and so does rounding to
// bf16: the library imports nothing.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/MathPolynomials.h"
#include "compiler/kernel/Passes.h"

#include "compiler/kernel/NarrowFloat.h"
#include "compiler/support/ClearStatistics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace tfc {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "compiler/kernel/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

namespace {
using Builder = Value (*)(ImplicitLocOpBuilder &, Value);

/// f(x) -> arithmetic, where x is f32 or a vector of f32
template <typename Op, Builder build> struct Expand : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (auto vector = dyn_cast<VectorType>(type)) {
      type = vector.getElementType();
    }
    if (!type.isF32()) {
      return rewriter.notifyMatchFailure(op, "expected f32 in each lane");
    }
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, build(b, op.getOperand()));
    return success();
  }
};

/// truncf(f32) -> the upper half, rounded
struct ExpandRounding : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!getElementTypeOrSelf(op.getIn().getType()).isF32() ||
        !element.isBF16() || isa<TensorType>(op.getType())) {
      return rewriter.notifyMatchFailure(op, "expected f32 to bf16");
    }
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, narrowFloat(b, op.getIn(), element));
    return success();
  }
};

/// Counts the functions that patterns replace.
struct ReplacedFunctions : RewriterBase::Listener {
  void notifyOperationErased(Operation *op) override {
    count += isa<math::ExpOp, math::LogOp, math::TanhOp, math::ErfOp,
                 math::SinOp, math::CosOp, math::RsqrtOp>(op);
  }
  unsigned count = 0;
};

struct ExpandMathPass : tfc::impl::ExpandMathPassBase<ExpandMathPass> {
  using ExpandMathPassBase::ExpandMathPassBase;

  void runOnOperation() override {
    clearStatistics(*this);
    ReplacedFunctions replaced;
    if (failed(expand(replaced))) {
      return signalPassFailure();
    }
    numFunctions += replaced.count;
  }

  LogicalResult expand(RewriterBase::Listener &listener) {
    RewritePatternSet patterns(&getContext());
    // Upstream's lose digits with the size of the angle, and angles are large.
    patterns.add<Expand<math::SinOp, buildSin>, Expand<math::CosOp, buildCos>,
                 Expand<math::LogOp, buildLog>>(&getContext());
    if (polynomials == Polynomials::Own) {
      patterns
          .add<Expand<math::ExpOp, buildExp>, Expand<math::TanhOp, buildTanh>,
               Expand<math::ErfOp, buildErf>,
               Expand<math::RsqrtOp, buildRsqrt>>(&getContext());
      if (rounding) {
        patterns.add<ExpandRounding>(&getContext());
      }
      // No pattern makes an op that another one matches.
      walkAndApplyPatterns(getOperation(), std::move(patterns), &listener);
      return success();
    }
    if (failed(expectNoTensors())) {
      return failure();
    }
    auto wanted = [](StringRef name) {
      return llvm::is_contained({"math.exp", "math.tanh", "math.erf"}, name);
    };
    populateMathPolynomialApproximationPatterns(patterns, wanted);
    return applyPatternsGreedily(getOperation(), std::move(patterns),
                                 GreedyRewriteConfig().setListener(&listener));
  }

  /// MLIR's approximations of a tensor's elements do not verify.
  LogicalResult expectNoTensors() {
    WalkResult result = getOperation()->walk([](Operation *op) -> WalkResult {
      if (!isa<math::ExpOp, math::TanhOp, math::ErfOp>(op) ||
          !isa<TensorType>(op->getResult(0).getType())) {
        return WalkResult::advance();
      }
      return op->emitOpError() << "expected a number or a vector of them, got "
                               << op->getResult(0).getType();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
