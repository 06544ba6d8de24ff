// Stages of cp.async, fragments by ldmatrix, products by mma.sync.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/TiledProduct.h"

#include "compiler/gpu/product/MatrixFragments.h"
#include "compiler/gpu/thread/AsyncCopies.h"

using namespace mlir;
using namespace tfc;

namespace {

using Tile = TiledProduct;

/// Copies that make up a row of a stage, and the elements of one.
constexpr int32_t kChunks = Tile::kRowBytes / kCopyBytes;
constexpr int32_t kChunkSteps = Tile::kSteps / kChunks;
/// Rows that all threads of the block copy at once.
constexpr int32_t kTogether = Tile::kThreads / kChunks;
/// Of a warp: products side by side, in rows of 16 and columns of 8.
constexpr int32_t kLefts = Tile::kWarpRows / 16;
constexpr int32_t kRights = Tile::kWarpColumns / 8;
constexpr int32_t kSums = 4 * kLefts * kRights;

/// Emits the kernel. Chunk c of row r of a stage lies at place c xor r % 8 of
/// its row, so that the eight rows of a tile of ldmatrix, and the eight copies
/// of a row, meet all banks.
class TiledKernel {
public:
  TiledKernel(ThreadBuilder &t, const ProductForm &form,
              const ProductOperands &operands, Value shared)
      : t(t), form(form), p(operands), shared(shared) {}

  void build();

private:
  using Sums = ThreadBuilder::Values;

  /// One operand's part of a stage: from where, and what it has.
  struct Source {
    Value row;    // address of the thread's first row, at its chunk
    Value number; // of that row
    Value count;  // of rows there are
    Value stride;
    int32_t offset; // in a stage
    int32_t share;  // rows of a stage for one of the operand's
  };

  void chooseTile();
  void findPlaces();
  void request(Value slot, Value stage);
  void requestRows(const Source &source, Value base, Value k, Value isInside);
  Sums multiplyStage(Value slot, ArrayRef<Value> sums);
  Sums sumOverK();
  void finish(ArrayRef<Value> sums);
  Value next(Value slot);

  ThreadBuilder &t;
  const ProductForm &form;
  const ProductOperands &p;
  Value shared;
  Value firstRow, firstColumn; // of the block's tile
  Value lane, warpRow, warpColumn;
  Source sources[2];
  Value chunk,
      copyTo; // of the thread's copies: the chunk, the place in a stage
  SmallVector<Value> leftAt, rightAt; // by 16 steps of k, in a stage
};

} // namespace

/// Blocks run in the order of their numbers, x first. Those of kGroup rows of
/// the grid are numbered down its columns instead, the last rows being fewer.
void TiledKernel::chooseTile() {
  Value inGroup =
      t.add(t.multiply(t.remainder(t.blockY(), Tile::kGroup), t.blocksX()),
            t.blockX());
  Value above = t.scale(t.divide(t.blockY(), Tile::kGroup), Tile::kGroup);
  Value height = t.min(t.subtract(t.blocksY(), above), t.number(Tile::kGroup));
  Value column = t.divide(inGroup, height);
  Value row = t.add(above, t.subtract(inGroup, t.multiply(column, height)));
  firstRow = t.scale(row, Tile::kRows);
  firstColumn = t.scale(column, Tile::resultColumns(form));
}

