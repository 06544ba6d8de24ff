// Paged attention over keys and values of 16 bits, by tensor cores: 64 queries
// of a head, or the few of a step, and 64 positions at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/TensorAttention.h"

#include "compiler/gpu/AsyncCopies.h"
#include "compiler/gpu/AttentionParts.h"
#include "compiler/gpu/CombineParts.h"
#include "compiler/gpu/FragmentScores.h"
#include "compiler/gpu/FragmentSoftmax.h"
#include "compiler/gpu/WarpMerge.h"
#include "compiler/host/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

/// Shared memory that a kernel has without asking the driver for more.
static constexpr int64_t kSharedBytes = 48 << 10;
/// The state space of shared memory in pointers and buffers.
static constexpr unsigned kSharedSpace = 3;

namespace {

/// The loop over items, heads and threads, or items, heads, parts and threads,
/// and the one over tiles of positions.
class TensorAttention {
public:
  /// Items are cut where there are `parts`.
  TensorAttention(AttentionBlock &block, AttentionParts *parts)
      : block(block), parts(parts), k(block.k), b(block.b), scores(block),
        softmax(block) {}

  void emit();

private:
  Value allocateShared();
  Value buildRange(const WorkItem &item, Value head);
  void emitBlock(const WorkItem &item, Value head);
  RowState addTile(const WorkItem &item, Value begin, ValueRange state);
  void askFor(const WorkItem &item, Value begin, bool areKeys);
  void storeRows(const RowState &state);

  AttentionBlock &block;
  AttentionParts *parts;
  KernelBuilder &k;
  ImplicitLocOpBuilder &b;
  FragmentScores scores;
  FragmentSoftmax softmax;

  Value memory;     // shared
  Value begin, end; // what the block's rows see
  std::optional<KeyTiles> tiles;
};

} // namespace

Value TensorAttention::allocateShared() {
  auto type =
      MemRefType::get({KeyTiles::bytesOf(block.cache.headDim)}, b.getI8Type(),
                      AffineMap(), b.getI64IntegerAttr(kSharedSpace));
  Value buffer = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(128));
  Value address = arith::IndexCastOp::create(
      b, b.getI64Type(),
      memref::ExtractAlignedPointerAsIndexOp::create(b, buffer));
  return LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace), address);
}

void TensorAttention::emit() {
  int64_t heads = block.op.getNumHeads();
  SmallVector<int64_t> axes = {block.isShared ? heads / block.group : heads,
                               KeyTiles::kThreads};
  if (parts) {
    axes.insert(axes.begin() + 1, AttentionParts::kMost);
  }
  k.forEachPlace(block.cache, axes,
                 [&](const WorkItem &item, ValueRange places) {
                   memory = allocateShared();
                   block.beginThread(places.back());
                   block.part = parts ? places[1] : Value();
                   // As a block: items of the other loop, and parts that there
                   // are not.
                   k.when(buildRange(item, places.front()),
                          [&] { emitBlock(item, places.front()); });
                 });
}

/// What the block's rows see, and whether there is something for it to do.
Value TensorAttention::buildRange(const WorkItem &item, Value head) {
  Value isOwn = block.isFew(item);
  if (!block.isShared) {
    isOwn = arith::XOrIOp::create(
        b, isOwn, arith::ConstantOp::create(b, b.getBoolAttr(true)));
  }
  std::tie(begin, end) = block.seenBy(item);
  if (parts) {
    parts->cut(item, head, begin, end);
    isOwn = arith::AndIOp::create(b, isOwn, parts->isSome(block.part));
    begin = k.max(begin, parts->beginOf(block.part));
    end = k.min(end, parts->beginOf(k.add(block.part, 1)));
  }
  return isOwn;
}

