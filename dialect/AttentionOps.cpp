// Attention: inference, verifiers, effects.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"

#include <cmath>

using namespace mlir;
using namespace tfc::transformer;

static LogicalResult expectFinite(Operation *op, const APFloat &scale) {
  if (scale.isFinite()) {
    return success();
  }
  return op->emitOpError() << "expected a finite scale, got "
                           << scale.convertToDouble();
}

//===-- attention ---------------------------------------------------------===//

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getQuery().getType()));
  return success();
}

/// Of the tables of distances of `op`, which has some.
static LogicalResult expectSpan(AttentionOp op) {
  constexpr int64_t kMost = 1 << 30;
  int64_t span = *op.getSpan();
  if (span < 1 || span >= kMost) {
    return op.emitOpError() << "expected a span in [1, 2^30), got " << span;
  }
  std::optional<uint64_t> given = op.getMaxDistance();
  auto farthest = static_cast<int64_t>(given.value_or(0));
  if (given && (span < 4 || span % 2 != 0 || farthest - 1 <= span / 2 ||
                farthest >= kMost)) {
    return op.emitOpError()
           << "expected with max_distance an even span of at "
              "least 4, and max_distance above span / 2 + 1 and below "
              "2^30, got "
           << span << " and " << farthest;
  }
  return success();
}

LogicalResult AttentionOp::verify() {
  CacheType cache = getCache().getType();
  int64_t heads = getNumHeads(), kvHeads = cache.getKvHeads();
  // attention_c1
  if (failed(expectHeads(*this, heads, cache))) {
    return failure();
  }
  // attention_c2
  if (failed(expectSize(*this, "query of width", widthOf(getQuery()),
                        heads * cache.getHeadDim(),
                        "num_heads times head_dim"))) {
    return failure();
  }
  // attention_c21
  if (!getKey() != !getValue() || (!getKey() && cache.isScratch())) {
    return emitOpError()
           << "expected key and value, or neither of a cache that "
              "is not scratch, got "
           << (getKey()     ? "a key alone"
               : getValue() ? "a value alone"
                            : "neither");
  }
  // attention_c3
  for (auto [what, value] : {std::pair{"key of width", getKey()},
                             std::pair{"value of width", getValue()}}) {
    if (value && failed(expectSize(*this, what, widthOf(value),
                                   kvHeads * cache.getHeadDim(),
                                   "kv_heads times head_dim of the cache"))) {
      return failure();
    }
  }
  // attention_c4
  if (failed(expectFinite(*this, getScale()))) {
    return failure();
  }
  // attention_c5
  if (failed(expectDistances(*this, getBias(), heads))) {
    return failure();
  }
  // attention_c6
  if (failed(expectWindow(*this, getRight(), getMask()))) {
    return failure();
  }
  // attention_c7
  if (cache.isCross()) {
    return emitOpError() << "expected a cache that attention may append to, "
                            "got a cross cache";
  }
  // attention_c8
  if (failed(expectLayer(*this, getLayer(), cache.getLayers(), "cache"))) {
    return failure();
  }
  // attention_c9
  if (failed(expectCap(*this, getCap()))) {
    return failure();
  }
  // attention_c10
  if (auto slopes = getSlopes();
      slopes && (static_cast<int64_t>(slopes->size()) != heads ||
                 !llvm::all_of(*slopes, [](double slope) {
                   return std::isfinite(slope);
                 }))) {
    return emitOpError() << "expected " << heads
                         << " finite slopes (one for each head), got "
                         << slopes->size();
  }
  // attention_c11
  if (getSinks() &&
      failed(expectSize(*this, "sinks of length", widthOf(getSinks()), heads,
                        "num_heads"))) {
    return failure();
  }
  if (failed(expectSinks(*this, getSinks(), getRelativeKeys()))) {
    return failure();
  }
  // attention_c12
  if (failed(expectLogBase(*this, getLogBase()))) {
    return failure();
  }
  // attention_c13
  bool hasRelative =
      getRelativeKeys() || getRelativeQueries() || getRelativeValues();
  if (hasRelative != getSpan().has_value()) {
    return emitOpError()
           << "expected a span exactly if there are relative_keys, "
              "relative_queries or relative_values, got "
           << (hasRelative ? "no span" : "a span alone");
  }
  // attention_c16
  if (getOddSpan() && (!getSpan() || getMaxDistance())) {
    return emitOpError() << "expected odd_span with a span and without "
                            "max_distance, got "
                         << (getSpan() ? "a max_distance" : "no span");
  }
  if (getRoundedSlopes() && !getSlopes()) {
    return emitOpError() << "expected slopes with rounded_slopes, got none";
  }
  // attention_c17
  bool isPlain = !getLeft() && !getRight() && !getCap();
  if (failed(expectSparse(*this,
                          {getSparseBlock(), getRandomBlocks(),
                           getBlocksBefore(), getBlocksAfter()},
                          getMask(), isPlain))) {
    return failure();
  }
  // attention_c18, attention_c19
  if (failed(expectQueryTerms(*this,
                              {getQueryBias(), getRelativeBias(),
                               getRelativeKeys(), getSegments(),
                               getSegmentBias(), getTypes()},
                              heads, cache, getMask()))) {
    return failure();
  }
  // attention_c22
  if (failed(expectUnseen(*this, getUnseen(), cache, getMask(),
                          isPlain && !getLogBase() && !getSparseBlock()))) {
    return failure();
  }
  // attention_c20
  if (failed(expectFactors(*this, getFactors(), hasRelative, cache))) {
    return failure();
  }
  if (!hasRelative) {
    return success();
  }
  // attention_c15, in front of what is computed of it
  if (failed(expectSpan(*this))) {
    return failure();
  }
  // attention_c13
  int64_t less = getOddSpan() ? 1 : 0;
  for (auto [what, value] :
       {std::pair{"relative_keys", getRelativeKeys()},
        std::pair{"relative_queries", getRelativeQueries()},
        std::pair{"relative_values", getRelativeValues()}}) {
    if (value && (failed(expectSize(*this, std::string(what) + " with rows",
                                    rowsOf(value), 2 * *getSpan() - less,
                                    less ? "2 span - 1" : "2 span")) ||
                  failed(expectTableWidth(*this, what, value, heads, cache)))) {
      return failure();
    }
  }
  // attention_c14
  return expectSize(*this, "a cache with a number of kv_heads", kvHeads, heads,
                    "num_heads, with relative_keys, relative_queries or "
                    "relative_values");
}

void AttentionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getCacheMutable(),
                       CacheResource::get());
  if (getKey()) {
    effects.emplace_back(MemoryEffects::Write::get(), &getCacheMutable(),
                         CacheResource::get());
  }
}

//===-- cross_attention ---------------------------------------------------===//

LogicalResult CrossAttentionOp::inferReturnTypes(MLIRContext *,
                                                 std::optional<Location>,
                                                 Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getQuery().getType()));
  return success();
}

LogicalResult CrossAttentionOp::verify() {
  CacheType cache = getCache().getType();
  int64_t heads = getNumHeads();
  // cross_attention_c1
  if (failed(expectHeads(*this, heads, cache))) {
    return failure();
  }
  // cross_attention_c2
  if (failed(expectSize(*this, "query of width", widthOf(getQuery()),
                        heads * cache.getHeadDim(),
                        "num_heads times head_dim"))) {
    return failure();
  }
  // cross_attention_c3
  if (failed(expectFinite(*this, getScale()))) {
    return failure();
  }
  // cross_attention_c4
  if (!cache.isCross()) {
    return emitOpError() << "expected a cross cache, got " << cache;
  }
  // cross_attention_c5
  if (failed(expectLayer(*this, getLayer(), cache.getLayers(), "cache"))) {
    return failure();
  }
  // cross_attention_c6
  if (failed(
          expectFactors(*this, getFactors(), /*hasRelative=*/false, cache))) {
    return failure();
  }
  // cross_attention_c7
  return expectCap(*this, getCap());
}

void CrossAttentionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getCacheMutable(),
                       CacheResource::get());
}
