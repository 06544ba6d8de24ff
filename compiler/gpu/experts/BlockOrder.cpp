// 32 pairs at a time: lanes with the same expert find each other by votes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/experts/BlockOrder.h"

#include "compiler/gpu/thread/WarpBuilder.h"
#include "compiler/kernel/ExpandExperts.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

/// Of the block, which a kernel of loops has (tfc-outline-threads).
static constexpr int64_t kWarps = 4;
static constexpr int64_t kThreads = kWarps * WarpBuilder::kLanes;
/// Counters of a warp, at most: 32 KB of shared memory.
static constexpr int64_t kMaxExperts = 2048;
/// Pairs that are few: a thread reads them sooner than a block has met thrice.
static constexpr int64_t kFewPairs = 256;

namespace {

class BlockOrder {
public:
  BlockOrder(transformer::SortByExpertOp op, OpBuilder &builder)
      : op(op), k(op.getLoc(), builder, Value()), b(k.builder()), warp(k),
        experts(static_cast<int64_t>(op.getExperts())),
        perToken(transformer::widthOf(op.getIds())) {
    Value rows = memref::DimOp::create(b, op.getIds(), 0);
    pairs = k.scale(rows, perToken);
  }

  void emit();
  Value countPairs() { return pairs; }

private:
  /// A lane's pair, if it has one, and who has the same expert.
  struct Pair {
    Value number, isThere, expert; // the expert an index
    Value before, count;           // i32: of lower lanes, of all
  };

  void clearCounts();
  void forEachPair(function_ref<void(const Pair &)> body);
  Value findAlike(Value expert);
  void addCounts(const Pair &pair);
  void findBegins();
  void placePair(const Pair &pair);

  Value word(int64_t value) {
    return arith::ConstantIntOp::create(b, value, 32);
  }
  Value countOnes(Value mask) { return LLVM::CtPopOp::create(b, mask); }
  Value counterOf(Value warp, Value expert) {
    return k.add(k.scale(warp, experts), expert);
  }
  Value toWord(Value index) {
    return arith::IndexCastOp::create(b, b.getI32Type(), index);
  }
  /// What the lanes of the warp wrote, all of them may read.
  void meet() { NVVM::SyncWarpOp::create(b, word(-1)); }

  transformer::SortByExpertOp op;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  WarpBuilder warp;
  int64_t experts, perToken;
  Value pairs;
  Value thread, warpNumber, counts; // [warps x experts] in shared memory
};

} // namespace

void BlockOrder::clearCounts() {
  k.loop(thread, k.constant(kWarps * experts), kThreads, [&](Value place) {
    memref::StoreOp::create(b, word(0), counts, place);
  });
}

/// The lanes whose expert is this one's, by its digits.
Value BlockOrder::findAlike(Value expert) {
  Value alike = word(-1);
  // There is one more, of lanes without a pair.
  for (unsigned digit = 0; digit < llvm::Log2_64_Ceil(experts + 1); ++digit) {
    Value one = arith::AndIOp::create(b, expert, word(int64_t(1) << digit));
    Value isOne =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, one, word(0));
    Value ones = NVVM::VoteSyncOp::create(b, b.getI32Type(), word(-1), isOne,
                                          NVVM::VoteSyncKind::ballot);
    Value zeros = arith::XOrIOp::create(b, ones, word(-1));
    Value same = arith::SelectOp::create(b, isOne, ones, zeros);
    alike = arith::AndIOp::create(b, alike, same);
  }
  return alike;
}

/// Those of the warp's part, in order.
void BlockOrder::forEachPair(function_ref<void(const Pair &)> body) {
  Value own = k.scale(k.roundUpDivide(pairs, kThreads), WarpBuilder::kLanes);
  Value begin = arith::MulIOp::create(b, warpNumber, own);
  Value end = k.min(k.add(begin, own), pairs);
  Value lower = arith::SubIOp::create(
      b, arith::ShLIOp::create(b, word(1), toWord(warp.lane)), word(1));
  k.loop(begin, end, WarpBuilder::kLanes, [&](Value first) {
    Pair pair;
    pair.number = k.add(first, warp.lane);
    pair.isThere = k.isLess(pair.number, end);
    Value number = k.min(pair.number, k.subtract(pairs, k.constant(1)));
    Value place[] = {k.divide(number, perToken), k.remainder(number, perToken)};
    Value expert = arith::SelectOp::create(
        b, pair.isThere, memref::LoadOp::create(b, op.getIds(), place),
        word(experts));
    Value alike = findAlike(expert);
    pair.before = countOnes(arith::AndIOp::create(b, alike, lower));
    pair.count = countOnes(alike);
    pair.expert = arith::IndexCastOp::create(b, b.getIndexType(), expert);
    body(pair);
  });
}

