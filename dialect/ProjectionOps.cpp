// Products with weights and the row-wise ops: inference, verifiers, folds.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tfc::transformer;

//===-- linear ------------------------------------------------------------===//

LogicalResult LinearOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(rowsOfProduct(adaptor.getInput().getType(),
                                adaptor.getWeight().getType()));
  return success();
}

LogicalResult LinearOp::verify() {
  // linear_c1
  if (failed(expectSize(*this, "weight with columns", widthOf(getWeight()),
                        widthOf(getInput()), "the width of the input"))) {
    return failure();
  }
  // linear_c2
  if (getBias() &&
      failed(expectSize(*this, "bias of length", widthOf(getBias()),
                        rowsOf(getWeight()), "the rows of the weight"))) {
    return failure();
  }
  // linear_c3
  if (getResidual() &&
      failed(expectSize(*this, "residual of width", widthOf(getResidual()),
                        rowsOf(getWeight()), "the rows of the weight"))) {
    return failure();
  }
  // linear_c4
  if (getFactor()) {
    if (failed(expectSize(*this, "factor of width", widthOf(getFactor()),
                          rowsOf(getWeight()), "the rows of the weight"))) {
      return failure();
    }
  }
  // linear_c5
  bool hasScales = static_cast<bool>(getWeightScales());
  Type weight = getElementTypeOrSelf(getWeight());
  bool isFour = weight.isInteger(4);
  if ((weight.isInteger(8) || isFour) != hasScales) {
    return emitOpError() << "expected a weight of "
                         << (hasScales ? "i8 or i4 (it has scales)"
                                       : "floats (it has no scales)")
                         << ", got " << getWeight().getType();
  }
  bool isScaled = static_cast<bool>(getInputScales());
  if (getElementTypeOrSelf(getInput()).isInteger() != isScaled ||
      (isScaled && !hasScales)) {
    return emitOpError() << "expected rows of "
                         << (isScaled ? "i8, and a weight of integers (there "
                                        "are input_scales)"
                                      : "floats (there are no input_scales)")
                         << ", got " << getInput().getType();
  }
  // linear_c7
  if (Value zeros = getWeightZeros();
      zeros && (!isFour || !hasScales ||
                (isa<FloatType>(getElementTypeOrSelf(zeros)) && !isScaled) ||
                cast<ShapedType>(zeros.getType()).getShape() !=
                    cast<ShapedType>(getWeightScales().getType()).getShape())) {
    return emitOpError() << "expected weight_zeros of a weight of i4, one for "
                            "each of its weight_scales, and of floats only "
                            "with rows of i8, got "
                         << zeros.getType();
  }
  // linear_c6
  if (!hasScales) {
    return success();
  }
  auto scales = cast<RankedTensorType>(getWeightScales().getType());
  bool hasGroups = scales.getRank() == 2;
  if (isFour && !hasGroups) {
    return emitOpError() << "expected weight_scales for each group of a weight "
                            "of i4, got "
                         << scales;
  }
  if (failed(expectSize(*this,
                        hasGroups ? "weight_scales with rows"
                                  : "weight_scales of length",
                        scales.getDimSize(0), rowsOf(getWeight()),
                        "the rows of the weight"))) {
    return failure();
  }
  if (hasGroups && (scales.getDimSize(1) == 0 ||
                    widthOf(getWeight()) % scales.getDimSize(1) != 0)) {
    return emitOpError() << "expected a number of groups that divides "
                         << widthOf(getWeight())
                         << " (the columns of the weight), got "
                         << scales.getDimSize(1);
  }
  return success();
}

//===-- quantize_rows -----------------------------------------------------===//

LogicalResult QuantizeRowsOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location>,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  auto rows = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  int64_t count =
      rows && rows.getRank() == 2 ? rows.getDimSize(0) : ShapedType::kDynamic;
  int64_t width = rows && rows.getRank() == 2 ? rows.getDimSize(1) : 1;
  types.push_back(
      RankedTensorType::get({count, width}, IntegerType::get(context, 8)));
  types.push_back(RankedTensorType::get({count}, Float32Type::get(context)));
  return success();
}

//===-- ffn ---------------------------------------------------------------===//

LogicalResult FfnOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult FfnOp::verify() {
  int64_t hidden = widthOf(getInput()), width = rowsOf(getUp());
  // ffn_c1
  if (failed(expectSize(*this, "up with columns", widthOf(getUp()), hidden,
                        "the width of the input"))) {
    return failure();
  }
  // ffn_c2
  if (failed(expectSize(*this, "down with columns", widthOf(getDown()), width,
                        "the rows of up")) ||
      failed(expectSize(*this, "down with rows", rowsOf(getDown()), hidden,
                        "the width of the input"))) {
    return failure();
  }
  // ffn_c3
  if (getGate() && getGate().getType() != getUp().getType()) {
    return emitOpError() << "expected gate of type " << getUp().getType()
                         << " (the type of up), got " << getGate().getType();
  }
  // ffn_c5
  if (getGateBias() && !getGate()) {
    return emitOpError() << "expected no gate bias (there is no gate)";
  }
  // ffn_c4
  for (auto [what, bias, length] :
       {std::tuple{"up_bias of length", getUpBias(), width},
        std::tuple{"gate_bias of length", getGateBias(), width},
        std::tuple{"down_bias of length", getDownBias(), hidden}}) {
    if (bias && failed(expectSize(*this, what, widthOf(bias), length,
                                  "the rows of its weight"))) {
      return failure();
    }
  }
  return success();
}

