// Latent attention: inference, verifiers, effects.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/EffectUtils.h"
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"

#include <limits>

using namespace mlir;
using namespace tfc::transformer;

//===-- head_linear -------------------------------------------------------===//

/// The width of a head's result; nothing where constraints are broken.
static std::optional<int64_t> headWidthOf(int64_t width, int64_t heads,
                                          ArrayRef<int64_t> weight) {
  if (heads < 1 || width % heads != 0 || width / heads < weight[2]) {
    return std::nullopt;
  }
  return width / heads - weight[2] + weight[1];
}

LogicalResult HeadLinearOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  auto weight = dyn_cast<RankedTensorType>(adaptor.getWeight().getType());
  if (!input || input.getRank() != 2 || !weight || weight.getRank() != 3) {
    return failure();
  }
  auto heads = static_cast<int64_t>(adaptor.getNumHeads());
  int64_t width = input.getDimSize(1);
  // head_linear_c2, here because there is no type of such rows.
  std::optional<int64_t> own = headWidthOf(width, heads, weight.getShape());
  if (!own) {
    return emitOptionalError(location, "expected rows of ", heads,
                             " heads of at least ", weight.getDimSize(2),
                             " columns (the weight's), got ", width);
  }
  types.push_back(rowsOfWidth(input, heads * *own));
  return success();
}

LogicalResult HeadLinearOp::verify() {
  // head_linear_c1
  return expectSize(*this, "a weight with matrices",
                    getWeight().getType().getDimSize(0), getNumHeads(),
                    "one for each head");
}

//===-- latent_attention --------------------------------------------------===//

/// What latent_attention and paged_latent have in common.
template <typename Op> static LogicalResult expectLatents(Op op, Value result) {
  CacheType cache = op.getCache().getType();
  auto heads = static_cast<int64_t>(op.getNumHeads());
  // latent_attention_c1
  if (!cache.isLatent()) {
    return op.emitOpError() << "expected a cache of latents, got " << cache;
  }
  // latent_attention_c2
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (heads < 1 || heads > kMost / cache.getHeadDim()) {
    return op.emitOpError()
           << "expected at least one head, and num_heads times "
              "head_dim of less than 2^31, got "
           << heads << " times " << cache.getHeadDim();
  }
  // latent_attention_c3
  int64_t values = cache.getValues();
  if (failed(expectSize(op, "query of width", widthOf(op.getQuery()),
                        heads * cache.getHeadDim(),
                        "num_heads times head_dim")) ||
      failed(expectSize(op, "rope_key of width", widthOf(op.getRopeKey()),
                        cache.getHeadDim() - values,
                        "head_dim less values of the cache")) ||
      failed(expectSize(op, "latent of width", widthOf(op.getLatent()), values,
                        "values of the cache")) ||
      failed(expectSize(op, "a result of width", widthOf(result),
                        heads * values, "num_heads times values"))) {
    return failure();
  }
  // latent_attention_c5
  return expectLayer(op, op.getLayer(), cache.getLayers(), "cache");
}

LogicalResult
LatentAttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &types) {
  auto cache = dyn_cast<CacheType>(adaptor.getCache().getType());
  int64_t values = cache ? cache.getValues() : 0;
  types.push_back(
      rowsOfWidth(adaptor.getQuery().getType(),
                  static_cast<int64_t>(adaptor.getNumHeads()) * values));
  return success();
}

LogicalResult LatentAttentionOp::verify() {
  // latent_attention_c4
  if (!getScale().isFinite()) {
    return emitOpError() << "expected a finite scale, got "
                         << getScale().convertToDouble();
  }
  return expectLatents(*this, getResult());
}

void LatentAttentionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getCacheMutable(),
                       CacheResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), &getCacheMutable(),
                       CacheResource::get());
}

//===-- paged_latent ------------------------------------------------------===//

LogicalResult PagedLatentOp::verify() {
  // paged_latent_c1
  return expectLatents(*this, getInit());
}

void PagedLatentOp::getEffects(Effects &effects) {
  addRead(getQueryMutable(), effects);
  addRead(getRopeKeyMutable(), effects);
  addRead(getLatentMutable(), effects);
  effects.emplace_back(MemoryEffects::Read::get(), &getCacheMutable(),
                       CacheResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), &getCacheMutable(),
                       CacheResource::get());
  if (isa<MemRefType>(getInit().getType())) {
    effects.emplace_back(MemoryEffects::Write::get(), &getInitMutable(),
                         SideEffects::DefaultResource::get());
  }
}