void TiledKernel::findPlaces() {
  Value thread = t.thread(), warp = t.warp();
  lane = t.lane();
  chooseTile();
  constexpr int32_t down = Tile::kRows / Tile::kWarpRows;
  warpRow = t.scale(t.remainder(warp, down), Tile::kWarpRows);
  warpColumn = t.scale(t.divide(warp, down), Tile::kWarpColumns);
  // What the thread copies.
  Value row = t.divide(thread, kChunks);
  chunk = t.scale(t.remainder(thread, kChunks), kChunkSteps);
  Value place =
      t.exclusiveOr(t.remainder(thread, kChunks), t.remainder(row, 8));
  copyTo = t.add(t.scale(row, Tile::kRowBytes), t.scale(place, kCopyBytes));
  auto sourceOf = [&](Value base, Value number, Value count, Value stride,
                      int32_t offset, int32_t share) {
    Value from = t.element(base, form.element, number, stride, chunk);
    return Source{from, number, count, stride, offset, share};
  };
  sources[0] =
      sourceOf(p.input, t.add(firstRow, row), p.tokens, p.inputStride, 0, 1);
  Value weights = p.weights, column = row;
  if (form.gate) {
    static_assert(kTogether % 16 == 0,
                  "a thread's rows are all of one of both");
    Value isGate = t.isLess(t.remainder(row, 16), t.number(8));
    weights = t.select(isGate, p.gateWeights, p.weights);
    column = t.add(t.scale(t.divide(row, 16), 8), t.remainder(row, 8));
  }
  sources[1] = sourceOf(weights, t.add(firstColumn, column), p.width, p.depth,
                        Tile::kRows * Tile::kRowBytes, form.gate ? 2 : 1);
  // Which row's address the lane has for ldmatrix, at which chunk of 16 steps:
  // of x tiles (0, 0), (8, 0), (0, 8), (8, 8), of w (0, 0), (0, 8), (8, 0), (8,
  // 8).
  Value eighth = t.remainder(lane, 8), quarter = t.divide(lane, 8);
  Value low = t.remainder(quarter, 2), high = t.divide(quarter, 2);
  Value left = t.add(t.add(warpRow, eighth), t.scale(low, 8));
  Value right = t.add(t.add(warpColumn, eighth), t.scale(high, 8));
  for (int32_t k = 0; k < Tile::kSteps / 16; ++k) {
    auto at = [&](Value ofRow, Value half, int32_t offset) {
      Value swapped = t.exclusiveOr(t.add(half, 2 * k), eighth);
      return t.add(t.add(t.scale(ofRow, Tile::kRowBytes), offset),
                   t.scale(swapped, kCopyBytes));
    };
    leftAt.push_back(at(left, high, 0));
    rightAt.push_back(at(right, low, sources[1].offset));
  }
}

Value TiledKernel::next(Value slot) {
  Value behind = t.add(slot, 1);
  return t.select(t.isLess(behind, t.number(Tile::kStages)), behind,
                  t.number(0));
}

/// Rows and steps of k that there are not are zeros.
void TiledKernel::requestRows(const Source &source, Value base, Value k,
                              Value isInside) {
  Value from = t.element(source.row, form.element, Value(), Value(), k);
  for (int32_t row = 0; row < Tile::kRows; row += kTogether) {
    int32_t on = row / source.share;
    Value isRow = t.isLess(t.add(source.number, on), source.count);
    Value fill =
        t.select(t.both(isRow, isInside), t.number(kCopyBytes), t.number(0));
    Value at = row == 0 ? from
                        : t.element(from, form.element, t.number(on),
                                    source.stride, t.number(0));
    copyAsync(t.builder(), t.bytes(base, source.offset + row * Tile::kRowBytes),
              at, fill);
  }
}

void TiledKernel::request(Value slot, Value stage) {
  static_assert(Tile::kRows == Tile::kColumns, "one loop for both operands");
  Value base = t.bytes(shared, t.add(t.scale(slot, Tile::kStageBytes), copyTo));
  Value k = t.scale(stage, Tile::kSteps);
  Value isInside = t.isLess(t.add(k, chunk), p.depth);
  for (const Source &source : sources) {
    requestRows(source, base, k, isInside);
  }
}

