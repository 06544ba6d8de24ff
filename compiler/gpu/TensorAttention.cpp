// Paged attention over keys and values of 16 bits, by tensor cores: 64 queries
// of a head, or the few of a step, and 64 positions at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/TensorAttention.h"

#include "compiler/gpu/AsyncCopies.h"
#include "compiler/gpu/KeyTiles.h"
#include "compiler/gpu/PowerOfTwo.h"
#include "compiler/gpu/WarpBuilder.h"
#include "compiler/host/NarrowFloat.h"
#include "compiler/host/StepFields.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

/// Shared memory that a kernel has without asking the driver for more.
static constexpr int64_t kSharedBytes = 48 << 10;
/// The state space of shared memory in pointers and buffers.
static constexpr unsigned kSharedSpace = 3;
/// Rows of a fragment, and positions of a tile that warps share out.
static constexpr int64_t kRows = 16;
static constexpr int64_t kWarps = KeyTiles::kThreads / WarpBuilder::kLanes;
/// Softmax goes by powers of two.
static constexpr double kLog2E = 1.4426950408889634;

namespace {

/// A row of a fragment: a query of a head, which sees [first, end). Rows beyond
/// the item's repeat one of it and are not written.
struct FragmentRow {
  Value isOwn, token, head, position, first, end, scale;
};

/// What a thread has of its two rows: the greatest score so far, in powers of
/// two, its part of the total of weights, and of the sums of values the pairs
/// of columns that a fragment of sums has.
struct RowState {
  std::array<Value, 2> highest, total;
  SmallVector<SumFragment> sums;

  static RowState unpack(ValueRange values);
  Values pack() const;
};

class TensorAttention {
public:
  /// With `isShared` all warps have the same rows and share out positions.
  TensorAttention(transformer::PagedAttentionOp op, const DeviceCache &cache,
                  Value step, bool isShared, OpBuilder &builder)
      : op(op), k(op.getLoc(), builder, step), b(k.builder()), cache(cache),
        lanes(k), isShared(isShared),
        group(op.getNumHeads() / op.getCache().getType().getKvHeads()) {}

  void emit();

private:
  void emitBlock(const WorkItem &item, Value head);
  FragmentRow makeRow(const WorkItem &item, Value head, Value number);
  void loadQueries();
  RowState beginState();
  RowState addTile(const WorkItem &item, Value begin, ValueRange state);
  /// Scores of the tile at `begin`, in powers of two, for each eight positions;
  /// the lowest number where a row does not see.
  SmallVector<SumFragment> buildScores(Value begin);
  Value finishScore(Value sum, const FragmentRow &row, Value position);
  /// Makes weights of the scores.
  void updateSoftmax(RowState &state, SmallVectorImpl<SumFragment> &scores);
  void addValues(RowState &state, ArrayRef<SumFragment> weights);
  void askFor(const WorkItem &item, Value begin, bool areKeys);
  void storeRows(const RowState &state);
  /// What the warps have, put together.
  void mergeWarps(RowState &state, const WorkItem &item, Value head);
  void storePair(Value pair, const FragmentRow &row, Value column);

  Value pairOf(Value x, Value y);
  Value sumOfFour(Value value);
  Value larger(Value x, Value y);
  Value isEqual(Value x, int64_t y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, k.constant(y));
  }
  Value lowest() { return k.number(std::numeric_limits<float>::lowest()); }
  /// Positions of a tile that a warp takes, eight at a time.
  int64_t numEights() const {
    return (isShared ? KeyTiles::kPositions / kWarps : KeyTiles::kPositions) /
           8;
  }
  Value inTile(int64_t position) {
    return isShared ? k.add(k.scale(warp, kRows), position)
                    : k.constant(position);
  }

  transformer::PagedAttentionOp op;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  const DeviceCache &cache;
  WarpBuilder lanes;
  bool isShared;
  int64_t group; // heads that share keys

  Value memory;             // shared
  Value thread, warp, pair; // pair: of columns in a fragment
  Value eighth;             // the thread's first row in a fragment
  Value kvHead, begin, end; // what the block's rows see
  std::array<FragmentRow, 2> rows;
  SmallVector<LeftFragment> queries;
  std::optional<KeyTiles> tiles;
};

} // namespace

