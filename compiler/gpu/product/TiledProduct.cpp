// Stages of cp.async, fragments by ldmatrix, products by mma.sync.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/TiledProduct.h"

#include "compiler/gpu/product/MatrixFragments.h"
#include "compiler/gpu/product/TileOrder.h"
#include "compiler/gpu/product/WidenedStage.h"
#include "compiler/gpu/product/WidenedWeights.h"
#include "compiler/gpu/thread/AsyncCopies.h"

using namespace mlir;
using namespace tfc;

namespace {

using Tile = TiledProduct;

/// Emits the kernel. Chunk c of row r of a stage lies at place c xor r % 8 of
/// its row, so that the eight rows of a tile of ldmatrix, and the eight copies
/// of a row, meet all banks. WidenedStage says where it lies for integers.
class TiledKernel {
public:
  TiledKernel(ThreadBuilder &t, const TiledProduct &tile,
              const ProductForm &form, const ProductOperands &operands,
              Value shared)
      : t(t), tile(tile), form(form), p(operands), shared(shared) {}

  void build();

private:
  using Sums = ThreadBuilder::Values;

  /// One operand's part of a stage: from where, and what it has.
  struct Source {
    Type element;
    int32_t rowBytes; // of a row of a stage
    int32_t offset;   // in a stage
    int32_t share;    // rows of a stage for one of the operand's
    Value row;        // address of the thread's first row, at its chunk
    Value number;     // of that row
    Value count;      // of rows there are
    Value stride;
    Value chunk;  // where in a row the thread's copies begin, in elements
    Value copyTo; // the place of its first copy in a stage

    /// Copies that make up a row of a stage.
    int32_t chunks() const { return rowBytes / kCopyBytes; }
    /// Rows that all threads of the block copy at once.
    int32_t together() const { return Tile::kThreads / chunks(); }
    int32_t elementsOf(int32_t bytes) const {
      return bytes * 8 / static_cast<int32_t>(element.getIntOrFloatBitWidth());
    }
  };

  void findPlaces();
  void findInput();
  void findWeights();
  void findCopies(Source &source, Value base, Value firstRow, Value row);
  void findFragments();
  void request(Value slot, Value stage);
  void requestRows(const Source &source, Value base, Value stage);
  Sums multiplyStage(Value slot, ArrayRef<Value> sums);
  Sums sumOverK();
  void finish(ArrayRef<Value> sums);
  Value next(Value slot);

  ThreadBuilder &t;
  const TiledProduct &tile;
  const ProductForm &form;
  const ProductOperands &p;
  Value shared;
  Value firstRow, firstColumn; // of the block's tile
  Value lane, warpRow, warpColumn;
  Source sources[2];
  std::optional<WidenedStage> widened; // of integers
  SmallVector<Value> leftAt, rightAt;  // by 16 steps of k, in a stage
};

} // namespace

/// From where the thread copies row `row` of a stage, `firstRow` being the
/// tile's first one, and to where.
void TiledKernel::findCopies(Source &source, Value base, Value first,
                             Value row) {
  Value own = t.divide(t.thread(), source.chunks());
  Value place = t.remainder(t.thread(), source.chunks());
  source.chunk = t.scale(place, source.elementsOf(kCopyBytes));
  source.number = t.add(first, row);
  source.row = t.element(base, source.element, source.number, source.stride,
                         source.chunk);
  bool isInput = &source == &sources[0];
  if (widened) {
    place = isInput ? widened->placeOf(place, own) : place;
  } else {
    place = t.exclusiveOr(place, t.remainder(own, 8));
  }
  source.copyTo =
      t.add(t.scale(own, source.rowBytes), t.scale(place, kCopyBytes));
}

void TiledKernel::findInput() {
  Source &input = sources[0];
  input.element = form.element;
  input.rowBytes = Tile::kRowBytes;
  input.offset = 0;
  input.share = 1;
  input.count = p.tokens;
  input.stride = p.inputStride;
  findCopies(input, p.input, firstRow, t.divide(t.thread(), input.chunks()));
}

void TiledKernel::findWeights() {
  Source &weights = sources[1];
  weights.element =
      form.isWidened() ? Type(t.builder().getI8Type()) : form.element;
  weights.rowBytes = Tile::weightRowBytes(form);
  weights.offset = tile.weightsOffset();
  weights.share = form.gate ? 2 : 1;
  weights.count = p.width;
  weights.stride =
      form.isWidened() ? WidenedWeights(t, form).strideOf(p.depth) : p.depth;
  Value base = p.weights, row = t.divide(t.thread(), weights.chunks());
  if (form.gate) {
    // A thread's rows are all of one of both.
    assert(weights.together() % 16 == 0);
    Value isGate = t.isLess(t.remainder(row, 16), t.number(8));
    base = t.select(isGate, p.gateWeights, p.weights);
    row = t.add(t.scale(t.divide(row, 16), 8), t.remainder(row, 8));
  }
  findCopies(weights, base, firstColumn, row);
}

