// Attention: inference, verifiers, effects.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"

using namespace mlir;
using namespace tfc::transformer;

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getQuery().getType());
  return success();
}

LogicalResult AttentionOp::verify() {
  CacheType cache = getCache().getType();
  int64_t heads = getNumHeads(), kvHeads = cache.getKvHeads();
  // attention_c1
  if (heads < 1 || heads % kvHeads != 0) {
    return emitOpError() << "expected a positive multiple of " << kvHeads
                         << " heads (kv_heads of the cache), got " << heads;
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
  if (!getScale().isFinite()) {
    return emitOpError() << "expected a finite scale, got "
                         << getScale().convertToDouble();
  }
  return success();
}

void AttentionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getCacheMutable(),
                       CacheResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), &getCacheMutable(),
                       CacheResource::get());
}