/// The first lane of an expert counts for all.
void BlockOrder::addCounts(const Pair &pair) {
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, pair.before, word(0));
  k.when(arith::AndIOp::create(b, isFirst, pair.isThere), [&] {
    Value place = counterOf(warpNumber, pair.expert);
    Value before = memref::LoadOp::create(b, counts, place);
    Value after = arith::AddIOp::create(b, before, pair.count);
    memref::StoreOp::create(b, after, counts, place);
  });
  meet();
}

/// counts[warp][expert] = where the first of them goes: behind those of the
/// experts before, and behind those that earlier warps have of it.
void BlockOrder::findBegins() {
  k.loop(
      k.constant(0), k.constant(experts), WarpBuilder::kLanes, {word(0)},
      [&](Value first, ValueRange before) -> Values {
        Value expert = k.add(first, warp.lane);
        Value isThere = k.isLess(expert, k.constant(experts));
        Value own = k.min(expert, k.constant(experts - 1));
        Values parts;
        Value sum = word(0);
        for (int64_t w = 0; w < kWarps; ++w) {
          Value count =
              memref::LoadOp::create(b, counts, counterOf(k.constant(w), own));
          parts.push_back(arith::SelectOp::create(b, isThere, count, word(0)));
          sum = arith::AddIOp::create(b, sum, parts.back());
        }
        Value upTo = warp.sumUpTo(sum);
        Value begin = arith::AddIOp::create(
            b, before[0], arith::SubIOp::create(b, upTo, sum));
        // Lanes without an expert have read what is another's.
        meet();
        k.when(isThere, [&] {
          for (int64_t w = 0; w < kWarps; ++w) {
            memref::StoreOp::create(b, begin, counts,
                                    counterOf(k.constant(w), own));
            begin = arith::AddIOp::create(b, begin, parts[w]);
          }
        });
        Value all = warp.valueOf(upTo, k.constant(WarpBuilder::kLanes - 1));
        return {arith::AddIOp::create(b, before[0], all)};
      });
}

void BlockOrder::placePair(const Pair &pair) {
  k.when(pair.isThere, [&] {
    Value begin =
        memref::LoadOp::create(b, counts, counterOf(warpNumber, pair.expert));
    Value place = arith::AddIOp::create(b, begin, pair.before);
    Value at = arith::IndexCastOp::create(b, b.getIndexType(), place);
    Value row = k.divide(pair.number, perToken);
    memref::StoreOp::create(b, toWord(row), op.getRows(), at);
    memref::StoreOp::create(b, toWord(pair.expert), op.getSorted(), at);
    Value from[] = {row, k.remainder(pair.number, perToken)};
    memref::StoreOp::create(b, place, op.getPlaces(), from);
  });
  // All of them have read what the first one changes.
  meet();
  addCounts(pair);
}

void BlockOrder::emit() {
  auto loop = scf::ParallelOp::create(b, ValueRange{k.constant(0)},
                                      ValueRange{k.constant(kThreads)},
                                      ValueRange{k.constant(1)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  thread = loop.getInductionVars()[0];
  warpNumber = k.divide(thread, WarpBuilder::kLanes);
  warp.lane = k.remainder(thread, WarpBuilder::kLanes);
  auto type = MemRefType::get({kWarps * experts}, b.getI32Type(), AffineMap(),
                              b.getI64IntegerAttr(3));
  counts = memref::AllocaOp::create(b, type);
  clearCounts();
  gpu::BarrierOp::create(b);
  forEachPair([&](const Pair &pair) { addCounts(pair); });
  gpu::BarrierOp::create(b);
  k.when(k.isEqual(warpNumber, k.constant(0)), [&] { findBegins(); });
  gpu::BarrierOp::create(b);
  forEachPair([&](const Pair &pair) { placePair(pair); });
}

bool tfc::fitsBlock(transformer::SortByExpertOp op) {
  return static_cast<int64_t>(op.getExperts()) <= kMaxExperts;
}

void tfc::expandBlockOrder(transformer::SortByExpertOp op,
                           RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  BlockOrder order(op, b);
  Value isFew =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ule, order.countPairs(),
                            arith::ConstantIndexOp::create(b, kFewPairs));
  auto branch = scf::IfOp::create(b, isFew, /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  auto few = cast<transformer::SortByExpertOp>(rewriter.clone(*op));
  expandSortByExpert(few, /*inTurns=*/false, rewriter);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  BlockOrder(op, rewriter).emit();
  rewriter.eraseOp(op);
}
