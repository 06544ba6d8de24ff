// Numbers of a layer to loads from a table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/Patterns.h"

#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc;

namespace {

/// per_layer -> an element of a constant
struct LowerPerLayer : OpRewritePattern<transformer::PerLayerOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(transformer::PerLayerOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto load = [&](DenseElementsAttr table) -> Value {
      return tensor::ExtractOp::create(b, arith::ConstantOp::create(b, table),
                                       op.getLayer());
    };
    if (auto numbers = dyn_cast<DenseF64ArrayAttr>(op.getValues())) {
      int64_t layers = numbers.size();
      SmallVector<float> singles(numbers.asArrayRef());
      auto type = RankedTensorType::get({layers}, b.getF32Type());
      rewriter.replaceOp(
          op, load(DenseElementsAttr::get(type, ArrayRef<float>(singles))));
      return success();
    }
    auto indices = cast<DenseI64ArrayAttr>(op.getValues());
    int64_t layers = indices.size();
    auto type = RankedTensorType::get({layers}, b.getI64Type());
    Value number = load(DenseElementsAttr::get(type, indices.asArrayRef()));
    rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, b.getIndexType(),
                                                    number);
    return success();
  }
};

} // namespace

void tfc::populateLayerPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerPerLayer>(patterns.getContext());
}
