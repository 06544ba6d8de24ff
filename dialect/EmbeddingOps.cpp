// Table look-ups and positions: inference and verifiers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tfc::transformer;

//===-- embedding ---------------------------------------------------------===//

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(
      rowsOfTable(adaptor.getIds().getType(), adaptor.getTable().getType()));
  return success();
}

LogicalResult EmbeddingOp::verify() {
  // embedding_c1
  int64_t offset = getOffset(), rows = rowsOf(getTable());
  if (offset < 0 || offset >= rows) {
    return emitOpError() << "expected offset in [0, " << rows
                         << ") (the rows of the table), got " << offset;
  }
  // embedding_c2
  std::optional<int64_t> first = getFirst();
  if (first && (offset != 0 || getOptional() || *first < 0 ||
                *first > std::numeric_limits<int32_t>::max() - (rows - 1))) {
    return emitOpError() << "expected first alone, at least 0 and with ids "
                            "below 2^31, got "
                         << *first;
  }
  // embedding_c3
  int64_t width = widthOf(getTable());
  if (Value given = getGiven();
      given && (offset != 0 || getOptional() || widthOf(given) != width)) {
    return emitOpError() << "expected given rows without offset and optional, "
                         << width << " wide (as the table), got "
                         << widthOf(given);
  }
  // embedding_c4
  std::optional<int64_t> beyond = getBeyond();
  if (beyond && (offset != 0 || getOptional() || first || getGiven() ||
                 *beyond < 0 || *beyond >= rows)) {
    return emitOpError() << "expected beyond alone, in [0, " << rows
                         << ") (the rows of the table), got " << *beyond;
  }
  // embedding_c5
  std::optional<int64_t> every = getEvery();
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (every && (offset != 0 || getOptional() || first || getGiven() || beyond ||
                *every < 1 || *every > kMost / rows)) {
    return emitOpError() << "expected every alone, at least 1 and below 2^31 "
                            "times the rows, got "
                         << *every;
  }
  return success();
}

//===-- given_rows --------------------------------------------------------===//

LogicalResult GivenRowsOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(
      rowsOfTable(adaptor.getIds().getType(), adaptor.getInput().getType()));
  return success();
}

LogicalResult GivenRowsOp::verify() {
  // given_rows_c1
  Type element = getElementTypeOrSelf(getInput().getType());
  if (!element.isF32()) {
    return emitOpError() << "expected rows of f32 (as the caller gives them), "
                            "got "
                         << element;
  }
  return success();
}

//===-- sinusoid ----------------------------------------------------------===//

static LogicalResult expectFrequencies(Operation *op,
                                       ArrayRef<double> frequencies) {
  if (frequencies.empty()) {
    return op->emitOpError() << "expected at least one frequency, got none";
  }
  for (double frequency : frequencies) {
    if (!std::isfinite(frequency)) {
      return op->emitOpError()
             << "expected finite frequencies, got " << frequency;
    }
  }
  return success();
}

LogicalResult SinusoidOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(rowsOfWidth(adaptor.getPositions().getType(),
                              2 * adaptor.getFrequencies().size()));
  return success();
}

LogicalResult SinusoidOp::verify() {
  // sinusoid_c1
  if (failed(expectFrequencies(*this, getFrequencies()))) {
    return failure();
  }
  // sinusoid_c2
  auto offset = static_cast<int64_t>(getOffset());
  if (offset < 0 || offset > std::numeric_limits<int32_t>::max()) {
    return emitOpError() << "expected offset in [0, 2^31), got " << offset;
  }
  return success();
}

//===-- rotary_angles -----------------------------------------------------===//

LogicalResult RotaryAnglesOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location>,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  types.push_back(rowsOfWidth(adaptor.getPositions().getType(),
                              2 * adaptor.getFrequencies().size()));
  return success();
}

LogicalResult RotaryAnglesOp::verify() {
  // rotary_angles_c1
  if (failed(expectFrequencies(*this, getFrequencies()))) {
    return failure();
  }
  // rotary_angles_c2
  if (getFactors().size() != 1 &&
      getFactors().size() != getFrequencies().size()) {
    return emitOpError() << "expected 1 factor, or one for each of "
                         << getFrequencies().size() << " frequencies, got "
                         << getFactors().size();
  }
  for (double factor : getFactors()) {
    if (!std::isfinite(factor)) {
      return emitOpError() << "expected finite factors, got " << factor;
    }
  }
  return success();
}

//===-- rotary ------------------------------------------------------------===//

LogicalResult RotaryOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult RotaryOp::verify() {
  // rotary_c1
  int64_t width = widthOf(getInput()), heads = getNumHeads();
  if (heads < 1 || width % heads != 0) {
    return emitOpError() << "expected a number of heads that divides " << width
                         << " (the width of the input), got " << heads;
  }
  // rotary_c2
  int64_t kinds = getKinds();
  if (kinds < 1 || (kinds > 1) != static_cast<bool>(getKind())) {
    return emitOpError() << "expected a kind where there are several, got "
                         << kinds << " and " << (getKind() ? "one" : "none");
  }
  // rotary_c3
  int64_t turned = widthOf(getAngles()), headDim = width / heads;
  if (turned % 2 != 0 || turned / 2 % kinds != 0 || turned / kinds > headDim) {
    return emitOpError() << "expected angles of " << kinds
                         << " times an even width of at most " << headDim
                         << " (head_dim), got " << turned;
  }
  return success();
}

//===-- distance_bias -----------------------------------------------------===//

LogicalResult DistanceBiasOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  auto table = cast<RankedTensorType>(adaptor.getTable().getType());
  // distance_bias_c3, here because the width of the result depends on it.
  int64_t distance = adaptor.getMaxDistance();
  if (distance < 0 || distance > std::numeric_limits<int32_t>::max()) {
    return emitOptionalError(
        location,
        "expected max_distance in [0, 2^31) (positions are 32 bits "
        "wide), got ",
        distance);
  }
  int64_t distances = 2 * distance + 1;
  types.push_back(RankedTensorType::get({table.getDimSize(1), distances},
                                        table.getElementType()));
  return success();
}

LogicalResult DistanceBiasOp::verify() {
  int64_t buckets = rowsOf(getTable());
  bool isBidirectional = getMask() == Mask::Bidirectional;
  // distance_bias_c1
  int64_t least = isBidirectional ? 4 : 2;
  if (buckets < least) {
    return emitOpError() << "expected a table of at least " << least
                         << " buckets, got " << buckets;
  }
  // distance_bias_c2
  int64_t exact = buckets / least, distance = getMaxDistance();
  if (distance <= exact) {
    return emitOpError() << "expected max_distance of more than " << exact
                         << " (the distances with a bucket each), got "
                         << distance;
  }
  return success();
}
