// Ops of mixtures of experts, one at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/reference/Formulas.h"
#include "compiler/reference/InterpreterState.h"

using namespace mlir;
using namespace tfc::reference;
using namespace tfc::transformer;

/// Ids are numbers of `count` things.
static LogicalResult checkIds(Operation *op, const Ids &ids, int64_t count) {
  for (int64_t id : ids) {
    if (id < 0 || id >= count) {
      return op->emitError()
             << "expected a number in [0, " << count << "), got " << id;
    }
  }
  return success();
}

LogicalResult Interpreter::runOp(RouteOp op) {
  Router router;
  router.score = op.getScore();
  router.choiceBias = rowsOrNull(op.getChoiceBias());
  router.perToken = op.getPerToken();
  router.groups = op.getGroups();
  router.groupsUsed = op.getGroupsUsed();
  router.groupRank = op.getGroupBy();
  router.renormalize = op.getRenormalize();
  router.plus = op.getPlus().convertToDouble();
  router.floor = op.getFloor().convertToDouble();
  router.factor = op.getFactor().convertToDouble();
  router.tolerance = op.getTolerance().convertToDouble();
  Ids chosen;
  Matrix weights = route(rows(op.getLogits()), router, chosen);
  set(op.getIds(), std::make_shared<const Ids>(std::move(chosen)));
  return setRows(op.getWeights(), std::move(weights));
}

LogicalResult Interpreter::runOp(ScaleExpertsOp op) {
  const Ids &chosen = ids(op.getIds());
  const Matrix &scale = rows(op.getScale());
  if (failed(checkIds(op, chosen, scale.cols))) {
    return failure();
  }
  Matrix weights = rows(op.getWeights());
  for (auto [weight, id] : llvm::zip_equal(weights.data, chosen)) {
    weight *= scale.data[id];
  }
  return setRows(op, std::move(weights));
}

LogicalResult Interpreter::runOp(ExpertsOp op) {
  const Ids &chosen = ids(op.getIds());
  if (failed(checkIds(op, chosen, op.getUp().getType().getDimSize(0)))) {
    return failure();
  }
  FfnWeights w{&rows(op.getUp()),
               &rows(op.getDown()),
               rowsOrNull(op.getGate()),
               rowsOrNull(op.getUpBias()),
               rowsOrNull(op.getGateBias()),
               rowsOrNull(op.getDownBias())};
  if (op.getLimit()) {
    w.alpha = op.getAlpha()->convertToDouble();
    w.limit = op.getLimit()->convertToDouble();
  }
  return setRows(op, experts(rows(op.getInput()), chosen, rows(op.getWeights()),
                             w, op.getAct()));
}

LogicalResult Interpreter::runOp(GroupByOp op) {
  auto experts = static_cast<int64_t>(op.getExperts());
  const Ids &chosen = ids(op.getIds());
  if (failed(checkIds(op, chosen, experts))) {
    return failure();
  }
  int64_t perToken = op.getIds().getType().getDimSize(1);
  GroupedRows grouped = groupBy(chosen, perToken, experts);
  set(op.getRows(), std::make_shared<const Ids>(std::move(grouped.rows)));
  set(op.getSorted(), std::make_shared<const Ids>(std::move(grouped.experts)));
  set(op.getPlaces(), std::make_shared<const Ids>(std::move(grouped.places)));
  return success();
}

LogicalResult Interpreter::runOp(ExpertLinearOp op) {
  const Ids &own = ids(op.getExperts());
  RankedTensorType weight = op.getWeight().getType();
  if (failed(checkIds(op, own, weight.getDimSize(0)))) {
    return failure();
  }
  const Matrix *bias = rowsOrNull(op.getBias());
  Matrix y;
  if (Value scales = op.getInputScales()) {
    Value zeros = op.getWeightZeros();
    Matrix wide = scaleGroups(
        rows(op.getWeight()), rows(op.getWeightScales()), rowsOrNull(zeros),
        zeros && isa<FloatType>(getElementTypeOrSelf(zeros)));
    // What rows have comes off first.
    y = scaleBoth(expertLinear(rows(op.getInput()), own, wide,
                               weight.getDimSize(1), /*bias=*/nullptr),
                  rows(scales), Matrix(), /*bias=*/nullptr);
    for (int64_t i = 0; bias && i < y.rows; ++i) {
      for (int64_t n = 0; n < y.cols; ++n) {
        y.at(i, n) += bias->at(own[i], n);
      }
    }
  } else {
    y = expertLinear(rows(op.getInput()), own, rows(op.getWeight()),
                     weight.getDimSize(1), bias);
  }
  y = activation(op.getAct(), y);
  return setRows(op, op.getFactor() ? multiply(y, rows(op.getFactor())) : y);
}

LogicalResult Interpreter::runOp(CombineOp op) {
  const Matrix &input = rows(op.getInput());
  const Ids &places = ids(op.getPlaces());
  if (failed(checkIds(op, places, input.rows))) {
    return failure();
  }
  return setRows(op, combine(input, places, rows(op.getWeights())));
}
