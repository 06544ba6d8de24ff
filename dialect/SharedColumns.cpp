// Which columns of its operands an op computes a part of its columns from.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"

using namespace mlir;
using namespace tfc::transformer;

static LogicalResult refuse(std::string &why, const llvm::Twine &text) {
  why = text.str();
  return failure();
}

static void cut(MutableOperandRange range, int64_t parts,
                SmallVectorImpl<int64_t> &operands) {
  for (OpOperand &operand : range) {
    operands[operand.getOperandNumber()] = parts;
  }
}

/// Heads that stay together.
static LogicalResult cutHeads(int64_t heads, int64_t parts, std::string &why) {
  return heads % parts == 0
             ? success()
             : refuse(why, "has " + llvm::Twine(heads) +
                               " heads, which are not " + llvm::Twine(parts) +
                               " equal parts");
}

/// Heads of keys and values: fewer than parts are each of several ranks.
static LogicalResult cutCache(CacheType cache, int64_t parts, int64_t &own,
                              std::string &why) {
  int64_t heads = cache.getKvHeads();
  if (cache.hasParts() || cache.isLatent()) {
    return refuse(why, "has a cache of several shapes of heads, or of latents");
  }
  own = heads % parts == 0 ? parts : heads;
  return parts % own == 0
             ? success()
             : refuse(why, "has " + llvm::Twine(heads) +
                               " heads of keys, which " + llvm::Twine(parts) +
                               " ranks cannot share equally");
}

LogicalResult
tfc::transformer::detail::shareElements(Operation *op, int64_t parts,
                                        SmallVectorImpl<int64_t> &operands,
                                        std::string &why) {
  int64_t width = widthOf(op->getResult(0));
  if (width % parts != 0) {
    return refuse(why, "has " + llvm::Twine(width) +
                           " columns, which are not " + llvm::Twine(parts) +
                           " equal parts");
  }
  operands.assign(op->getNumOperands(), 1);
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    bool isRows = type && type.getRank() == 2 && type.isDynamicDim(0);
    bool isVector =
        type && type.getRank() == 1 && width > 1 && type.getDimSize(0) == width;
    operands[operand.getOperandNumber()] = isRows || isVector ? parts : 1;
  }
  return success();
}

//===-- norms -------------------------------------------------------------===//

/// Of heads that are each normalised by itself.
template <typename Op>
static LogicalResult shareNorm(Op op, int64_t parts,
                               SmallVectorImpl<int64_t> &operands,
                               std::string &why) {
  auto heads = static_cast<int64_t>(op.getParts());
  if (heads == 1) {
    return refuse(why, "normalises all of its columns");
  }
  operands.assign(op->getNumOperands(), 1);
  operands[0] = parts;
  if (Value weight = op.getWeight()) {
    auto type = cast<RankedTensorType>(weight.getType());
    bool isOfAll =
        type.getRank() == 1 && type.getDimSize(0) * heads == widthOf(op);
    cut(op.getWeightMutable(), isOfAll ? 1 : parts, operands);
  }
  return cutHeads(heads, parts, why);
}

LogicalResult LayerNormOp::shareOperands(int64_t parts,
                                         SmallVectorImpl<int64_t> &operands,
                                         std::string &why) {
  return shareNorm(*this, parts, operands, why);
}

void LayerNormOp::takeShare(int64_t parts) { setParts(getParts() / parts); }

LogicalResult RmsNormOp::shareOperands(int64_t parts,
                                       SmallVectorImpl<int64_t> &operands,
                                       std::string &why) {
  return shareNorm(*this, parts, operands, why);
}

void RmsNormOp::takeShare(int64_t parts) { setParts(getParts() / parts); }

//===-- heads -------------------------------------------------------------===//

LogicalResult RotaryOp::shareOperands(int64_t parts,
                                      SmallVectorImpl<int64_t> &operands,
                                      std::string &why) {
  operands.assign((*this)->getNumOperands(), 1);
  operands[getInputMutable().getOperandNumber()] = parts;
  return cutHeads(getNumHeads(), parts, why);
}

void RotaryOp::takeShare(int64_t parts) { setNumHeads(getNumHeads() / parts); }

LogicalResult AttentionOp::shareOperands(int64_t parts,
                                         SmallVectorImpl<int64_t> &operands,
                                         std::string &why) {
  bool hasMore = getBias() || getRelativeKeys() || getRelativeQueries() ||
                 getRelativeValues() || getQueryBias() || getRelativeBias() ||
                 getSegments() || getSegmentBias();
  if (hasMore) {
    return refuse(why, "has scores with terms of distances, positions or "
                       "segments for each head");
  }
  if (getSlopes()) {
    return refuse(why, "has slopes, which are constants of each head");
  }
  int64_t ofKeys = 1;
  if (failed(cutHeads(getNumHeads(), parts, why)) ||
      failed(cutCache(getCache().getType(), parts, ofKeys, why))) {
    return failure();
  }
  operands.assign((*this)->getNumOperands(), 1);
  operands[getQueryMutable().getOperandNumber()] = parts;
  operands[getCacheMutable().getOperandNumber()] = ofKeys;
  cut(getKeyMutable(), ofKeys, operands);
  cut(getValueMutable(), ofKeys, operands);
  cut(getSinksMutable(), parts, operands);
  return success();
}

void AttentionOp::takeShare(int64_t parts) {
  setNumHeads(getNumHeads() / parts);
}

LogicalResult CrossAttentionOp::shareOperands(
    int64_t parts, SmallVectorImpl<int64_t> &operands, std::string &why) {
  int64_t ofKeys = 1;
  if (failed(cutHeads(getNumHeads(), parts, why)) ||
      failed(cutCache(getCache().getType(), parts, ofKeys, why))) {
    return failure();
  }
  operands.assign((*this)->getNumOperands(), 1);
  operands[getQueryMutable().getOperandNumber()] = parts;
  operands[getCacheMutable().getOperandNumber()] = ofKeys;
  return success();
}

void CrossAttentionOp::takeShare(int64_t parts) {
  setNumHeads(getNumHeads() / parts);
}

LogicalResult CacheWriteOp::shareOperands(int64_t parts,
                                          SmallVectorImpl<int64_t> &operands,
                                          std::string &why) {
  int64_t ofKeys = 1;
  if (failed(cutCache(getCache().getType(), parts, ofKeys, why))) {
    return failure();
  }
  operands.assign((*this)->getNumOperands(), ofKeys);
  operands[getLayerMutable().getOperandNumber()] = 1;
  operands[getBatchMutable().getOperandNumber()] = 1;
  return success();
}
