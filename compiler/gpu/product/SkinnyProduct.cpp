// Weights on the left, straight from memory; sums over warps in order.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/SkinnyProduct.h"

#include "compiler/gpu/product/MatrixFragments.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

/// Steps of k of a round: four lanes have 16 bytes of a row each.
static constexpr int32_t kLaneSteps = 8, kRoundSteps = 4 * kLaneSteps;
static constexpr unsigned kLaneBytes = 16;

/// From one token's sums to the next one's in shared memory: lanes then write
/// to different banks.
static int32_t pitchOf(const SkinnyProduct &product) {
  return product.columns() + 4;
}

int32_t SkinnyProduct::sharedBytes() const {
  return kWarps * tokens() * pitchOf(*this) * int32_t(sizeof(float));
}

namespace {

/// Emits one kernel.
class SkinnyKernel {
public:
  SkinnyKernel(ThreadBuilder &t, const SkinnyProduct &tile,
               const ProductForm &form, const ProductOperands &operands,
               Value shared)
      : t(t), tile(tile), form(form), p(operands), shared(shared) {}

  void build();

private:
  /// The four words of 8 steps of k of a lane's row.
  using Words = SmallVector<Value>;
  using Sums = ThreadBuilder::Values;

  SmallVector<Value> rowsOf(Value base, Value stride, int32_t count,
                            Value first, Value limit);
  Words loadWords(Value row, Value k, Value isInside);
  Sums multiply(ArrayRef<Value> ks, ValueRange sums, bool isTail);
  Sums sumOverK();
  Value addWarps(Value place);
  void shareSums(ArrayRef<Value> sums);
  void finish();

  ThreadBuilder &t;
  const SkinnyProduct &tile;
  const ProductForm &form;
  const ProductOperands &p;
  Value shared;
  Value warp, group, place; // the lane is 4 * group + place
  Value firstColumn;
  Value firstToken;                   // null: the first of all
  SmallVector<Value> weights, inputs; // addresses of the lane's rows
};

} // namespace

/// The addresses of rows group, group + 8, ... from `first` on; the last one's
/// where there are no more.
SmallVector<Value> SkinnyKernel::rowsOf(Value base, Value stride, int32_t count,
                                        Value first, Value limit) {
  SmallVector<Value> rows;
  Value last = t.subtract(limit, 1);
  for (int32_t i = 0; i < count; ++i) {
    Value row = t.add(group, 8 * i);
    row = t.min(first ? t.add(first, row) : row, last);
    rows.push_back(t.element(base, form.element, row, stride, t.number(0)));
  }
  return rows;
}

/// `isInside` null: they are there for sure. Otherwise zeros where they are
/// not; the row's first words, which every row has, are read in their place.
SkinnyKernel::Words SkinnyKernel::loadWords(Value row, Value k,
                                            Value isInside) {
  ImplicitLocOpBuilder &b = t.builder();
  Value step = isInside ? t.select(isInside, k, t.number(0)) : k;
  Value address = t.element(row, form.element, Value(), Value(), step);
  auto type = VectorType::get(4, b.getI32Type());
  Value vector = t.load(type, address, kLaneBytes);
  Words words;
  for (int64_t i = 0; i < 4; ++i) {
    Value word = vector::ExtractOp::create(b, vector, i);
    words.push_back(isInside ? t.select(isInside, word, t.number(0)) : word);
  }
  return words;
}

/// The rounds that begin at `ks`, whose operands are asked for all together.
SkinnyKernel::Sums SkinnyKernel::multiply(ArrayRef<Value> ks, ValueRange before,
                                          bool isTail) {
  SmallVector<SmallVector<Words>> left, right;
  for (Value round : ks) {
    Value k = t.add(round, t.scale(place, kLaneSteps));
    Value isInside = isTail ? t.isLess(k, p.depth) : Value();
    auto loadAll = [&](ArrayRef<Value> rows) {
      return llvm::map_to_vector(
          rows, [&](Value row) { return loadWords(row, k, isInside); });
    };
    left.push_back(loadAll(weights));
    right.push_back(loadAll(inputs));
  }
  Sums sums(before);
  for (size_t i = 0; i < ks.size(); ++i) {
    for (int32_t m = 0; m < tile.weightTiles; ++m) {
      const Words &upper = left[i][2 * m], &lower = left[i][2 * m + 1];
      for (int32_t half : {0, 2}) {
        LeftFragment w = {upper[half], lower[half], upper[half + 1],
                          lower[half + 1]};
        for (int32_t n = 0; n < tile.tokenTiles; ++n) {
          const Words &x = right[i][n];
          Value *own = &sums[4 * (m * tile.tokenTiles + n)];
          SumFragment sum = multiplyFragments(t.builder(), form.element, w,
                                              {x[half], x[half + 1]},
                                              {own[0], own[1], own[2], own[3]});
          llvm::copy(sum, own);
        }
      }
    }
  }
  return sums;
}

