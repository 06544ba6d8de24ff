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

static LogicalResult expectParts(Operation *op, int64_t parts, int64_t width) {
  if (parts >= 1 && width % parts == 0) {
    return success();
  }
  return op->emitOpError() << "expected parts to divide " << width
                           << " (the width of the input), got " << parts;
}

/// What is added to the weight.
static LogicalResult expectOffset(Operation *op, const APFloat &offset,
                                  Value weight) {
  if (!offset.isFinite()) {
    return op->emitOpError()
           << "expected a finite offset, got " << offset.convertToDouble();
  }
  if (!weight && !offset.isZero()) {
    return op->emitOpError() << "expected offset 0 (there is no weight), got "
                             << offset.convertToDouble();
  }
  return success();
}

/// A weight or a bias, where there is one.
static LogicalResult expectLength(Operation *op, StringRef what, Value vector,
                                  int64_t width, int64_t parts) {
  return vector ? expectSize(op, what, widthOf(vector), width / parts,
                             parts == 1 ? "the width of the input"
                                        : "the width of a part")
                : success();
}

/// The weight, where there is one: of all parts, or with a row for each.
static LogicalResult expectWeight(Operation *op, Value weight, int64_t width,
                                  int64_t parts) {
  if (failed(expectLength(op, "weight of length", weight, width, parts))) {
    return failure();
  }
  bool hasRows = weight && cast<ShapedType>(weight.getType()).getRank() == 2;
  return hasRows ? expectSize(op, "weight with rows", rowsOf(weight), parts,
                              "the number of parts")
                 : success();
}

//===-- layer_norm --------------------------------------------------------===//

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult LayerNormOp::verify() {
  int64_t width = widthOf(getInput()), parts = getParts();
  // layer_norm_c4
  if (failed(expectParts(*this, parts, width))) {
    return failure();
  }
  // layer_norm_c1
  if (failed(expectWeight(*this, getWeight(), width, parts))) {
    return failure();
  }
  bool hasRows =
      getWeight() && cast<ShapedType>(getWeight().getType()).getRank() == 2;
  if (hasRows && getBias()) {
    return emitOpError() << "expected no bias (the weight has a row for each "
                            "part)";
  }
  // layer_norm_c2
  if (failed(expectLength(*this, "bias of length", getBias(), width, parts))) {
    return failure();
  }
  // layer_norm_c3
  if (failed(expectPositive(*this, getEps()))) {
    return failure();
  }
  // layer_norm_c6
  if (getUnbiasedStd() && width / parts < 2) {
    return emitOpError() << "expected at least 2 columns (the deviation of a "
                            "sample divides by one less), got "
                         << width / parts;
  }
  // layer_norm_c5
  return expectOffset(*this, getOffset(), getWeight());
}

//===-- rms_norm ----------------------------------------------------------===//

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult RmsNormOp::verify() {
  int64_t width = widthOf(getInput()), parts = getParts();
  // rms_norm_c3
  if (failed(expectParts(*this, parts, width))) {
    return failure();
  }
  // rms_norm_c1
  bool isWhole = getWeight() && widthOf(getWeight()) == width &&
                 cast<ShapedType>(getWeight().getType()).getRank() == 1;
  if (!isWhole && failed(expectWeight(*this, getWeight(), width, parts))) {
    return failure();
  }
  // rms_norm_c2
  if (failed(expectPositive(*this, getEps()))) {
    return failure();
  }
  // rms_norm_c4
  return expectOffset(*this, getOffset(), getWeight());
}

//===-- l2_normalize ------------------------------------------------------===//

LogicalResult L2NormalizeOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location>,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult L2NormalizeOp::verify() {
  // l2_normalize_c1
  return expectPositive(*this, getEps());
}

//===-- cut_rows ----------------------------------------------------------===//

LogicalResult CutRowsOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult CutRowsOp::verify() {
  // cut_rows_c1
  if (!getDeviations().isFinite()) {
    return emitOpError() << "expected finite deviations, got "
                         << getDeviations().convertToDouble();
  }
  return success();
}