void TensorAttention::emitBlock(const WorkItem &item, Value head) {
  block.beginRows(item, head);
  scores.loadQueries();
  tiles.emplace(k, block.cache, memory, block.thread, block.lanes.lane);
  Value first =
      k.scale(k.divide(begin, KeyTiles::kPositions), KeyTiles::kPositions);
  askFor(item, first, /*areKeys=*/true);
  RowState state = RowState::unpack(
      k.loop(first, end, KeyTiles::kPositions, softmax.begin().pack(),
             [&](Value begin, ValueRange state) {
               return addTile(item, begin, state).pack();
             }));
  softmax.finish(state);
  if (!block.isShared) {
    storeRows(state);
    return;
  }
  // Whoever reads the last tile is done: its memory is free.
  gpu::BarrierOp::create(b);
  WarpMerge(block, memory).emit(state, item, head, parts);
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
  if (areKeys) {
    tiles->copyKeys(cache.keys(k, address, block.kvHead), from, to);
  } else {
    tiles->copyValues(cache.values(k, address, block.kvHead), from, to);
  }
  commitCopies(b);
}

/// Values come while scores are computed, the next keys while they are used.
RowState TensorAttention::addTile(const WorkItem &item, Value first,
                                  ValueRange values) {
  RowState state = RowState::unpack(values);
  waitForCopies(b, 0);
  gpu::BarrierOp::create(b);
  askFor(item, first, /*areKeys=*/false);
  SmallVector<SumFragment> weights = scores.build(*tiles, first);
  waitForCopies(b, 0);
  gpu::BarrierOp::create(b);
  askFor(item, k.add(first, KeyTiles::kPositions), /*areKeys=*/true);
  softmax.addTile(state, weights, *tiles);
  return state;
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

bool tfc::suitsTensorCores(transformer::CacheType type) {
  return !type.getElementType().isF32() && type.getHeadDim() % 16 == 0 &&
         KeyTiles::bytesOf(type.getHeadDim()) <= kSharedBytes;
}

bool tfc::suitsTensorCores(transformer::PagedAttentionOp op) {
  transformer::CacheType type = op.getCache().getType();
  Type query = cast<MemRefType>(op.getQuery().getType()).getElementType();
  return suitsTensorCores(type) && query == type.getElementType();
}

/// The items of few queries, if there may be one: the host knows how many
/// tokens and sequences there are, and that a sequence's last item has the
/// rest.
static void expandFew(AttentionBlock &block, Value step) {
  KernelBuilder &k = block.k;
  ImplicitLocOpBuilder &b = block.b;
  Value tokens = loadIndex(b, step, offsetof(tfc_step_v0, n_tokens), 64);
  Value sequences = loadIndex(b, step, offsetof(tfc_step_v0, n_sequences), 64);
  Value last = k.remainder(k.subtract(tokens, k.constant(1)), kTensorQueryRows);
  Value isSome =
      arith::OrIOp::create(b, k.isLess(k.constant(1), sequences),
                           k.isLess(last, k.constant(block.fewQueries())));
  k.when(isSome, [&] {
    // An encoder's sequences have few queries where they are short.
    if (block.op.getCache().getType().isScratch()) {
      TensorAttention(block, nullptr).emit();
      return;
    }
    AttentionParts parts(block, AttentionParts::allocate(block, step));
    TensorAttention(block, &parts).emit();
    CombineParts(block, parts).emit();
  });
}

/// The others: no item has more tokens than there are beside one for each of
/// the other items.
static void expandMany(AttentionBlock &block, Value step) {
  KernelBuilder &k = block.k;
  ImplicitLocOpBuilder &b = block.b;
  Value tokens = loadIndex(b, step, offsetof(tfc_step_v0, n_tokens), 64);
  Value items = loadIndex(b, step, offsetof(tfc_step_v0, n_items), 64);
  Value most = k.subtract(tokens, k.subtract(items, k.constant(1)));
  k.when(k.isLess(k.constant(block.fewQueries()), most),
         [&] { TensorAttention(block, nullptr).emit(); });
}

void tfc::expandTensorAttention(transformer::PagedAttentionOp op,
                                const DeviceCache &cache, Value step,
                                RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  AttentionBlock few(op, cache, step, /*isShared=*/true, rewriter);
  if (few.fewQueries() != 0) {
    expandFew(few, step);
  }
  rewriter.setInsertionPoint(op);
  AttentionBlock many(op, cache, step, /*isShared=*/false, rewriter);
  expandMany(many, step);
  rewriter.eraseOp(op);
}
