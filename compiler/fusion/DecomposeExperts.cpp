// Mixtures of experts as products of rows that are sorted by expert.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/fusion/Passes.h"

#include "dialect/TransformerDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {
#define GEN_PASS_DEF_DECOMPOSEEXPERTSPASS
#include "compiler/fusion/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;
using namespace tfc::transformer;

/// The location of a part of a mixture: decoder.layers.moe.up
static Location locate(ExpertsOp op, const Twine &part) {
  auto name = op.getLoc()->findInstanceOf<NameLoc>();
  MLIRContext *context = op.getContext();
  return name ? Location(NameLoc::get(StringAttr::get(
                    context, name.getName().getValue() + "." + part)))
              : op.getLoc();
}

/// experts -> group_by, gather_rows, expert_linear with the activation (or two:
/// the activated gate is a factor of the other, or clamped_gate joins both),
/// expert_linear, combine; the last one alone rounds
static void decompose(ExpertsOp op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  auto grouped =
      GroupByOp::create(rewriter, locate(op, "group_by"), op.getIds(),
                        op.getUp().getType().getDimSize(0));
  Value x = GatherRowsOp::create(rewriter, locate(op, "gather"), op.getInput(),
                                 grouped.getRows());
  auto multiply = [&](StringRef part, Value rows, Value weight, Value bias,
                      Value factor, Activation act) -> Value {
    return ExpertLinearOp::create(rewriter, locate(op, part), rows,
                                  grouped.getSorted(), weight, bias, factor,
                                  act);
  };
  Value factor;
  Activation act = op.getAct();
  bool isClamped = op.getLimit().has_value();
  if (op.getGate()) {
    factor = multiply("gate", x, op.getGate(), op.getGateBias(), Value(),
                      isClamped ? Activation::Identity : act);
    act = Activation::Identity;
  }
  Value inner = multiply("up", x, op.getUp(), op.getUpBias(),
                         isClamped ? Value() : factor, act);
  if (isClamped) {
    inner = ClampedGateOp::create(rewriter, locate(op, "clamped_gate"), inner,
                                  factor, *op.getAlpha(), *op.getLimit());
  }
  Value y = multiply("down", inner, op.getDown(), op.getDownBias(), Value(),
                     Activation::Identity);
  rewriter.replaceOpWithNewOp<CombineOp>(op, op.getType(), y,
                                         grouped.getPlaces(), op.getWeights());
}

namespace {
struct DecomposeExpertsPass
    : tfc::impl::DecomposeExpertsPassBase<DecomposeExpertsPass> {
  void runOnOperation() override {
    SmallVector<ExpertsOp> ops;
    getOperation()->walk([&](ExpertsOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (ExpertsOp op : ops) {
      decompose(op, rewriter);
      ++numDecomposed;
    }
  }
};
} // namespace