RowState RowState::unpack(ValueRange values) {
  RowState state;
  state.highest = {values[0], values[1]};
  state.total = {values[2], values[3]};
  for (values = values.drop_front(4); !values.empty();
       values = values.drop_front(4)) {
    state.sums.push_back({values[0], values[1], values[2], values[3]});
  }
  return state;
}

Values RowState::pack() const {
  Values values = {highest[0], highest[1], total[0], total[1]};
  for (const SumFragment &sum : sums) {
    values.append(sum.begin(), sum.end());
  }
  return values;
}

void TensorAttention::emit() {
  int64_t heads = op.getNumHeads();
  int64_t axes[] = {isShared ? heads / group : heads, KeyTiles::kThreads};
  k.forEachPlace(cache, axes, [&](const WorkItem &item, ValueRange places) {
    auto type =
        MemRefType::get({KeyTiles::bytesOf(cache.headDim)}, b.getI8Type(),
                        AffineMap(), b.getI64IntegerAttr(kSharedSpace));
    Value buffer = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(128));
    Value address = arith::IndexCastOp::create(
        b, b.getI64Type(),
        memref::ExtractAlignedPointerAsIndexOp::create(b, buffer));
    memory = LLVM::IntToPtrOp::create(
        b, LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace), address);
    thread = places.back();
    warp = k.divide(thread, WarpBuilder::kLanes);
    lanes.lane = k.remainder(thread, WarpBuilder::kLanes);
    // Items that the other loop does not take, as a block.
    Value isFew = k.isLess(item.rows, k.constant(kRows / group + 1));
    if (!isShared) {
      isFew = arith::XOrIOp::create(
          b, isFew, arith::ConstantOp::create(b, b.getBoolAttr(true)));
    }
    auto branch = scf::IfOp::create(b, isFew);
    b.setInsertionPointToStart(branch.thenBlock());
    emitBlock(item, places.front());
  });
}

void TensorAttention::emitBlock(const WorkItem &item, Value head) {
  eighth = k.divide(lanes.lane, 4);
  pair = k.scale(k.remainder(lanes.lane, 4), 2);
  kvHead = isShared ? head : k.divide(head, group);
  for (int64_t half = 0; half < 2; ++half) {
    Value number = k.add(eighth, half * 8);
    if (!isShared) {
      number = k.add(number, k.scale(warp, kRows));
    }
    rows[half] = makeRow(item, head, number);
  }
  loadQueries();
  begin = k.constant(0);
  end = k.visible(item, k.subtract(item.rows, k.constant(1)), op);
  if (op.getLeft()) {
    begin = k.min(k.firstVisible(item, begin, op), end);
  }
  tiles.emplace(k, cache, memory, thread, lanes.lane);
  Value first =
      k.scale(k.divide(begin, KeyTiles::kPositions), KeyTiles::kPositions);
  askFor(item, first, /*areKeys=*/true);
  RowState state = RowState::unpack(
      k.loop(first, end, KeyTiles::kPositions, beginState().pack(),
             [&](Value begin, ValueRange state) {
               return addTile(item, begin, state).pack();
             }));
  // Whoever reads the last tile is done: its memory is free.
  waitForCopies(b, 0);
  gpu::BarrierOp::create(b);
  for (Value &total : state.total) {
    total = sumOfFour(total);
  }
  if (isShared) {
    mergeWarps(state, item, head);
  } else {
    storeRows(state);
  }
}

FragmentRow TensorAttention::makeRow(const WorkItem &item, Value head,
                                     Value number) {
  FragmentRow row;
  Value query = number;
  row.head = head;
  if (isShared) {
    query = k.divide(number, group);
    row.head = k.add(k.scale(head, group), k.remainder(number, group));
  }
  row.isOwn = k.isLess(query, item.rows);
  query = k.min(query, k.subtract(item.rows, k.constant(1)));
  row.token = k.add(item.firstToken, k.add(item.firstRow, query));
  row.position = k.position(item, query);
  row.scale = k.scale(item, query, op);
  row.end = k.visible(item, query, op);
  if (op.getLeft()) {
    row.first = k.firstVisible(item, query, op);
  }
  return row;
}

/// Two numbers as a pair of elements of the cache's type.
Value TensorAttention::pairOf(Value x, Value y) {
  auto type = VectorType::get(2, b.getF32Type());
  Value both = vector::FromElementsOp::create(b, type, ValueRange{x, y});
  Value narrow =
      arith::TruncFOp::create(b, VectorType::get(2, cache.element), both);
  return LLVM::BitcastOp::create(b, b.getI32Type(), narrow);
}