/// Rounds w, w + 8, ... of warp w: first many at once, then one by one, the
/// last of which may end within a round.
SkinnyKernel::Sums SkinnyKernel::sumOverK() {
  constexpr int32_t apart = SkinnyProduct::kWarps * kRoundSteps;
  Value first = t.scale(warp, kRoundSteps);
  int32_t together = apart * tile.unroll;
  Value whole = t.scale(t.divide(p.depth, together), together);
  Sums zeros(4 * tile.weightTiles * tile.tokenTiles, t.zero());
  Sums sums =
      t.loop(first, whole, together, zeros, [&](Value k, ValueRange before) {
        SmallVector<Value> ks;
        for (int32_t i = 0; i < tile.unroll; ++i) {
          ks.push_back(t.add(k, apart * i));
        }
        return multiply(ks, before, /*isTail=*/false);
      });
  return t.loop(t.add(whole, first), p.depth, apart, sums,
                [&](Value k, ValueRange before) {
                  return multiply({k}, before, /*isTail=*/true);
                });
}

/// Token by token, its sums one after the other, a warp behind the other.
void SkinnyKernel::shareSums(ArrayRef<Value> sums) {
  constexpr int32_t bytes = sizeof(float);
  int32_t pitch = pitchOf(tile) * bytes;
  Value own = t.bytes(shared, t.scale(warp, tile.tokens() * pitch));
  own = t.bytes(own, t.add(t.scale(place, 2 * pitch), t.scale(group, bytes)));
  for (int32_t m = 0; m < tile.weightTiles; ++m) {
    for (int32_t n = 0; n < tile.tokenTiles; ++n) {
      for (int32_t i = 0; i < 4; ++i) {
        int32_t token = 8 * n + i % 2, column = 16 * m + (i < 2 ? 0 : 8);
        t.store(sums[4 * (m * tile.tokenTiles + n) + i],
                t.bytes(own, token * pitch + column * bytes), bytes);
      }
    }
  }
}

/// What the warps have at `place`, from the first one on.
Value SkinnyKernel::addWarps(Value place) {
  constexpr int32_t bytes = sizeof(float);
  Value sum;
  for (int32_t w = 0; w < SkinnyProduct::kWarps; ++w) {
    Value part = t.load(
        t.builder().getF32Type(),
        t.bytes(place, w * tile.tokens() * pitchOf(tile) * bytes), bytes);
    sum = sum ? t.addFloats(sum, part) : part;
  }
  return sum;
}

/// A thread a result.
void SkinnyKernel::finish() {
  constexpr int32_t bytes = sizeof(float);
  ProductEpilogue epilogue(t, form, p);
  int32_t width = tile.resultColumns(form);
  int32_t results = width * tile.tokens();
  for (int32_t done = 0; done < results; done += tile.threads()) {
    Value number = t.add(t.thread(), done);
    Value isOne = t.isLess(number, t.number(results));
    number = t.min(number, t.number(results - 1));
    Value within = t.remainder(number, width);
    Value own = t.divide(number, width);
    Value token = firstToken ? t.add(firstToken, own) : own;
    Value column = t.add(firstColumn, within);
    auto columns = epilogue.loadColumns(column, 1);
    auto rows = epilogue.loadRow(token, column, 1);
    Value place = t.bytes(shared, t.add(t.scale(own, pitchOf(tile) * bytes),
                                        t.scale(within, bytes)));
    SmallVector<Value> sums = {addWarps(place)};
    if (form.gate) {
      sums.push_back(addWarps(t.bytes(place, width * bytes)));
    }
    Value isToken = t.both(isOne, t.isLess(token, p.tokens));
    epilogue.store(token, column, isToken,
                   {epilogue.apply(sums, columns[0], rows[0])});
  }
}

void SkinnyKernel::build() {
  Value lane = t.lane();
  warp = t.warp();
  group = t.divide(lane, 4);
  place = t.remainder(lane, 4);
  firstColumn = t.scale(t.blockX(), tile.resultColumns(form));
  // Rows of weights, 8 apart; those of a gate are before the product's own.
  int32_t rows = 2 * tile.weightTiles;
  if (form.gate) {
    rows /= 2;
    weights = rowsOf(p.gateWeights, p.depth, rows, firstColumn, p.width);
  }
  llvm::append_range(weights,
                     rowsOf(p.weights, p.depth, rows, firstColumn, p.width));
  if (tile.isStriped) {
    firstToken = t.scale(t.blockY(), tile.tokens());
  }
  inputs =
      rowsOf(p.input, p.inputStride, tile.tokenTiles, firstToken, p.tokens);
  shareSums(sumOverK());
  t.barrier();
  finish();
}

void SkinnyProduct::build(ThreadBuilder &t, const ProductForm &form,
                          const ProductOperands &operands, Value shared) const {
  SkinnyKernel(t, *this, form, operands, shared).build();
}
