// Mixtures of experts: inference, verifiers, effects.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/EffectUtils.h"
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"

#include <cmath>

using namespace mlir;
using namespace tfc::transformer;

/// Rows of `width` with the elements `element`, as many as `like` has.
static Type rowsLike(Type like, int64_t width, Type element) {
  auto type = dyn_cast<RankedTensorType>(like);
  int64_t rows =
      type && type.getRank() > 0 ? type.getDimSize(0) : ShapedType::kDynamic;
  return RankedTensorType::get({rows, width}, element);
}

//===-- route -------------------------------------------------------------===//

LogicalResult RouteOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  auto perToken = static_cast<int64_t>(adaptor.getPerToken());
  // route_c1, here because no type has such a width.
  if (perToken < 1) {
    return emitOptionalError(
        location, "expected at least one expert for each row, got ", perToken);
  }
  Type logits = adaptor.getLogits().getType();
  types.push_back(rowsLike(logits, perToken, IntegerType::get(context, 32)));
  types.push_back(rowsLike(logits, perToken, Float32Type::get(context)));
  return success();
}

LogicalResult RouteOp::verify() {
  int64_t experts = widthOf(getLogits());
  auto perToken = static_cast<int64_t>(getPerToken());
  // route_c1
  if (perToken > experts) {
    return emitOpError() << "expected at most " << experts
                         << " experts for each row (the width of the logits), "
                            "got "
                         << perToken;
  }
  // route_c2
  if (getChoiceBias() && failed(expectSize(*this, "choice_bias of length",
                                           widthOf(getChoiceBias()), experts,
                                           "the width of the logits"))) {
    return failure();
  }
  // route_c3
  auto groups = static_cast<int64_t>(getGroups());
  auto used = static_cast<int64_t>(getGroupsUsed());
  if (groups < 1 || experts % groups != 0 || used < 1 || used > groups) {
    return emitOpError() << "expected groups that divide " << experts
                         << " experts, of which 1 or more are used, got "
                         << used << " of " << groups;
  }
  // route_c4
  int64_t size = experts / groups;
  if (perToken > size * used) {
    return emitOpError() << "expected at most " << size * used
                         << " experts for each row (those of the groups used), "
                            "got "
                         << perToken;
  }
  if (groups > 1 && getGroupBy() == GroupRank::Top2 && size < 2) {
    return emitOpError() << "expected groups of at least 2 experts (their two "
                            "best are added), got 1";
  }
  // route_c5
  for (auto [what, number, isGood] :
       {std::tuple{"plus of at least 0", getPlus(), !getPlus().isNegative()},
        std::tuple{"floor of at least 0", getFloor(), !getFloor().isNegative()},
        std::tuple{"factor above 0", getFactor(),
                   !getFactor().isNegative() && !getFactor().isZero()},
        std::tuple{"tolerance of at least 0", getTolerance(),
                   !getTolerance().isNegative()}}) {
    if (!isGood || !number.isFinite()) {
      return emitOpError() << "expected a finite " << what << ", got "
                           << number.convertToDouble();
    }
  }
  // route_c6
  bool isMixer = getScore() == RouterScore::Sparsemixer;
  if (isMixer && (getChoiceBias() || groups > 1 ||
                  getRenormalize() != Renormalize::None)) {
    return emitOpError() << "expected no choice_bias, groups or renormalize "
                            "(sparsemixer says which, and their weights)";
  }
  if (!isMixer && !getTolerance().isZero()) {
    return emitOpError() << "expected no tolerance (it is of sparsemixer), got "
                         << getTolerance().convertToDouble();
  }
  return success();
}

static LogicalResult expectPositive(Operation *op, StringRef what,
                                    const APFloat &number) {
  if (number.isFinite() && !number.isNegative() && !number.isZero()) {
    return success();
  }
  return op->emitOpError() << "expected a positive and finite " << what
                           << ", got " << number.convertToDouble();
}

//===-- scale_experts -----------------------------------------------------===//

LogicalResult ScaleExpertsOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location>,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getWeights().getType()));
  return success();
}