void TensorAttention::loadQueries() {
  for (int64_t column = 0; column < cache.headDim; column += 16) {
    LeftFragment fragment;
    for (int64_t i = 0; i < 4; ++i) {
      const FragmentRow &row = rows[i % 2];
      Value place = k.add(k.scale(row.head, cache.headDim),
                          k.add(pair, column + i / 2 * 8));
      Value both = loadRowVector(k, op.getQuery(), row.token, place, 2);
      fragment[i] = pairOf(vector::ExtractOp::create(b, both, 0),
                           vector::ExtractOp::create(b, both, 1));
    }
    queries.push_back(fragment);
  }
}

/// A sink is a score without a value, which one thread counts.
RowState TensorAttention::beginState() {
  RowState state;
  for (int64_t half = 0; half < 2; ++half) {
    state.highest[half] = lowest();
    state.total[half] = k.number(0);
    if (op.getSinks()) {
      Value counts = isEqual(pair, 0);
      if (isShared) {
        counts = arith::AndIOp::create(b, counts, isEqual(warp, 0));
      }
      Value sink =
          memref::LoadOp::create(b, op.getSinks(), ValueRange{rows[half].head});
      state.highest[half] = arith::MulFOp::create(b, sink, k.number(kLog2E));
      state.total[half] =
          arith::SelectOp::create(b, counts, k.number(1), k.number(0));
    }
  }
  Value zero = k.number(0);
  state.sums.assign(cache.headDim / 8, {zero, zero, zero, zero});
  return state;
}

/// The tile at `begin`, if there is one: what no row sees is zero.
void TensorAttention::askFor(const WorkItem &item, Value first, bool areKeys) {
  auto branch = scf::IfOp::create(b, k.isLess(first, end));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value block = k.blockAddress(
      cache, item, k.divide(first, KeyTiles::kPositions), op.getLayer());
  Value from = k.subtract(begin, first), to = k.subtract(end, first);
  if (areKeys) {
    tiles->copyKeys(cache.keys(k, block, kvHead), from, to);
  } else {
    tiles->copyValues(cache.values(k, block, kvHead), from, to);
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
  SmallVector<SumFragment> scores = buildScores(first);
  waitForCopies(b, 0);
  gpu::BarrierOp::create(b);
  askFor(item, k.add(first, KeyTiles::kPositions), /*areKeys=*/true);
  updateSoftmax(state, scores);
  addValues(state, scores);
  return state;
}

SmallVector<SumFragment> TensorAttention::buildScores(Value first) {
  Value zero = k.number(0);
  SmallVector<SumFragment> scores(numEights(), {zero, zero, zero, zero});
  for (auto [step, query] : llvm::enumerate(queries)) {
    for (int64_t n = 0; n < numEights(); n += 2) {
      LeftFragment keys = tiles->loadKeys(inTile(n * 8), step * 16);
      for (int64_t i = 0; i < 2; ++i) {
        scores[n + i] =
            multiplyFragments(b, cache.element, query,
                              {keys[2 * i], keys[2 * i + 1]}, scores[n + i]);
      }
    }
  }
  Value own = k.add(first, pair);
  for (auto [n, fragment] : llvm::enumerate(scores)) {
    for (auto [e, score] : llvm::enumerate(fragment)) {
      const FragmentRow &row = rows[e / 2];
      Value position = k.add(own, inTile(n * 8 + e % 2));
      Value isSeen = k.isLess(position, row.end);
      if (op.getLeft()) {
        isSeen = arith::AndIOp::create(
            b, isSeen,
            arith::CmpIOp::create(b, arith::CmpIPredicate::sge, position,
                                  row.first));
      }
      score = arith::SelectOp::create(
          b, isSeen, finishScore(score, row, position), lowest());
    }
  }
  return scores;
}

/// scale * sum + bias + slope, capped, as a power of two.
Value TensorAttention::finishScore(Value sum, const FragmentRow &row,
                                   Value position) {
  Value toPower = k.number(kLog2E);
  if (!op.getBias() && !op.getSlopes() && !op.getCap()) {
    return arith::MulFOp::create(b, sum,
                                 arith::MulFOp::create(b, row.scale, toPower));
  }
  Value score = arith::MulFOp::create(b, sum, row.scale);
  Value distance = k.subtract(position, row.position);
  if (op.getBias()) {
    int64_t farthest = transformer::widthOf(op.getBias()) / 2;
    Value place = k.add(
        k.min(k.max(distance, k.constant(-farthest)), k.constant(farthest)),
        farthest);
    score = arith::AddFOp::create(
        b, score,
        memref::LoadOp::create(b, op.getBias(), ValueRange{row.head, place}));
  }
  if (op.getSlopes()) {
    Value steps = arith::SIToFPOp::create(
        b, b.getF32Type(),
        arith::IndexCastOp::create(b, b.getI32Type(), distance));
    Value slope =
        memref::LoadOp::create(b, op.getSlopes(), ValueRange{row.head});
    score =
        arith::AddFOp::create(b, score, arith::MulFOp::create(b, slope, steps));
  }
  return arith::MulFOp::create(b, k.capScore(score, op), toPower);
}

Value TensorAttention::larger(Value x, Value y) {
  Value isLarger = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y);
  return arith::SelectOp::create(b, isLarger, x, y);
}

