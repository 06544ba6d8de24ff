// Integers are widened a stage ahead of wgmma.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/WidenedWarpgroups.h"

#include "compiler/gpu/product/ProductEpilogue.h"
#include "compiler/gpu/product/TileOrder.h"
#include "compiler/gpu/product/WidenedWeights.h"
#include "compiler/gpu/thread/AsyncCopies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

static constexpr int32_t kSteps = StageCopies::kSteps;
static constexpr int32_t kHalf = WidenedWeights::kHalf;
static_assert(kSteps == WidenedWeights::kColumns,
              "a stage is what integers are read at once");

namespace {

class WidenedKernel {
public:
  WidenedKernel(ThreadBuilder &t, const WidenedWarpgroups &tile,
                const ProductForm &form, const ProductOperands &operands,
                Value shared)
      : t(t), tile(tile), form(form), p(operands), shared(shared),
        place(findTile(t, form, tile.rows(), tile.resultColumns(form))),
        scales(tile.columns(), tile.threads(), form),
        copies(
            t, form, operands,
            {tile.threads(), tile.rows(), tile.columns(), tile.weightsOffset()},
            place.row, place.column, [&](bool isInput, Value chunk, Value row) {
              // Integers lie in a row as they come.
              return isInput ? t.exclusiveOr(chunk, t.remainder(row, 8))
                             : chunk;
            }) {}

  void build();

private:
  using Sums = ThreadBuilder::Values;

  /// The first of the warpgroup's rows in a tile.
  Value ownRow() {
    return t.scale(t.divide(t.warp(), kWarpgroupWarps), kWarpgroupRows);
  }
  Value stageAt(Value slot) {
    return t.bytes(shared, t.scale(slot, tile.stageBytes(form)));
  }
  /// Which tile of widened weights stage number `stage` has.
  Value wideOf(Value stage) { return t.remainder(stage, 2); }
  /// Halves of a stage whose sums are scaled together: both are of one group,
  /// or there are none.
  bool isWhole() const { return form.group % kSteps == 0; }
  void findRow();
  void requestStage(Value slot, Value stage);
  SmallVector<Value> loadZeros(Value stage);
  void widen(Value slot, Value stage, ArrayRef<Value> zeros);
  Value multiply(Value slot, Value stage, int32_t from, int32_t to, Value sums,
                 bool beginsAnew);
  void addScaled(Value slot, int32_t half, Value part, Sums &sums);

  ThreadBuilder &t;
  const WidenedWarpgroups &tile;
  const ProductForm &form;
  const ProductOperands &p;
  Value shared;
  TilePlace place;
  GroupScales scales;
  StageCopies copies;
  Value left, right;              // the first stage's tiles, described
  Value row;                      // of weights, that the thread widens
  std::optional<RowGroups> zeros; // of that row, where it has them
};

} // namespace

/// Threads beside each other have rows beside each other, which are at
/// different banks.
void WidenedKernel::findRow() {
  row = t.remainder(t.thread(), tile.columns());
  if (!form.hasZeros) {
    return;
  }
  Value inTile = row;
  if (form.gate) {
    inTile = t.add(t.scale(t.divide(row, 16), 8), t.remainder(row, 8));
  }
  Value column = t.min(t.add(place.column, inTile), t.subtract(p.width, 1));
  ProductOperands::Groups groups = p.groups;
  if (form.gate) {
    Value isGate = t.isLess(t.remainder(row, 16), t.number(8));
    groups.scales = t.select(isGate, p.gateGroups.scales, groups.scales);
    groups.zeros = t.select(isGate, p.gateGroups.zeros, groups.zeros);
  }
  zeros.emplace(t, form, groups, column, p.depth);
}

void WidenedKernel::requestStage(Value slot, Value stage) {
  Value base = stageAt(slot);
  copies.request(base, stage);
  if (form.group) {
    scales.request(t, form, p, place.column,
                   t.bytes(base, tile.scalesOffset(form)), stage);
  }
}

/// The zero points of the thread's row for both halves; null ones where there
/// are none.
SmallVector<Value> WidenedKernel::loadZeros(Value stage) {
  SmallVector<Value> loaded(2);
  for (int32_t half = 0; zeros && half < 2; ++half) {
    Value k = t.add(t.scale(stage, kSteps), kHalf * half);
    loaded[half] = zeros->loadZero(t, RowGroups::find(t, form, k, p.depth));
  }
  return loaded;
}

/// Two of the four lanes' integers of the thread's row, of both halves: a chunk
/// each.
void WidenedKernel::widen(Value slot, Value stage, ArrayRef<Value> zeros) {
  ImplicitLocOpBuilder &b = t.builder();
  WidenedWeights integers(t, form);
  Value narrow = t.bytes(t.bytes(stageAt(slot), tile.weightsOffset()),
                         t.scale(row, form.weightBytes(kSteps)));
  Value wide = t.bytes(t.bytes(shared, tile.wideOffset(form)),
                       t.add(t.scale(wideOf(stage), tile.wideBytes()),
                             t.scale(row, StageCopies::kRowBytes)));
  Value firstLane = t.scale(t.divide(t.thread(), tile.columns()), 2);
  Value swizzle = t.remainder(row, 8);
  for (int32_t lane = 0; lane < 2; ++lane) {
    Value own = t.add(firstLane, lane);
    SmallVector<Value> words =
        integers.load(t.bytes(narrow, t.scale(own, integers.laneBytes())));
    for (int32_t half = 0; half < 2; ++half) {
      SmallVector<Value> pairs = integers.widen(words, half, zeros[half]);
      Value chunk = t.exclusiveOr(t.add(own, 4 * half), swizzle);
      Value vector = vector::FromElementsOp::create(
          b, VectorType::get(4, b.getI32Type()), pairs);
      t.store(vector, t.bytes(wide, t.scale(chunk, kCopyBytes)), kCopyBytes);
    }
  }
}

