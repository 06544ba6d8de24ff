// Paged attention over keys and values of 16 bits, by tensor cores: 64 queries
// of a head, or the few of a step, and 64 positions at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/TensorAttention.h"

#include "compiler/gpu/attention/FragmentScores.h"
#include "compiler/gpu/attention/FragmentSoftmax.h"
#include "compiler/gpu/attention/WarpMerge.h"
#include "compiler/gpu/attention/WarpgroupTiles.h"
#include "compiler/gpu/product/WarpgroupMatrices.h"
#include "compiler/gpu/thread/AsyncCopies.h"
#include "compiler/gpu/thread/SharedMemory.h"
#include "compiler/kernel/StepFields.h"
#include "compiler/support/DeviceKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

/// Blocks of a part that a multiprocessor is to have registers for at once, so
/// that memory is asked for enough; and up to which width they suffice.
static constexpr int32_t kBlocksAtOnce = 3;
static constexpr int64_t kColumnsOfThree = 128;

namespace {

/// The loop over items, heads and threads, or items, heads, parts and threads,
/// and the one over tiles of positions.
class TensorAttention {
public:
  /// Items are cut where there are `parts`, which `numBlocks` share out.
  explicit TensorAttention(AttentionBlock &block,
                           AttentionParts *parts = nullptr,
                           Value numBlocks = Value())
      : block(block), parts(parts), numBlocks(numBlocks), k(block.k),
        b(block.b), scores(block), softmax(block) {}

  void emit();

private:
  void emitItem(const WorkItem &item, Value head);
  void emitParts(const WorkItem &item, Value head, Value first);
  void beginItem(const WorkItem &item, Value head);
  RowState addTiles(const WorkItem &item);
  RowState addTile(const WorkItem &item, Value begin, ValueRange state);
  std::array<Value, 2>
  weigh(RowState &state, SmallVectorImpl<SumFragment> &products, Value first);
  void askFor(const WorkItem &item, Value begin, bool areKeys);
  void waitForTile();
  void storeRows(const RowState &state);

  AttentionBlock &block;
  AttentionParts *parts;
  Value numBlocks;
  KernelBuilder &k;
  ImplicitLocOpBuilder &b;
  FragmentScores scores;
  FragmentSoftmax softmax;

  Value memory;     // shared
  Value begin, end; // of what the block's rows see, or see in its part
  Value innerBegin, innerEnd; // of what each of them sees
  std::optional<KeyTiles> tiles;
  std::optional<WarpgroupTiles> group; // in their place, with isGroup
};

} // namespace

void TensorAttention::emit() {
  int64_t heads = block.op.getNumHeads();
  KernelBuilder::Values axes = {
      k.constant(block.isShared ? heads / block.group : heads),
      k.constant(KeyTiles::kThreads)};
  if (parts) {
    axes.insert(axes.begin() + 1, numBlocks);
  }
  k.forEachPlace(
      block.cache, axes, [&](const WorkItem &item, ValueRange places) {
        if (parts && block.cache.headDim <= kColumnsOfThree) {
          b.getInsertionBlock()->getParentOp()->setAttr(
              NVVM::NVVMDialect::getMinctasmAttrName(),
              b.getI32IntegerAttr(kBlocksAtOnce));
        }
        if (!block.isShared) {
          b.getInsertionBlock()->getParentOp()->setAttr(kBeginsAloneAttrName,
                                                        b.getUnitAttr());
        }
        int64_t headDim = block.cache.headDim;
        memory = block.isGroup
                     ? allocateShared(b, WarpgroupTiles::bytesOf(headDim),
                                      kSwizzleBytes)
                     : allocateShared(b, KeyTiles::bytesOf(headDim), 128);
        block.beginThread(places.back());
        // Items of the other loop are not for this one, as a block.
        Value isOwn = block.isFew(item);
        if (!block.isShared) {
          isOwn = arith::XOrIOp::create(
              b, isOwn, arith::ConstantOp::create(b, b.getBoolAttr(true)));
        }
        std::tie(begin, end) = block.score.seenBy(item);
        std::tie(innerBegin, innerEnd) = block.seenByAll(item);
        if (!parts) {
          k.when(isOwn, [&] { emitItem(item, places.front()); });
          return;
        }
        parts->cut(item, places.front(), begin, end);
        isOwn = arith::AndIOp::create(b, isOwn, parts->isSome(places[1]));
        k.when(isOwn, [&] { emitParts(item, places.front(), places[1]); });
      });
}

void TensorAttention::emitItem(const WorkItem &item, Value head) {
  beginItem(item, head);
  RowState state = addTiles(item);
  if (block.isShared) {
    gpu::BarrierOp::create(b);
    WarpMerge(block, memory).emit(state, item, head, nullptr);
  } else {
    storeRows(state);
  }
}

/// The parts from `first` on that are the block's.
void TensorAttention::emitParts(const WorkItem &item, Value head, Value first) {
  auto loop = scf::ForOp::create(b, first, k.constant(AttentionParts::kMost),
                                 numBlocks);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  block.part = loop.getInductionVar();
  Value begins = begin, ends = end;
  k.when(parts->isSome(block.part), [&] {
    beginItem(item, head);
    begin = k.max(begin, parts->beginOf(block.part));
    end = k.min(end, parts->beginOf(k.add(block.part, 1)));
    RowState state = addTiles(item);
    // Whoever reads the last tile is done, and then whoever reads the sums: the
    // memory is free.
    gpu::BarrierOp::create(b);
    WarpMerge(block, memory).emit(state, item, head, parts);
    gpu::BarrierOp::create(b);
  });
  begin = begins;
  end = ends;
}

