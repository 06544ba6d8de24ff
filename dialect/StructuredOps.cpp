// Structured ops: verifiers and effects, on tensors and on memrefs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tfc::transformer;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// Memrefs are read where they are operands; tensors have no effects.
static void addRead(OpOperand &operand, Effects &effects) {
  if (isa<MemRefType>(operand.get().getType())) {
    effects.emplace_back(MemoryEffects::Read::get(), &operand,
                         SideEffects::DefaultResource::get());
  }
}

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

//===-- tap ---------------------------------------------------------------===//

void TapOp::getEffects(Effects &effects) {
  addRead(getValueMutable(), effects);
  effects.emplace_back(MemoryEffects::Write::get(), HostResource::get());
}

//===-- output ------------------------------------------------------------===//

/// Beside those of its body: without it an output would be dead code.
void OutputOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), HostResource::get());
}

LogicalResult OutputOp::verify() {
  // output_c1
  auto yield = dyn_cast<YieldOp>(getBody().front().back());
  if (!yield) {
    return emitOpError() << "expected the region to end with transformer.yield";
  }
  // output_c2
  if (getSqueezed() &&
      failed(expectSize(*this, "a value of width", widthOf(yield.getValue()), 1,
                        "the output is squeezed"))) {
    return failure();
  }
  // output_c3
  auto entry = dyn_cast<FunctionOpInterface>((*this)->getParentOp());
  if (!entry) {
    return emitOpError() << "expected to be directly in an entry function";
  }
  for (auto other : entry.getFunctionBody().getOps<OutputOp>()) {
    if (other != *this && other.getName() == getName()) {
      return emitOpError() << "expected one output named \"" << getName()
                           << "\", got another";
    }
  }
  return success();
}
