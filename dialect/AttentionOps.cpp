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
  // attention_c3
  for (auto [what, value] : {std::pair{"key of width", getKey()},
                             std::pair{"value of width", getValue()}}) {
    if (failed(expectSize(*this, what, widthOf(value),
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
  // attention_c12
  return expectLogBase(*this, getLogBase());
}

void AttentionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getCacheMutable(),
                       CacheResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), &getCacheMutable(),
                       CacheResource::get());
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
  return expectLayer(*this, getLayer(), cache.getLayers(), "cache");
}

void CrossAttentionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getCacheMutable(),
                       CacheResource::get());
}
