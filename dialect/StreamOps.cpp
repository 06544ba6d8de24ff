// Streams of rows: inference and verifiers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace tfc::transformer;

//===-- mix_rows ----------------------------------------------------------===//

LogicalResult MixRowsOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult MixRowsOp::verify() {
  // mix_rows_c1
  if (getTerms().empty()) {
    return emitOpError() << "expected at least one term, got none";
  }
  for (Value term : getTerms()) {
    if (failed(expectSize(*this, "a term of width", widthOf(term),
                          widthOf(getInput()), "the width of the input"))) {
      return failure();
    }
  }
  // mix_rows_c2
  int64_t first = getFirst(), width = widthOf(getWeights());
  auto count = static_cast<int64_t>(getTerms().size());
  if (first < 0 || first > width - count) {
    return emitOpError() << "expected a weight for each term inside [0, "
                         << width << "), got " << count << " from " << first
                         << " on";
  }
  // mix_rows_c3
  if (!getOffset().isFinite()) {
    return emitOpError() << "expected a finite offset, got "
                         << getOffset().convertToDouble();
  }
  return success();
}

//===-- match_magnitude ---------------------------------------------------===//

LogicalResult MatchMagnitudeOp::inferReturnTypes(MLIRContext *,
                                                 std::optional<Location>,
                                                 Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult MatchMagnitudeOp::verify() {
  // match_magnitude_c1
  if (failed(expectSize(*this, "rows to match of width", widthOf(getLike()),
                        widthOf(getInput()), "the width of the input"))) {
    return failure();
  }
  // match_magnitude_c2
  APFloat floor = getFloor();
  if (!floor.isFinite() || floor.isNegative() || floor.isZero()) {
    return emitOpError() << "expected floor to be positive and finite, got "
                         << floor.convertToDouble();
  }
  return success();
}

//===-- join_columns ------------------------------------------------------===//

LogicalResult JoinColumnsOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty()) {
    return emitOptionalError(location,
                             "expected at least two inputs, got none");
  }
  std::optional<int64_t> width = 0;
  for (Value input : adaptor.getInputs()) {
    width = llvm::checkedAdd<int64_t>(*width, widthOf(input));
    if (!width) {
      return emitOptionalError(location,
                               "expected fewer columns, got more than can be "
                               "counted");
    }
  }
  types.push_back(rowsOfWidth(adaptor.getInputs().front().getType(), *width));
  return success();
}

LogicalResult JoinColumnsOp::verify() {
  // join_columns_c1
  if (getInputs().size() < 2) {
    return emitOpError() << "expected at least two inputs, got "
                         << getInputs().size();
  }
  return success();
}
