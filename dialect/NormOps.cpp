// Normalisations: inference and verifiers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"

using namespace mlir;
using namespace tfc::transformer;

/// The eps under the root.
static LogicalResult expectPositive(Operation *op, const APFloat &eps) {
  if (eps.isFinite() && !eps.isNegative() && !eps.isZero()) {
    return success();
  }
  return op->emitOpError() << "expected eps to be positive and finite, got "
                           << eps.convertToDouble();
}

//===-- layer_norm --------------------------------------------------------===//

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}

LogicalResult LayerNormOp::verify() {
  int64_t width = widthOf(getInput());
  // layer_norm_c1
  if (failed(expectSize(*this, "weight of length", widthOf(getWeight()), width,
                        "the width of the input"))) {
    return failure();
  }
  // layer_norm_c2
  if (getBias() &&
      failed(expectSize(*this, "bias of length", widthOf(getBias()), width,
                        "the width of the input"))) {
    return failure();
  }
  // layer_norm_c3
  return expectPositive(*this, getEps());
}

//===-- rms_norm ----------------------------------------------------------===//

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}

LogicalResult RmsNormOp::verify() {
  // rms_norm_c1
  if (failed(expectSize(*this, "weight of length", widthOf(getWeight()),
                        widthOf(getInput()), "the width of the input"))) {
    return failure();
  }
  // rms_norm_c2
  return expectPositive(*this, getEps());
}
