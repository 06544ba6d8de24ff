// Steps of heads that make one vector of a sequence: pooling, the first
// columns, the length.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/SpecReader.h"

namespace tfc::spec {

std::optional<HeadStep>
SpecReader::readPooling(const Head &head, const Json &step, Result &result) {
  std::string op = wordOf(step, "op", "");
  if (op == "pool") {
    std::string how = wordOf(step, "how", "mean");
    // Any row of the sequence says which one is meant.
    takeRows(head, step, TakeStep::At::LastVisible, result);
    return PoolStep{how == "max"             ? PoolStep::How::Max
                    : how == "mean_sqrt_len" ? PoolStep::How::MeanSqrtLen
                                             : PoolStep::How::Mean};
  }
  if (op == "activation_unit") {
    return readActivationUnit(head, step, result);
  }
  if (op == "truncate") {
    return readTruncate(step, result);
  }
  if (op == "l2_normalize") {
    L2NormalizeStep normalize;
    if (const Json *eps = step.find("eps"); eps && eps->isNumber()) {
      normalize.eps = readPositive(*eps);
    }
    return normalize;
  }
  return std::nullopt;
}

/// As of a pool, any row of the sequence says which one is meant.
HeadStep SpecReader::readActivationUnit(const Head &head, const Json &step,
                                        Result &result) {
  ActivationUnitStep unit;
  unit.path = readStepPath(head, step);
  unit.first = wordOf(step, "query", "last") == "first";
  for (const Json &width : itemsOf(step.find("hidden"))) {
    unit.hidden.push_back(width.isInteger() ? width.integer : 0);
  }
  unit.act = activationOf(step, "act");
  takeRows(head, step, TakeStep::At::LastVisible, result);
  result.width *= 2;
  return unit;
}

TruncateStep SpecReader::readTruncate(const Json &step, Result &result) {
  TruncateStep truncate{sizeOf(step, "dims").value_or(0)};
  if (result.width && truncate.width > result.width) {
    error(step.find("dims")->place, BadStep,
          "expected at most " + std::to_string(result.width) +
              " (the width before the step), got " +
              std::to_string(truncate.width));
  }
  result.width = truncate.width;
  return truncate;
}

} // namespace tfc::spec