void TensorAttention::beginItem(const WorkItem &item, Value head) {
  block.beginRows(item, head);
  if (block.isGroup) {
    group.emplace(block, memory);
    group->storeQueries(item, head);
    return;
  }
  scores.loadQueries();
  tiles.emplace(k, block.cache, memory, block.thread, block.lanes.lane);
}

/// Over what the block sees, from the first tile to the last.
RowState TensorAttention::addTiles(const WorkItem &item) {
  Value first =
      k.scale(k.divide(begin, KeyTiles::kPositions), KeyTiles::kPositions);
  askFor(item, first, /*areKeys=*/true);
  RowState state =
      RowState::unpack(k.loop(first, end, KeyTiles::kPositions,
                              softmax.begin(block.cache.headDim).pack(),
                              [&](Value begin, ValueRange state) {
                                return addTile(item, begin, state).pack();
                              }));
  softmax.finish(state);
  return state;
}

/// The tile at `first`, if there is one: what no row sees is zero.
void TensorAttention::askFor(const WorkItem &item, Value first, bool areKeys) {
  auto branch = scf::IfOp::create(b, k.isLess(first, end));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  const DeviceCache &cache = block.cache;
  Value address = k.blockAddress(
      cache, item, k.divide(first, KeyTiles::kPositions), block.op.getLayer());
  Value from = k.subtract(begin, first), to = k.subtract(end, first);
  Value source = areKeys ? cache.keys(k, address, block.kvHead)
                         : cache.values(k, address, block.kvHead);
  if (block.isGroup) {
    areKeys ? group->copyKeys(source, from, to)
            : group->copyValues(source, from, to);
  } else {
    areKeys ? tiles->copyKeys(source, from, to)
            : tiles->copyValues(source, from, to);
  }
  commitCopies(b);
}

/// Values come while scores are computed, the next keys while they are used.
RowState TensorAttention::addTile(const WorkItem &item, Value first,
                                  ValueRange values) {
  RowState state = RowState::unpack(values);
  waitForTile();
  askFor(item, first, /*areKeys=*/false);
  SmallVector<SumFragment> weights =
      block.isGroup ? group->multiplyKeys() : scores.multiply(*tiles);
  std::array<Value, 2> decay = weigh(state, weights, first);
  waitForTile();
  askFor(item, k.add(first, KeyTiles::kPositions), /*areKeys=*/true);
  if (block.isGroup) {
    softmax.addValues(state, decay, weights, *group);
  } else {
    softmax.addValues(state, decay, weights, *tiles);
  }
  return state;
}

/// What all threads have asked for is there, and what they read before is free.
void TensorAttention::waitForTile() {
  waitForCopies(b, 0);
  if (block.isGroup) {
    showProducts(b);
  }
  gpu::BarrierOp::create(b);
}

/// Most tiles are seen whole by all rows: nothing has to be masked there.
std::array<Value, 2>
TensorAttention::weigh(RowState &state, SmallVectorImpl<SumFragment> &products,
                       Value first) {
  Value behind = k.add(first, KeyTiles::kPositions);
  Value isWhole = arith::AndIOp::create(
      b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, first, innerBegin),
      arith::CmpIOp::create(b, arith::CmpIPredicate::sle, behind, innerEnd));
  auto weighAs = [&](bool isMasked) {
    RowState own = state;
    SmallVector<SumFragment> weights(products.begin(), products.end());
    scores.build(weights, first, isMasked);
    std::array<Value, 2> decay = softmax.weigh(own, weights, isMasked);
    KernelBuilder::Values all;
    for (const SumFragment &weight : weights) {
      all.append(weight.begin(), weight.end());
    }
    for (const auto &two : {own.highest, own.total, decay}) {
      all.append(two.begin(), two.end());
    }
    scf::YieldOp::create(b, all);
  };
  SmallVector<Type> types(4 * products.size() + 6, b.getF32Type());
  auto branch = scf::IfOp::create(b, types, isWhole, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    weighAs(/*isMasked=*/false);
    b.setInsertionPointToStart(branch.elseBlock());
    weighAs(/*isMasked=*/true);
  }
  ValueRange results = branch.getResults();
  for (SumFragment &weight : products) {
    llvm::copy(results.take_front(4), weight.begin());
    results = results.drop_front(4);
  }
  state.highest = {results[0], results[1]};
  state.total = {results[2], results[3]};
  return {results[4], results[5]};
}

void TensorAttention::storeRows(const RowState &state) {
  auto type = VectorType::get(2, b.getF32Type());
  for (auto [half, row] : llvm::enumerate(block.rows)) {
    auto branch = scf::IfOp::create(b, row.isOwn);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value share = arith::DivFOp::create(b, k.number(1), state.total[half]);
    for (auto [n, sum] : llvm::enumerate(state.sums)) {
      KernelBuilder::Values means;
      for (int64_t i = 0; i < 2; ++i) {
        means.push_back(arith::MulFOp::create(b, sum[2 * half + i], share));
      }
      block.storeColumns(vector::FromElementsOp::create(b, type, means), row,
                         k.add(block.pair, n * 8));
    }
  }
}

bool tfc::suitsTensorTiles(transformer::CacheType type) {
  return !type.isLatent() && !type.getElementType().isF32() &&
         type.getHeadDim() % 16 == 0 &&
         KeyTiles::bytesOf(type.getHeadDim()) <= kPlainSharedBytes;
}

void tfc::emitTensorAttention(AttentionBlock &block, AttentionParts *parts,
                              Value numBlocks) {
  TensorAttention(block, parts, numBlocks).emit();
}