TiledKernel::Sums TiledKernel::multiplyStage(Value slot,
                                             ArrayRef<Value> before) {
  ImplicitLocOpBuilder &b = t.builder();
  Sums sums(before);
  Value base = t.scale(slot, Tile::kStageBytes);
  constexpr int32_t apart = 16 * Tile::kRowBytes;
  for (int32_t k = 0; k < Tile::kSteps / 16; ++k) {
    Value left = t.bytes(shared, t.add(base, leftAt[k]));
    Value right = t.bytes(shared, t.add(base, rightAt[k]));
    SmallVector<LeftFragment> lefts, rights; // two of these side by side
    for (int32_t i = 0; i < kLefts; ++i) {
      lefts.push_back(loadTiles(b, t.bytes(left, i * apart)));
    }
    for (int32_t j = 0; j < kRights / 2; ++j) {
      rights.push_back(loadTiles(b, t.bytes(right, j * apart)));
    }
    for (int32_t i = 0; i < kLefts; ++i) {
      for (int32_t j = 0; j < kRights; ++j) {
        const LeftFragment &two = rights[j / 2];
        Value *own = &sums[4 * (i * kRights + j)];
        SumFragment sum = multiplyFragments(
            b, form.element, lefts[i], {two[2 * (j % 2)], two[2 * (j % 2) + 1]},
            {own[0], own[1], own[2], own[3]});
        llvm::copy(sum, own);
      }
    }
  }
  return sums;
}

/// Stage s + kStages - 1 is asked for when stage s has come: into the place of
/// stage s - 1, which all warps have multiplied by then. A group a stage, also
/// where there is none any more, so that a wait is for the same number of them
/// everywhere.
TiledKernel::Sums TiledKernel::sumOverK() {
  ImplicitLocOpBuilder &b = t.builder();
  Value stages = t.divide(t.add(p.depth, Tile::kSteps - 1), Tile::kSteps);
  for (int32_t stage = 0; stage < Tile::kStages - 1; ++stage) {
    Value number = t.number(stage);
    t.when(t.isLess(number, stages), [&] { request(number, number); });
    commitCopies(b);
  }
  Sums inits(kSums, t.zero());
  inits.push_back(t.number(0));
  inits.push_back(t.number(Tile::kStages - 1));
  Sums last = t.loop(
      t.number(0), stages, 1, inits, [&](Value stage, ValueRange before) {
        Value slot = before[kSums], free = before[kSums + 1];
        waitForCopies(b, Tile::kStages - 2);
        t.barrier();
        Value later = t.add(stage, Tile::kStages - 1);
        t.when(t.isLess(later, stages), [&] { request(free, later); });
        commitCopies(b);
        Sums sums =
            multiplyStage(slot, llvm::to_vector(before.take_front(kSums)));
        sums.push_back(next(slot));
        sums.push_back(next(free));
        return sums;
      });
  last.truncate(kSums);
  return last;
}

/// Two columns of all rows at a time: all their reads are under way before the
/// first result, and few of them wait in registers for it.
void TiledKernel::finish(ArrayRef<Value> sums) {
  ProductEpilogue epilogue(t, form, p);
  Value row = t.add(t.add(firstRow, warpRow), t.divide(lane, 4));
  int32_t share = sources[1].share;
  Value column = t.add(t.add(firstColumn, t.divide(warpColumn, share)),
                       t.scale(t.remainder(lane, 4), 2));
  for (int32_t j = 0; j < kRights; j += share) {
    Value first = t.add(column, 8 * (j / share));
    auto columns = epilogue.loadColumns(first, 2);
    SmallVector<SmallVector<ProductEpilogue::Elements>> rows;
    for (int32_t i = 0; i < 2 * kLefts; ++i) {
      rows.push_back(epilogue.loadRow(t.add(row, 8 * i), first, 2));
    }
    for (int32_t i = 0; i < 2 * kLefts; ++i) {
      Value own = t.add(row, 8 * i);
      SmallVector<Value> results;
      for (int32_t c = 0; c < 2; ++c) {
        SmallVector<Value> both; // one, where there is no gate
        for (int32_t k = j; k < j + share; ++k) {
          both.push_back(sums[4 * (i / 2 * kRights + k) + 2 * (i % 2) + c]);
        }
        results.push_back(epilogue.apply(both, columns[c], rows[i][c]));
      }
      epilogue.store(own, first, t.isLess(own, p.tokens), results);
    }
  }
}

void TiledKernel::build() {
  findPlaces();
  finish(sumOverK());
}

void TiledProduct::build(ThreadBuilder &t, const ProductForm &form,
                         const ProductOperands &operands, Value shared) {
  TiledKernel(t, form, operands, shared).build();
}
