// A query and its candidates, log probabilities, memories of zeros: inference,
// verifiers, effects.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/EffectUtils.h"
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"

#include "llvm/Support/CheckedArithmetic.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tfc::transformer;

static int64_t columnsOf(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasRank() && shaped.getRank() > 0
             ? shaped.getShape().back()
             : 0;
}

/// So many columns, unless no type has them.
static LogicalResult pushWidth(std::optional<Location> location, Type like,
                               std::optional<int64_t> width,
                               SmallVectorImpl<Type> &types) {
  if (!width || *width < 0) {
    return emitOptionalError(location,
                             "expected fewer columns, got more than can be "
                             "counted");
  }
  types.push_back(rowsOfWidth(like, *width));
  return success();
}

//===-- pair_rows, ragged_pairs -------------------------------------------===//

LogicalResult PairRowsOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> location,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  Type input = adaptor.getInput().getType();
  return pushWidth(location, input,
                   llvm::checkedMul<int64_t>(columnsOf(input), 4), types);
}

LogicalResult RaggedPairsOp::verify() {
  // ragged_pairs_c1
  return expectSize(*this, "init of width", widthOf(getInit()),
                    4 * widthOf(getInput()),
                    "four times the width of the input");
}

void RaggedPairsOp::getEffects(Effects &effects) {
  addDestinationEffects(*this, effects);
}

//===-- weigh_rows, ragged_weights ----------------------------------------===//

LogicalResult WeighRowsOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  Type input = adaptor.getInput().getType();
  return pushWidth(location, adaptor.getRows().getType(),
                   llvm::checkedMul<int64_t>(columnsOf(input), 2), types);
}

LogicalResult WeighRowsOp::verify() {
  // weigh_rows_c1
  return expectSize(*this, "weights of width", widthOf(getWeights()), 1,
                    "a number a row");
}

LogicalResult RaggedWeightsOp::verify() {
  // ragged_weights_c1
  if (failed(expectSize(*this, "weights of width", widthOf(getWeights()), 1,
                        "a number a row"))) {
    return failure();
  }
  // ragged_weights_c2
  return expectSize(*this, "init of width", widthOf(getInit()),
                    2 * widthOf(getInput()), "twice the width of the input");
}

void RaggedWeightsOp::getEffects(Effects &effects) {
  addDestinationEffects(*this, effects);
}

//===-- log_softmax, clustered_log_softmax --------------------------------===//

static std::optional<int64_t> addWidths(Value input, ValueRange clusters) {
  std::optional<int64_t> width = columnsOf(input.getType());
  for (Value cluster : clusters) {
    width = width ? llvm::checkedAdd(*width, columnsOf(cluster.getType()))
                  : std::nullopt;
  }
  return width;
}

LogicalResult LogSoftmaxOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  return pushWidth(location, adaptor.getInput().getType(),
                   addWidths(adaptor.getInput(), adaptor.getClusters()), types);
}

template <typename Op> static LogicalResult verifyGates(Op op) {
  // log_softmax_c1, clustered_log_softmax_c1
  auto clusters = static_cast<int64_t>(op.getClusters().size());
  return expectSize(op, "gates of width",
                    op.getGates() ? widthOf(op.getGates()) : 0, clusters,
                    "a column a cluster");
}

LogicalResult LogSoftmaxOp::verify() { return verifyGates(*this); }

LogicalResult ClusteredLogSoftmaxOp::verify() {
  if (failed(verifyGates(*this))) {
    return failure();
  }
  // clustered_log_softmax_c2
  return expectSize(*this, "init of width", widthOf(getInit()),
                    addWidths(getInput(), getClusters()).value_or(-1),
                    "the columns of the input and of clusters");
}

void ClusteredLogSoftmaxOp::getEffects(Effects &effects) {
  addDestinationEffects(*this, effects);
}

//===-- memory_sinks, ragged_sinks ----------------------------------------===//

LogicalResult MemorySinksOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  auto heads = static_cast<int64_t>(adaptor.getNumHeads());
  // memory_sinks_c1, here because no type has such a width.
  if (heads < 1) {
    return emitOptionalError(location, "expected num_heads of at least 1, got ",
                             heads);
  }
  types.push_back(rowsOfWidth(adaptor.getQuery().getType(), heads));
  return success();
}

template <typename Op> static LogicalResult verifySinks(Op op) {
  int64_t width = widthOf(op.getQuery());
  auto heads = static_cast<int64_t>(op.getNumHeads());
  // memory_sinks_c1, ragged_sinks_c1
  if (heads < 1 || width % heads != 0) {
    return op.emitOpError() << "expected num_heads to divide " << width
                            << " (the width of the query), got " << heads;
  }
  // memory_sinks_c2, ragged_sinks_c2
  if (failed(expectSize(op, "relative_keys of width",
                        widthOf(op.getRelativeKeys()), width,
                        "the width of the query"))) {
    return failure();
  }
  auto span = static_cast<int64_t>(op.getSpan());
  int64_t rows = rowsOf(op.getRelativeKeys());
  if (span < 1 || span >= int64_t(1) << 30 ||
      (!ShapedType::isDynamic(rows) && rows < span)) {
    return op.emitOpError() << "expected span in [1, 2^30) and as many "
                               "relative_keys at least, got "
                            << span;
  }
  // memory_sinks_c3, ragged_sinks_c3
  if (op.getRelativeBias() &&
      failed(expectSize(op, "relative_bias of length",
                        widthOf(op.getRelativeBias()), width,
                        "the width of the query"))) {
    return failure();
  }
  return success();
}

LogicalResult MemorySinksOp::verify() {
  // memory_sinks_c4
  if (!std::isfinite(getScale().convertToDouble())) {
    return emitOpError() << "expected a finite scale, got "
                         << getScale().convertToDouble();
  }
  return verifySinks(*this);
}

LogicalResult RaggedSinksOp::verify() {
  if (failed(verifySinks(*this))) {
    return failure();
  }
  // ragged_sinks_c4
  return expectSize(*this, "init of width", widthOf(getInit()),
                    static_cast<int64_t>(getNumHeads()), "num_heads");
}

void RaggedSinksOp::getEffects(Effects &effects) {
  addDestinationEffects(*this, effects);
}
