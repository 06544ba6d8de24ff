// Attention by tensor cores: which kernels do it, and which items each does.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/ExpandTensorAttention.h"

#include "compiler/gpu/attention/CombineParts.h"
#include "compiler/gpu/attention/ExpandCacheRows.h"
#include "compiler/gpu/attention/StepItems.h"
#include "compiler/gpu/attention/TensorAttention.h"
#include "compiler/gpu/attention/WarpgroupTiles.h"
#include "compiler/gpu/attention/WideAttention.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tfc;

/// Fragments of rows of a block of WideAttention, at most: of prompts as many
/// as leave registers for two blocks a multiprocessor.
static constexpr int64_t kFewFragments = 1;
static constexpr int64_t kManyFragments = 2;

static bool suitsDevice(transformer::CacheType type, Value query,
                        const TensorDevice &device) {
  Type element = cast<MemRefType>(query.getType()).getElementType();
  return element == type.getElementType() &&
         (suitsTensorTiles(type) ||
          WideForm::find(type, device.sharedBytes, kFewFragments));
}

bool tfc::suitsTensorCores(transformer::PagedAttentionOp op,
                           const TensorDevice &device) {
  return AttentionScore::isOfProduct(op) &&
         suitsDevice(op.getCache().getType(), op.getQuery(), device);
}

bool tfc::suitsTensorCores(transformer::PagedLatentOp op,
                           const TensorDevice &device) {
  return suitsDevice(op.getCache().getType(), op.getQuery(), device);
}

namespace {

/// The loops of one op.
class TensorLoops {
public:
  TensorLoops(transformer::PagedAttentionOp op, const DeviceCache &cache,
              Value step, const TensorDevice &device, OpBuilder &builder)
      : op(op), cache(cache), step(step), device(device), builder(builder),
        isWide(!suitsTensorTiles(op.getCache().getType())) {}

  void emitFew();
  void emitMany();

private:
  void emitLoop(AttentionBlock &block, bool isFew,
                AttentionParts *parts = nullptr, Value numBlocks = Value());

  transformer::PagedAttentionOp op;
  const DeviceCache &cache;
  Value step;
  const TensorDevice &device;
  OpBuilder &builder;
  bool isWide;
};

} // namespace

void TensorLoops::emitLoop(AttentionBlock &block, bool isFew,
                           AttentionParts *parts, Value numBlocks) {
  if (!isWide) {
    emitTensorAttention(block, parts, numBlocks);
    return;
  }
  std::optional<WideForm> form =
      WideForm::find(op.getCache().getType(), device.sharedBytes,
                     isFew ? kFewFragments : kManyFragments);
  WideAttention(block, *form, isFew, parts, numBlocks).emit();
}

/// The items of few queries, if there may be one.
void TensorLoops::emitFew() {
  AttentionBlock block(op, cache, step, /*isShared=*/true, /*isGroup=*/false,
                       builder, isWide);
  if (block.fewQueries() == 0) {
    return;
  }
  StepItems items(block.k, step, kTensorQueryRows);
  block.k.when(items.mayHaveFew(block.fewQueries()), [&] {
    // An encoder's sequences have few queries where they are short.
    if (op.getCache().getType().isScratch()) {
      emitLoop(block, /*isFew=*/true);
      return;
    }
    AttentionParts parts(block, AttentionParts::allocate(block, step));
    Value numBlocks = AttentionParts::countBlocks(block, step);
    emitLoop(block, /*isFew=*/true, &parts, numBlocks);
    CombineParts(block, parts).emit();
  });
}

/// The others, if there may be one.
void TensorLoops::emitMany() {
  bool isGroup =
      !isWide && device.hasWarpgroups && WarpgroupTiles::suits(cache.headDim);
  AttentionBlock block(op, cache, step, /*isShared=*/isWide, isGroup, builder,
                       isWide);
  StepItems items(block.k, step, kTensorQueryRows);
  block.k.when(items.mayHaveMany(block.fewQueries()),
               [&] { emitLoop(block, /*isFew=*/false); });
}

void tfc::expandTensorAttention(transformer::PagedAttentionOp op,
                                const DeviceCache &cache, Value step,
                                const TensorDevice &device,
                                RewriterBase &rewriter) {
  TensorLoops loops(op, cache, step, device, rewriter);
  rewriter.setInsertionPoint(op);
  loops.emitFew();
  rewriter.setInsertionPoint(op);
  loops.emitMany();
  rewriter.eraseOp(op);
}

/// All heads share the one of keys. The op is never seen by a verifier, which
/// would ask for values as wide as keys.
void tfc::expandTensorAttention(transformer::PagedLatentOp op,
                                const DeviceCache &cache, Value step,
                                const TensorDevice &device,
                                RewriterBase &rewriter) {
  expandLatentRows(op, cache, step, rewriter);
  rewriter.setInsertionPoint(op);
  Value scale = arith::ConstantOp::create(
      rewriter, op.getLoc(),
      rewriter.getF32FloatAttr(op.getScale().convertToDouble()));
  auto attention = transformer::PagedAttentionOp::create(
      rewriter, op.getLoc(), /*result=*/Type(), op.getQuery(), scale,
      op.getCache(), op.getLayer(), op.getBatch(), /*bias=*/Value(),
      /*left=*/Value(), /*right=*/Value(), /*slopes=*/Value(),
      /*sinks=*/Value(), /*relative_keys=*/Value(),
      /*relative_queries=*/Value(), /*relative_values=*/Value(),
      /*distance_rows=*/Value(), /*query_bias=*/Value(),
      /*relative_bias=*/Value(), /*segments=*/Value(),
      /*segment_bias=*/Value(), /*types=*/Value(), /*unseen=*/Value(),
      op.getInit(), transformer::Mask::Causal, op.getNumHeads(),
      /*cap=*/FloatAttr(),
      /*log_base=*/FloatAttr(), /*rounded_slopes=*/false,
      /*sparse_block=*/IntegerAttr(), /*random_blocks=*/IntegerAttr(),
      /*blocks_before=*/IntegerAttr(), /*blocks_after=*/IntegerAttr(),
      /*factors=*/TypeAttr());
  rewriter.eraseOp(op);
  expandTensorAttention(attention, cache, step, device, rewriter);
}