LogicalResult ScaleExpertsOp::verify() {
  // scale_experts_c1
  return expectSize(*this, "weights of width", widthOf(getWeights()),
                    widthOf(getIds()), "the width of ids");
}

//===-- experts -----------------------------------------------------------===//

LogicalResult ExpertsOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult ExpertsOp::verify() {
  ArrayRef<int64_t> up = getUp().getType().getShape();
  int64_t experts = up[0], width = up[1], hidden = widthOf(getInput());
  // experts_c1
  if (failed(expectSize(*this, "weights of width", widthOf(getWeights()),
                        widthOf(getIds()), "the width of ids"))) {
    return failure();
  }
  // experts_c2
  if (failed(expectSize(*this, "up with columns", up[2], hidden,
                        "the width of the input"))) {
    return failure();
  }
  // experts_c3
  if (getDown().getType().getShape() !=
      ArrayRef<int64_t>({experts, hidden, width})) {
    return emitOpError() << "expected down of " << experts << " x " << hidden
                         << " x " << width << " (up turned), got "
                         << getDown().getType();
  }
  if (getGate() && getGate().getType() != getUp().getType()) {
    return emitOpError() << "expected gate of type " << getUp().getType()
                         << " (the type of up), got " << getGate().getType();
  }
  // experts_c5
  if (getGateBias() && !getGate()) {
    return emitOpError() << "expected no gate bias (there is no gate)";
  }
  // experts_c6
  if (getAlpha().has_value() != getLimit().has_value() ||
      (getLimit() && (!getGate() || getAct() != Activation::Silu))) {
    return emitOpError()
           << "expected alpha and limit together, with a gate and "
              "the activation silu";
  }
  if (getLimit() && (failed(expectPositive(*this, "alpha", *getAlpha())) ||
                     failed(expectPositive(*this, "limit", *getLimit())))) {
    return failure();
  }
  // experts_c4
  for (auto [what, bias, length] :
       {std::tuple{"up_bias", getUpBias(), width},
        std::tuple{"gate_bias", getGateBias(), width},
        std::tuple{"down_bias", getDownBias(), hidden}}) {
    if (bias && cast<ShapedType>(bias.getType()).getShape() !=
                    ArrayRef<int64_t>({experts, length})) {
      return emitOpError() << "expected " << what << " of " << experts << " x "
                           << length << ", got " << bias.getType();
    }
  }
  return success();
}

//===-- group_by ----------------------------------------------------------===//

LogicalResult GroupByOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto ids = dyn_cast<RankedTensorType>(adaptor.getIds().getType());
  bool isKnown = ids && ids.hasStaticShape();
  Type pairs = RankedTensorType::get(
      {isKnown ? ids.getNumElements() : ShapedType::kDynamic},
      IntegerType::get(context, 32));
  types.assign({pairs, pairs, adaptor.getIds().getType()});
  return success();
}

LogicalResult GroupByOp::verify() {
  // group_by_c1
  auto experts = static_cast<int64_t>(getExperts());
  if (experts < 1) {
    return emitOpError() << "expected at least one expert, got " << experts;
  }
  return success();
}

//===-- expert_linear -----------------------------------------------------===//

LogicalResult ExpertLinearOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location>,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  auto weight = dyn_cast<RankedTensorType>(adaptor.getWeight().getType());
  types.push_back(
      weight && weight.getRank() == 3
          ? rowsOfWidth(adaptor.getInput().getType(), weight.getDimSize(1))
          : adaptor.getInput().getType());
  return success();
}

