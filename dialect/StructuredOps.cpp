// Structured ops: verifiers and effects, on tensors and on memrefs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/EffectUtils.h"
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tfc::transformer;

//===-- cache_write -------------------------------------------------------===//

LogicalResult CacheWriteOp::verify() {
  // cache_write_c1
  CacheType cache = getCache().getType();
  for (auto [what, value] : {std::pair{"key of width", getKey()},
                             std::pair{"value of width", getValue()}}) {
    if (failed(expectSize(*this, what, widthOf(value),
                          cache.getKvHeads() * cache.getHeadDim(),
                          "kv_heads times head_dim of the cache"))) {
      return failure();
    }
  }
  return success();
}

void CacheWriteOp::getEffects(Effects &effects) {
  addRead(getKeyMutable(), effects);
  addRead(getValueMutable(), effects);
  effects.emplace_back(MemoryEffects::Write::get(), &getCacheMutable(),
                       CacheResource::get());
}

//===-- paged_attention ---------------------------------------------------===//

LogicalResult PagedAttentionOp::verify() {
  CacheType cache = getCache().getType();
  int64_t heads = getNumHeads();
  // paged_attention_c1
  if (failed(expectHeads(*this, heads, cache.getKvHeads()))) {
    return failure();
  }
  // paged_attention_c2
  for (auto [what, value] : {std::pair{"query of width", getQuery()},
                             std::pair{"init of width", getInit()}}) {
    if (failed(expectSize(*this, what, widthOf(value),
                          heads * cache.getHeadDim(),
                          "num_heads times head_dim"))) {
      return failure();
    }
  }
  // paged_attention_c3
  if (failed(expectDistances(*this, getBias(), heads))) {
    return failure();
  }
  // paged_attention_c4
  if (failed(expectWindow(*this, getWindow(), getMask()))) {
    return failure();
  }
  // paged_attention_c5
  if (cache.isCross() && (getMask() != Mask::Bidirectional || getBias())) {
    return emitOpError() << "expected bidirectional attention without bias "
                            "over a cross cache, got "
                         << stringifyMask(getMask())
                         << (getBias() ? " with bias" : "");
  }
  return success();
}

void PagedAttentionOp::getEffects(Effects &effects) {
  addRead(getQueryMutable(), effects);
  for (OpOperand &bias : getBiasMutable()) {
    addRead(bias, effects);
  }
  effects.emplace_back(MemoryEffects::Read::get(), &getCacheMutable(),
                       CacheResource::get());
  if (isa<MemRefType>(getInit().getType())) {
    effects.emplace_back(MemoryEffects::Write::get(), &getInitMutable(),
                         SideEffects::DefaultResource::get());
  }
}
