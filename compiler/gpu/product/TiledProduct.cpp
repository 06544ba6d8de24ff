// Stages of cp.async, fragments by ldmatrix, products by mma.sync.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/TiledProduct.h"

#include "compiler/gpu/product/MatrixFragments.h"
#include "compiler/gpu/product/StageCopies.h"
#include "compiler/gpu/product/TileOrder.h"
#include "compiler/gpu/product/WidenedStage.h"
#include "compiler/gpu/product/WidenedWeights.h"
#include "compiler/gpu/thread/AsyncCopies.h"

using namespace mlir;
using namespace tfc;

namespace {

using Tile = TiledProduct;

/// Emits the kernel. StageCopies says where what lies in a stage, and
/// WidenedStage where it does for integers.
class TiledKernel {
public:
  TiledKernel(ThreadBuilder &t, const TiledProduct &tile,
              const ProductForm &form, const ProductOperands &operands,
              Value shared)
      : t(t), tile(tile), form(form), p(operands), shared(shared) {}

  void build();

private:
  using Sums = ThreadBuilder::Values;

  void findPlaces();
  void findFragments();
  void request(Value slot, Value stage);
  Sums multiplyStage(Value slot, ArrayRef<Value> sums);
  Sums sumOverK();
  void finish(ArrayRef<Value> sums);

  ThreadBuilder &t;
  const TiledProduct &tile;
  const ProductForm &form;
  const ProductOperands &p;
  Value shared;
  Value firstRow, firstColumn; // of the block's tile
  Value lane, warpRow, warpColumn;
  std::optional<StageCopies> copies;
  std::optional<WidenedStage> widened; // of integers
  SmallVector<Value> leftAt, rightAt;  // by 16 steps of k, in a stage
};

} // namespace

void TiledKernel::findPlaces() {
  Value warp = t.warp();
  lane = t.lane();
  TilePlace place = findTile(t, form, tile.side, tile.resultColumns(form));
  firstRow = place.row;
  firstColumn = place.column;
  warpRow = t.scale(t.remainder(warp, 2), tile.warpSide());
  warpColumn = t.scale(t.divide(warp, 2), tile.warpSide());
  if (form.isWidened()) {
    widened.emplace(
        t, tile, form, p,
        WidenedStage::Places{shared, lane, warpRow, warpColumn, firstColumn});
  }
  StageCopies::Shape shape = {Tile::kThreads, tile.side, tile.side,
                              tile.weightsOffset()};
  if (widened) {
    auto placeOf = [&](bool isInput, Value chunk, Value row) {
      return isInput ? widened->placeOf(chunk, row) : chunk;
    };
    copies.emplace(t, form, p, shape, firstRow, firstColumn, placeOf);
  } else {
    copies.emplace(t, form, p, shape, firstRow, firstColumn);
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
    rightAt.push_back(at(right, low, tile.weightsOffset()));
  }
}

void TiledKernel::request(Value slot, Value stage) {
  Value base = t.bytes(shared, t.scale(slot, tile.stageBytes(form)));
  copies->request(base, stage);
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
        sums.push_back(nextSlot(t, slot, Tile::kStages));
        sums.push_back(nextSlot(t, free, Tile::kStages));
        return sums;
      });
  last.truncate(static_cast<size_t>(tile.sums()));
  return last;
}

void TiledKernel::finish(ArrayRef<Value> sums) {
  int32_t share = form.gate ? 2 : 1;
  ProductEpilogue(t, form, p)
      .finish(t.add(firstRow, warpRow),
              t.add(firstColumn, t.divide(warpColumn, share)), sums,
              tile.lefts());
}

void TiledKernel::build() {
  findPlaces();
  finish(sumOverK());
}

void TiledProduct::build(ThreadBuilder &t, const ProductForm &form,
                         const ProductOperands &operands, Value shared) const {
  TiledKernel(t, *this, form, operands, shared).build();
}