LogicalResult ExpertLinearOp::verify() {
  ArrayRef<int64_t> weight = getWeight().getType().getShape();
  // expert_linear_c1
  if (failed(expectSize(*this, "weight with columns", weight[2],
                        widthOf(getInput()), "the width of the input"))) {
    return failure();
  }
  // expert_linear_c2
  if (getBias() &&
      cast<ShapedType>(getBias().getType()).getShape() != weight.drop_back()) {
    return emitOpError() << "expected bias of " << weight[0] << " x "
                         << weight[1] << " (the rows of the weight), got "
                         << getBias().getType();
  }
  // expert_linear_c3
  if (getFactor() &&
      failed(expectSize(*this, "factor of width", widthOf(getFactor()),
                        weight[1], "the rows of the weight"))) {
    return failure();
  }
  // expert_linear_c4
  Type element = getElementTypeOrSelf(getWeight());
  bool isScaled = static_cast<bool>(getInputScales());
  if (element.isInteger() != isScaled ||
      getElementTypeOrSelf(getInput()).isInteger() != isScaled ||
      static_cast<bool>(getWeightScales()) != isScaled) {
    return emitOpError()
           << "expected rows of i8 and a weight of integers, both "
              "with scales, or neither, got "
           << getInput().getType() << " and " << getWeight().getType();
  }
  if (!isScaled) {
    return success();
  }
  ArrayRef<int64_t> scales =
      cast<ShapedType>(getWeightScales().getType()).getShape();
  if (scales.drop_back() != weight.drop_back() || scales[2] == 0 ||
      weight[2] % scales[2] != 0) {
    return emitOpError() << "expected weight_scales of " << weight[0] << " x "
                         << weight[1] << " rows and a number of groups that "
                         << "divides " << weight[2] << ", got "
                         << getWeightScales().getType();
  }
  if (Value zeros = getWeightZeros();
      zeros && (!element.isInteger(4) ||
                cast<ShapedType>(zeros.getType()).getShape() != scales)) {
    return emitOpError() << "expected weight_zeros of a weight of i4, one for "
                            "each of its weight_scales, got "
                         << zeros.getType();
  }
  return success();
}

//===-- combine -----------------------------------------------------------===//

LogicalResult CombineOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(
      rowsOfTable(adaptor.getPlaces().getType(), adaptor.getInput().getType()));
  return success();
}

LogicalResult CombineOp::verify() {
  // combine_c1
  return expectSize(*this, "weights of width", widthOf(getWeights()),
                    widthOf(getPlaces()), "the width of places");
}

//===-- gate_rows ---------------------------------------------------------===//

LogicalResult GateRowsOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult GateRowsOp::verify() {
  // gate_rows_c1
  int64_t width = widthOf(getInput()), parts = widthOf(getGate());
  if (width % parts != 0) {
    return emitOpError() << "expected a gate whose width divides " << width
                         << " (the width of the input), got " << parts;
  }
  return success();
}

//===-- clamped_gate ------------------------------------------------------===//

LogicalResult ClampedGateOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location>,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult ClampedGateOp::verify() {
  // clamped_gate_c1
  if (failed(expectSize(*this, "a gate of width", widthOf(getGate()),
                        widthOf(getInput()), "the width of the input"))) {
    return failure();
  }
  // clamped_gate_c2
  return failed(expectPositive(*this, "alpha", getAlpha()))
             ? failure()
             : expectPositive(*this, "limit", getLimit());
}

//===-- choose_experts ----------------------------------------------------===//

LogicalResult ChooseExpertsOp::verify() {
  // choose_experts_c1
  auto perToken = static_cast<int64_t>(getPerToken());
  for (auto [what, value] : {std::pair{"ids of width", getIds()},
                             std::pair{"weights of width", getWeights()}}) {
    if (failed(expectSize(*this, what, widthOf(value), perToken,
                          "the experts for each row"))) {
      return failure();
    }
  }
  // choose_experts_c2
  return getChoiceBias()
             ? expectSize(*this, "choice_bias of length",
                          widthOf(getChoiceBias()), widthOf(getLogits()),
                          "the width of the logits")
             : success();
}

void ChooseExpertsOp::getEffects(Effects &effects) {
  addDestinationEffects(*this, effects);
}

//===-- sort_by_expert ----------------------------------------------------===//

LogicalResult SortByExpertOp::verify() {
  // sort_by_expert_c1
  return expectSize(*this, "places of width", widthOf(getPlaces()),
                    widthOf(getIds()), "the width of ids");
}

void SortByExpertOp::getEffects(Effects &effects) {
  addDestinationEffects(*this, effects);
}
