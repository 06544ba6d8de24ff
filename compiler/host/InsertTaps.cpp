// Adds a tap behind every op whose result is rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/Passes.h"

#include "dialect/TransformerDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tfc {
#define GEN_PASS_DEF_INSERTTAPSPASS
#include "compiler/host/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// The value of `op` if it is rows computed by our dialect that nobody reports
/// yet, else null.
static Value tappedValue(Operation *op) {
  if (!isa_and_nonnull<transformer::TransformerDialect>(op->getDialect()) ||
      op->getNumResults() != 1) {
    return {};
  }
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  bool isRows = type && type.getRank() == 2 && type.isDynamicDim(0) &&
                isa<FloatType>(type.getElementType());
  bool isTapped = llvm::any_of(op->getResult(0).getUsers(),
                               llvm::IsaPred<transformer::TapOp>);
  return isRows && !isTapped ? op->getResult(0) : Value();
}

static std::string idOf(Operation *op) {
  std::string id;
  if (auto name = dyn_cast<NameLoc>(op->getLoc())) {
    id = name.getName().str();
  }
  return id + ":" + op->getName().stripDialect().str();
}

namespace {
struct InsertTapsPass : tfc::impl::InsertTapsPassBase<InsertTapsPass> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      Value value = tappedValue(op);
      if (!value) {
        return;
      }
      Value layer;
      if (auto loop = op->getParentOfType<LoopLikeOpInterface>()) {
        layer = loop.getSingleInductionVar().value_or(Value());
      }
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      transformer::TapOp::create(builder, op->getLoc(), idOf(op), value, layer);
      ++numTaps;
    });
  }
};
} // namespace
