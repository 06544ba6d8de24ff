// The feed-forward block as the products that it is made of.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/fusion/Passes.h"

#include "dialect/TransformerDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {
#define GEN_PASS_DEF_DECOMPOSEFFNPASS
#include "compiler/fusion/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;
using namespace tfc::transformer;

/// The location of a product within an ffn: decoder.layers.ffn.up
static Location locate(FfnOp op, const Twine &product) {
  auto name = op.getLoc()->findInstanceOf<NameLoc>();
  MLIRContext *context = op.getContext();
  return name ? Location(NameLoc::get(StringAttr::get(
                    context, name.getName().getValue() + "." + product)))
              : op.getLoc();
}

/// ffn -> linear with the activation (or two: the activated gate is a factor of
/// the other), linear; the last one alone rounds
static void decompose(FfnOp op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  Value x = op.getInput(), factor;
  Activation act = op.getAct();
  if (op.getGate()) {
    factor = LinearOp::create(rewriter, locate(op, "gate"), x, op.getGate(),
                              op.getGateBias(), /*factor=*/Value(),
                              /*residual=*/Value(), act);
    act = Activation::Identity;
  }
  Value inner = LinearOp::create(rewriter, locate(op, "up"), x, op.getUp(),
                                 op.getUpBias(), factor,
                                 /*residual=*/Value(), act);
  Value y = LinearOp::create(rewriter, locate(op, "down"), op.getType(), inner,
                             op.getDown(), /*input_scales=*/Value(),
                             /*weight_scales=*/Value(),
                             /*weight_zeros=*/Value(), op.getDownBias(),
                             /*factor=*/Value(),
                             /*residual=*/Value(), Activation::Identity);
  rewriter.replaceOp(op, y);
}

namespace {
struct DecomposeFfnPass : tfc::impl::DecomposeFfnPassBase<DecomposeFfnPass> {
  void runOnOperation() override {
    SmallVector<FfnOp> ops;
    getOperation()->walk([&](FfnOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (FfnOp op : ops) {
      decompose(op, rewriter);
      ++numDecomposed;
    }
  }
};
} // namespace