/// Steps `from` to `to` of a stage.
Value WidenedKernel::multiply(Value slot, Value stage, int32_t from, int32_t to,
                              Value sums, bool beginsAnew) {
  ImplicitLocOpBuilder &b = t.builder();
  auto behind = [&](Value described, Value number, int32_t bytes, int32_t k) {
    Value on = arith::ExtUIOp::create(
        b, b.getI64Type(), t.scale(number, int32_t(describeBytes(bytes))));
    on = arith::AddIOp::create(b, described, on);
    return arith::AddIOp::create(
               b, on,
               arith::ConstantIntOp::create(b, k / 16 * kNextColumns, 64))
        .getResult();
  };
  for (int32_t k = from; k < to; k += 16) {
    sums = multiplyTiles(b, form.element,
                         behind(left, slot, tile.stageBytes(form), k),
                         behind(right, wideOf(stage), tile.wideBytes(), k),
                         sums, beginsAnew && k == from);
  }
  return sums;
}

/// The sums of a group's columns times its scales, of each column its own.
void WidenedKernel::addScaled(Value slot, int32_t half, Value part,
                              Sums &sums) {
  ImplicitLocOpBuilder &b = t.builder();
  Value base = t.bytes(stageAt(slot), tile.scalesOffset(form));
  SmallVector<Value> own = takeSums(b, part);
  for (int32_t right = 0; right < tile.columns() / 8; ++right) {
    std::array<Value, 2> scale =
        scales.load(t, base, t.number(8 * right), t.number(half));
    for (int32_t i = 4 * right; i < 4 * right + 4; ++i) {
      sums[i] = LLVM::FMAOp::create(b, own[i], scale[i % 2], sums[i]);
    }
  }
}

/// When a turn begins, its stage is there and its weights are wide. Into the
/// place of the stage before it, which nobody needs any more, the last one that
/// there is room for is asked for.
void WidenedKernel::build() {
  ImplicitLocOpBuilder &b = t.builder();
  findRow();
  left = describeTile(
      b, t.bytes(shared, t.scale(ownRow(), StageCopies::kRowBytes)));
  right = describeTile(b, t.bytes(shared, tile.wideOffset(form)));
  Value stages = t.divide(t.add(p.depth, kSteps - 1), kSteps);
  int32_t ahead = tile.stages - 1;
  for (int32_t stage = 0; stage < ahead; ++stage) {
    Value number = t.number(stage);
    t.when(t.isLess(number, stages), [&] { requestStage(number, number); });
    commitCopies(b);
  }
  Value none = t.number(0);
  SmallVector<Value> firstZeros = loadZeros(none);
  waitForCopies(b, unsigned(ahead) - 1);
  t.barrier();
  widen(none, none, firstZeros);
  showProducts(b);
  t.barrier();

  bool isScaled = form.group != 0;
  size_t count = size_t(tile.columns()) / 2;
  Sums inits(isScaled ? count : 1,
             isScaled ? t.zero() : zeroSums(b, tile.columns()));
  size_t carried = inits.size();
  inits.append({none, t.number(ahead)});
  Sums last =
      t.loop(none, stages, 1, inits, [&](Value stage, ValueRange before) {
        Sums sums(before.take_front(carried));
        Value slot = before[carried], free = before[carried + 1];
        Value fresh = isScaled ? LLVM::UndefOp::create(
                                     b, zeroSums(b, tile.columns()).getType())
                                     .getResult()
                               : sums[0];
        orderSums(b);
        SmallVector<Value> parts;
        for (int32_t from = 0; from < kSteps;
             from += isWhole() ? kSteps : kHalf) {
          int32_t to = isWhole() ? kSteps : from + kHalf;
          parts.push_back(multiply(slot, stage, from, to, fresh, isScaled));
        }
        commitProducts(b);
        Value later = t.add(stage, ahead);
        t.when(t.isLess(later, stages), [&] { requestStage(free, later); });
        commitCopies(b);
        Value following = t.add(stage, 1),
              behind = nextSlot(t, slot, tile.stages);
        SmallVector<Value> nextZeros = loadZeros(following);
        waitForCopies(b, unsigned(ahead) - 1);
        t.barrier();
        t.when(t.isLess(following, stages),
               [&] { widen(behind, following, nextZeros); });
        waitForProducts(b, 0);
        if (isScaled) {
          for (auto [half, part] : llvm::enumerate(parts)) {
            addScaled(slot, int32_t(half), part, sums);
          }
        } else {
          sums[0] = parts[0];
        }
        showProducts(b);
        t.barrier();
        sums.append({behind, nextSlot(t, free, tile.stages)});
        return sums;
      });
  last.truncate(carried);
  Value firstRow = t.add(t.add(place.row, ownRow()),
                         t.scale(t.remainder(t.warp(), kWarpgroupWarps), 16));
  ProductEpilogue(t, form, p)
      .finish(firstRow, place.column, isScaled ? last : takeSums(b, last[0]),
              1);
}

void WidenedWarpgroups::build(ThreadBuilder &t, const ProductForm &form,
                              const ProductOperands &operands,
                              Value shared) const {
  WidenedKernel(t, *this, form, operands, shared).build();
}