void TiledKernel::findPlaces() {
  Value warp = t.warp();
  lane = t.lane();
  TilePlace place = findTile(t, tile.side, tile.resultColumns(form));
  firstRow = place.row;
  firstColumn = place.column;
  warpRow = t.scale(t.remainder(warp, 2), tile.warpSide());
  warpColumn = t.scale(t.divide(warp, 2), tile.warpSide());
  if (form.isWidened()) {
    widened.emplace(
        t, tile, form, p,
        WidenedStage::Places{shared, lane, warpRow, warpColumn, firstColumn});
  }
  findInput();
  findWeights();
  if (!widened) {
    findFragments();
  }
}

/// Which row's address the lane has for ldmatrix, at which chunk of 16 steps:
/// of x tiles (0, 0), (8, 0), (0, 8), (8, 8), of w (0, 0), (0, 8), (8, 0), (8,
/// 8).
void TiledKernel::findFragments() {
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

/// Rows and steps of k that there are not are zeros; of integers there are all
/// steps of a stage.
void TiledKernel::requestRows(const Source &source, Value base, Value stage) {
  Value k = t.scale(stage, source.elementsOf(source.rowBytes));
  bool areWhole = source.element.isInteger();
  Value isInside =
      areWhole ? Value() : t.isLess(t.add(k, source.chunk), p.depth);
  Value from = t.element(source.row, source.element, Value(), Value(), k);
  base = t.bytes(base, source.copyTo);
  for (int32_t row = 0; row < tile.side; row += source.together()) {
    int32_t on = row / source.share;
    Value isThere = t.isLess(t.add(source.number, on), source.count);
    if (isInside) {
      isThere = t.both(isThere, isInside);
    }
    Value fill = t.select(isThere, t.number(kCopyBytes), t.number(0));
    Value at = row == 0 ? from
                        : t.element(from, source.element, t.number(on),
                                    source.stride, t.number(0));
    copyAsync(t.builder(), t.bytes(base, source.offset + row * source.rowBytes),
              at, fill);
  }
}

void TiledKernel::request(Value slot, Value stage) {
  Value base = t.bytes(shared, t.scale(slot, tile.stageBytes(form)));
  for (const Source &source : sources) {
    requestRows(source, base, stage);
  }
  if (form.group) {
    widened->requestScales(base, stage);
  }
}

TiledKernel::Sums TiledKernel::multiplyStage(Value slot,
                                             ArrayRef<Value> before) {
  ImplicitLocOpBuilder &b = t.builder();
  Sums sums(before);
  Value base = t.scale(slot, tile.stageBytes(form));
  constexpr int32_t apart = 16 * Tile::kRowBytes;
  for (int32_t k = 0; k < Tile::kSteps / 16; ++k) {
    Value left = t.bytes(shared, t.add(base, leftAt[k]));
    Value right = t.bytes(shared, t.add(base, rightAt[k]));
    SmallVector<LeftFragment> lefts, rights; // two of these side by side
    for (int32_t i = 0; i < tile.lefts(); ++i) {
      lefts.push_back(loadTiles(b, t.bytes(left, i * apart)));
    }
    for (int32_t j = 0; j < tile.rights() / 2; ++j) {
      rights.push_back(loadTiles(b, t.bytes(right, j * apart)));
    }
    for (int32_t i = 0; i < tile.lefts(); ++i) {
      for (int32_t j = 0; j < tile.rights(); ++j) {
        const LeftFragment &two = rights[j / 2];
        Value *own = &sums[4 * (i * tile.rights() + j)];
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
  Sums inits(static_cast<size_t>(tile.sums()), t.zero());
  inits.push_back(t.number(0));
  inits.push_back(t.number(Tile::kStages - 1));
  Sums last = t.loop(
      t.number(0), stages, 1, inits, [&](Value stage, ValueRange before) {
        Value slot = before[tile.sums()], free = before[tile.sums() + 1];
        waitForCopies(b, Tile::kStages - 2);
        t.barrier();
        Value later = t.add(stage, Tile::kStages - 1);
        t.when(t.isLess(later, stages), [&] { request(free, later); });
        commitCopies(b);
        Sums own(before.take_front(tile.sums()));
        Sums sums = widened ? widened->multiply(slot, stage, own)
                            : multiplyStage(slot, own);
        sums.push_back(next(slot));
        sums.push_back(next(free));
        return sums;
      });
  last.truncate(static_cast<size_t>(tile.sums()));
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
  for (int32_t j = 0; j < tile.rights(); j += share) {
    Value first = t.add(column, 8 * (j / share));
    auto columns = epilogue.loadColumns(first, 2);
    SmallVector<SmallVector<ProductEpilogue::Elements>> rows;
    for (int32_t i = 0; i < 2 * tile.lefts(); ++i) {
      rows.push_back(epilogue.loadRow(t.add(row, 8 * i), first, 2));
    }
    for (int32_t i = 0; i < 2 * tile.lefts(); ++i) {
      Value own = t.add(row, 8 * i);
      SmallVector<Value> results;
      for (int32_t c = 0; c < 2; ++c) {
        SmallVector<Value> both; // one, where there is no gate
        for (int32_t k = j; k < j + share; ++k) {
          both.push_back(
              sums[4 * (i / 2 * tile.rights() + k) + 2 * (i % 2) + c]);
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
                         const ProductOperands &operands, Value shared) const {
  TiledKernel(t, *this, form, operands, shared).build();
}