/// Of the four lanes that share a row.
Value TensorAttention::sumOfFour(Value value) {
  return lanes.combine(value, 4, [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(b, x, y);
  });
}

void TensorAttention::updateSoftmax(RowState &state,
                                    SmallVectorImpl<SumFragment> &scores) {
  for (int64_t half = 0; half < 2; ++half) {
    Value highest = state.highest[half];
    for (SumFragment &score : scores) {
      highest = larger(larger(score[2 * half], score[2 * half + 1]), highest);
    }
    highest = lanes.combine(highest, 4,
                            [&](Value x, Value y) { return larger(x, y); });
    Value decay = buildPowerOfTwo(
        b, arith::SubFOp::create(b, state.highest[half], highest));
    Value total = arith::MulFOp::create(b, state.total[half], decay);
    for (SumFragment &score : scores) {
      for (int64_t i = 0; i < 2; ++i) {
        Value &weight = score[2 * half + i];
        Value isSeen = arith::CmpFOp::create(b, arith::CmpFPredicate::UNE,
                                             weight, lowest());
        Value power =
            buildPowerOfTwo(b, arith::SubFOp::create(b, weight, highest));
        weight = arith::SelectOp::create(b, isSeen, power, k.number(0));
        total = arith::AddFOp::create(b, total, weight);
      }
    }
    for (SumFragment &sum : state.sums) {
      for (int64_t i = 0; i < 2; ++i) {
        sum[2 * half + i] = arith::MulFOp::create(b, sum[2 * half + i], decay);
      }
    }
    state.highest[half] = highest;
    state.total[half] = total;
  }
}

void TensorAttention::addValues(RowState &state,
                                ArrayRef<SumFragment> weights) {
  for (size_t n = 0; n < weights.size(); n += 2) {
    LeftFragment left;
    for (int64_t i = 0; i < 4; ++i) {
      const SumFragment &from = weights[n + i / 2];
      left[i] = pairOf(from[i % 2 * 2], from[i % 2 * 2 + 1]);
    }
    for (int64_t column = 0; column < cache.headDim; column += 16) {
      LeftFragment values = tiles->loadValues(inTile(n * 8), column);
      for (int64_t i = 0; i < 2; ++i) {
        SumFragment &sum = state.sums[column / 8 + i];
        sum = multiplyFragments(b, cache.element, left,
                                {values[2 * i], values[2 * i + 1]}, sum);
      }
    }
  }
}

/// Two columns from `column` of the head on.
void TensorAttention::storePair(Value both, const FragmentRow &row,
                                Value column) {
  auto type = cast<MemRefType>(op.getInit().getType());
  Type element = type.getElementType();
  int64_t alignment = element.getIntOrFloatBitWidth() / 8;
  if (!element.isF32()) {
    both = narrowFloat(b, both, element);
  }
  vector::StoreOp::create(
      b, both, op.getInit(),
      ValueRange{row.token, k.add(k.scale(row.head, cache.headDim), column)},
      /*nontemporal=*/false,
      llvm::MaybeAlign(type.getLayout().isIdentity() ? 2 * alignment
                                                     : alignment));
}