//===-- activation --------------------------------------------------------===//

LogicalResult ActivationOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

/// activation identity x -> x, unless it rounds or widens
OpFoldResult ActivationOp::fold(FoldAdaptor) {
  bool isSame =
      getAct() == Activation::Identity && getType() == getInput().getType();
  return isSame ? getInput() : Value();
}

//===-- add ---------------------------------------------------------------===//

LogicalResult AddOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getLhs().getType()));
  return success();
}

LogicalResult AddOp::verify() {
  // add_c1
  return expectSize(*this, "rhs of width", widthOf(getRhs()), widthOf(getLhs()),
                    "the width of lhs");
}

//===-- multiply ----------------------------------------------------------===//

LogicalResult MultiplyOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult MultiplyOp::verify() {
  // multiply_c1
  return expectSize(*this, "a gate of width", widthOf(getGate()),
                    widthOf(getInput()), "the width of the input");
}

//===-- scale -------------------------------------------------------------===//

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult ScaleOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

static LogicalResult expectFinite(Operation *op, StringRef what,
                                  const APFloat &number) {
  if (!number.isFinite()) {
    return op->emitOpError() << "expected a finite " << what << ", got "
                             << number.convertToDouble();
  }
  return success();
}

LogicalResult ScaleOp::verify() {
  // scale_c1
  return expectFinite(*this, "factor", getFactor());
}

/// scale x by 1 -> x, unless it rounds or widens
OpFoldResult ScaleOp::fold(FoldAdaptor) {
  bool isSame =
      getFactor().isExactlyValue(1) && getType() == getInput().getType();
  return isSame ? getInput() : Value();
}

//===-- clamp -------------------------------------------------------------===//

LogicalResult ClampOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult ClampOp::verify() {
  // clamp_c1
  return expectFinite(*this, "least", getLeast());
}

//===-- xielu -------------------------------------------------------------===//

LogicalResult XieluOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult XieluOp::verify() {
  // xielu_c1
  for (auto [what, value] : {std::pair{"positive of length", getPositive()},
                             std::pair{"negative of length", getNegative()}}) {
    if (failed(expectSize(*this, what, value.getType().getDimSize(0), 1,
                          "a number for all"))) {
      return failure();
    }
  }
  // xielu_c2
  return failed(expectFinite(*this, "beta", getBeta()))
             ? failure()
             : expectFinite(*this, "least", getLeast());
}

//===-- gather_rows -------------------------------------------------------===//

LogicalResult GatherRowsOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  types.push_back(
      rowsOfTable(adaptor.getRows().getType(), adaptor.getInput().getType()));
  return success();
}

//===-- pool_rows ---------------------------------------------------------===//

LogicalResult PoolRowsOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(
      rowsOfTable(adaptor.getRows().getType(), adaptor.getInput().getType()));
  return success();
}

LogicalResult PoolRowsOp::verify() {
  // pool_rows_c1
  return expectSkip(*this, getSkip());
}

//===-- unfold ------------------------------------------------------------===//

LogicalResult UnfoldOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  // unfold_c1 to c3, here because no type has such a width.
  auto taps = static_cast<int64_t>(adaptor.getTaps());
  auto frames = static_cast<int64_t>(adaptor.getFrames());
  if (taps < 1 || frames < 1 || adaptor.getInputs().empty()) {
    return emitOptionalError(location,
                             "expected at least 1 of taps, frames and inputs, "
                             "got ",
                             taps, ", ", frames, " and ",
                             adaptor.getInputs().size());
  }
  Type input = adaptor.getInputs().front().getType();
  auto inputs = static_cast<int64_t>(adaptor.getInputs().size());
  int64_t width = cast<RankedTensorType>(input).getDimSize(1) * inputs / frames;
  types.push_back(rowsOfWidth(input, std::max<int64_t>(width, 1) * taps));
  return success();
}

LogicalResult UnfoldOp::verify() { return expectFrames(*this); }

//===-- layer_scale -------------------------------------------------------===//

LogicalResult LayerScaleOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult LayerScaleOp::verify() {
  // layer_scale_c1
  return getWeight().getType().getDimSize(0) == 1
             ? success()
             : expectSize(*this, "weight of length",
                          getWeight().getType().getDimSize(0),
                          widthOf(getInput()), "the width of the input, or 1");
}

//===-- slice_columns -----------------------------------------------------===//

LogicalResult SliceColumnsOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  // slice_columns_c2, here because no type has such a width.
  if (static_cast<int64_t>(adaptor.getWidth()) < 0) {
    return emitOptionalError(location, "expected a width of at least 0, got ",
                             static_cast<int64_t>(adaptor.getWidth()));
  }
  types.push_back(
      rowsOfWidth(adaptor.getInput().getType(), adaptor.getWidth()));
  return success();
}

LogicalResult SliceColumnsOp::verify() {
  // slice_columns_c1
  int64_t first = getFirst(), width = getWidth();
  int64_t columns = widthOf(getInput());
  if (first < 0 || width < 1 || first > columns - width) {
    return emitOpError() << "expected a range inside [0, " << columns
                         << ") (the width of the input), got [" << first << ", "
                         << first + width << ')';
  }
  return success();
}

/// slice_columns x[0, width of x] -> x
OpFoldResult SliceColumnsOp::fold(FoldAdaptor) {
  return getType() == getInput().getType() && !getLayer() ? getInput()
                                                          : Value();
}