void TensorAttention::storeRows(const RowState &state) {
  auto type = VectorType::get(2, b.getF32Type());
  for (auto [half, row] : llvm::enumerate(rows)) {
    auto branch = scf::IfOp::create(b, row.isOwn);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value share = arith::DivFOp::create(b, k.number(1), state.total[half]);
    for (auto [n, sum] : llvm::enumerate(state.sums)) {
      Values means;
      for (int64_t i = 0; i < 2; ++i) {
        means.push_back(arith::MulFOp::create(b, sum[2 * half + i], share));
      }
      storePair(vector::FromElementsOp::create(b, type, means), row,
                k.add(pair, n * 8));
    }
  }
}

/// Every warp leaves its sums, maxima and totals in shared memory, where the
/// tiles were; then a thread has an eighth of a row.
void TensorAttention::mergeWarps(RowState &state, const WorkItem &item,
                                 Value head) {
  auto type = VectorType::get(2, b.getF32Type());
  int64_t rowBytes = (cache.headDim + 4) * sizeof(float);
  int64_t numbersAt = kWarps * kRows * rowBytes;
  for (int64_t half = 0; half < 2; ++half) {
    Value row = k.add(k.scale(warp, kRows), k.add(eighth, half * 8));
    Value place = buildAddress(b, memory, row, rowBytes);
    place = buildAddress(b, place, pair, sizeof(float));
    for (auto [n, sum] : llvm::enumerate(state.sums)) {
      Value both = vector::FromElementsOp::create(
          b, type, ValueRange{sum[2 * half], sum[2 * half + 1]});
      LLVM::StoreOp::create(b, both,
                            buildAddress(b, place, n * 8 * sizeof(float)),
                            type.getNumElements() * sizeof(float));
    }
    auto branch = scf::IfOp::create(b, isEqual(pair, 0));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value numbers = vector::FromElementsOp::create(
        b, type, ValueRange{state.highest[half], state.total[half]});
    LLVM::StoreOp::create(
        b, numbers, buildAddress(b, memory, row, 2 * sizeof(float), numbersAt),
        2 * sizeof(float));
  }
  gpu::BarrierOp::create(b);
  auto load = [&](Value address) -> Value {
    return LLVM::LoadOp::create(b, type, address, 2 * sizeof(float));
  };
  auto at = [&](Value both, int64_t i) -> Value {
    return vector::ExtractOp::create(b, both, i);
  };
  Value number = k.divide(thread, 8);
  FragmentRow row = makeRow(item, head, number);
  auto branch = scf::IfOp::create(b, row.isOwn);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Values places, shares, numbers;
  Value highest = lowest(), total = k.number(0);
  for (int64_t w = 0; w < kWarps; ++w) {
    Value own = k.add(number, w * kRows);
    places.push_back(buildAddress(b, memory, own, rowBytes));
    numbers.push_back(
        load(buildAddress(b, memory, own, 2 * sizeof(float), numbersAt)));
    highest = larger(at(numbers.back(), 0), highest);
  }
  for (Value both : numbers) {
    shares.push_back(
        buildPowerOfTwo(b, arith::SubFOp::create(b, at(both, 0), highest)));
    total = arith::AddFOp::create(
        b, total, arith::MulFOp::create(b, at(both, 1), shares.back()));
  }
  int64_t width = cache.headDim / 8;
  Value column = k.scale(k.remainder(thread, 8), width);
  for (int64_t i = 0; i < width; i += 2) {
    Value sum = arith::ConstantOp::create(b, b.getZeroAttr(type));
    for (auto [place, share] : llvm::zip_equal(places, shares)) {
      Value both = load(
          buildAddress(b, place, column, sizeof(float), i * sizeof(float)));
      Value factor = vector::BroadcastOp::create(b, type, share);
      sum =
          arith::AddFOp::create(b, sum, arith::MulFOp::create(b, both, factor));
    }
    Value all = vector::BroadcastOp::create(b, type, total);
    storePair(arith::DivFOp::create(b, sum, all), row, k.add(column, i));
  }
}

bool tfc::suitsTensorCores(transformer::CacheType type) {
  return !type.getElementType().isF32() && type.getHeadDim() % 16 == 0 &&
         KeyTiles::bytesOf(type.getHeadDim()) <= kSharedBytes;
}

void tfc::expandTensorAttention(transformer::PagedAttentionOp op,
                                const DeviceCache &cache, Value step,
                                RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  TensorAttention(op, cache, step, /*isShared=*/true, rewriter).emit();
  rewriter.setInsertionPoint(op);
  TensorAttention(op, cache, step, /*isShared=*/false, rewriter).emit();
  rewriter.eraseOp(op);
}
