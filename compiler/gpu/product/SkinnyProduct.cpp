// Weights on the left, straight from memory; sums over warps in order.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/SkinnyProduct.h"

#include "compiler/gpu/product/MatrixFragments.h"
#include "compiler/gpu/product/WidenedWeights.h"
#include "compiler/kernel/NarrowFloat.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <vector>

using namespace mlir;
using namespace tfc;

/// Steps of k that four lanes have of 16 bytes of a row of x each; a round, or
/// half of one where the weights are integers.
static constexpr int32_t kLaneSteps = 8, kHalfSteps = 4 * kLaneSteps;
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
  /// The four words of 8 steps of k of a lane's row, or its integers.
  using Words = SmallVector<Value>;
  using Sums = ThreadBuilder::Values;
  /// What a lane has of a round. Inputs, scales and zero points are by half.
  struct Round {
    SmallVector<Words> weights;
    SmallVector<SmallVector<Words>> inputs;
    SmallVector<SmallVector<Value>> scales, zeros;

    /// All values that there are.
    void visit(function_ref<void(Value &)> see);
  };

  /// Of a round of integers both, where registers are left for their x.
  int32_t halves() const {
    return form.isWidened() && tile.tokenTiles < 8 ? 2 : 1;
  }
  int32_t roundSteps() const { return kHalfSteps * halves(); }
  SmallVector<Value> placesOf(int32_t count, Value first, Value limit);
  SmallVector<Value> rowsOf(Value base, Type element, Value stride,
                            ArrayRef<Value> places);
  void findWeights(Value base, const ProductOperands::Groups &groups,
                   int32_t count);
  Words loadWords(Value row, Value k, Value isInside);
  Round load(Value round, bool isTail);
  void loadWidened(Round &loaded, Value round);
  Words wordsOf(const Round &loaded, int32_t row, int32_t half);
  void multiplyHalf(const Round &loaded, int32_t half, int32_t m, Sums &sums);
  std::vector<Round> loadAll(ArrayRef<Value> ks, bool isTail);
  Sums multiply(ArrayRef<Round> rounds, ValueRange before);
  bool isAhead() const;
  SmallVector<Value> roundsFrom(Value k) const;
  Sums sumAhead(Value first, Value whole, ValueRange zeros);
  Sums sumWhole(Value first, Value whole, ValueRange zeros);
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
  SmallVector<RowGroups> groups;      // of those of the weights
};

} // namespace

/// Rows group, group + 8, ... from `first` on; the last one where there are no
/// more.
SmallVector<Value> SkinnyKernel::placesOf(int32_t count, Value first,
                                          Value limit) {
  SmallVector<Value> places;
  Value last = t.subtract(limit, 1);
  for (int32_t i = 0; i < count; ++i) {
    Value row = t.add(group, 8 * i);
    places.push_back(t.min(first ? t.add(first, row) : row, last));
  }
  return places;
}

/// Their addresses.
SmallVector<Value> SkinnyKernel::rowsOf(Value base, Type element, Value stride,
                                        ArrayRef<Value> places) {
  return llvm::map_to_vector(places, [&](Value row) {
    return t.element(base, element, row, stride, t.number(0));
  });
}

/// Of a matrix, `count` of the lane's rows.
void SkinnyKernel::findWeights(Value base, const ProductOperands::Groups &own,
                               int32_t count) {
  SmallVector<Value> places = placesOf(count, firstColumn, p.width);
  bool isWidened = form.isWidened();
  Value stride =
      isWidened ? WidenedWeights(t, form).strideOf(p.depth) : p.depth;
  Type element = isWidened ? Type(t.builder().getI8Type()) : form.element;
  llvm::append_range(weights, rowsOf(base, element, stride, places));
  if (form.group) {
    for (Value row : places) {
      groups.emplace_back(t, form, own, row, p.depth);
    }
  }
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

/// Integers of a round, which are there to the end of a stretch; beyond the
/// last column x is zero.
void SkinnyKernel::loadWidened(Round &loaded, Value round) {
  WidenedWeights integers(t, form);
  constexpr int32_t columns = WidenedWeights::kColumns;
  // The place of the lane in the stretch, and of the round's half in that.
  Value at = t.add(t.scale(t.divide(round, columns), form.weightBytes(columns)),
                   t.scale(place, integers.laneBytes()));
  if (halves() == 1) {
    Value half = t.remainder(t.divide(round, kHalfSteps), 2);
    at = t.add(at, t.scale(half, integers.laneBytes(kHalfSteps)));
  }
  for (Value row : weights) {
    loaded.weights.push_back(integers.load(t.bytes(row, at), roundSteps()));
  }
  for (int32_t half = 0; form.group && half < halves(); ++half) {
    Value k = t.add(round, kHalfSteps * half);
    Value number = RowGroups::find(t, form, k, p.depth);
    loaded.scales.push_back(
        llvm::map_to_vector(groups, [&](const RowGroups &row) {
          return row.loadScale(t, number);
        }));
    loaded.zeros.push_back(llvm::map_to_vector(
        groups, [&](const RowGroups &row) { return row.loadZero(t, number); }));
  }
}

SkinnyKernel::Round SkinnyKernel::load(Value round, bool isTail) {
  Round loaded;
  if (form.isWidened()) {
    loadWidened(loaded, round);
  }
  for (int32_t half = 0; half < halves(); ++half) {
    Value k =
        t.add(t.add(round, kHalfSteps * half), t.scale(place, kLaneSteps));
    Value isInside = isTail ? t.isLess(k, p.depth) : Value();
    auto loadAll = [&](ArrayRef<Value> rows) {
      return llvm::map_to_vector(
          rows, [&](Value row) { return loadWords(row, k, isInside); });
    };
    if (!form.isWidened()) {
      loaded.weights = loadAll(weights);
    }
    loaded.inputs.push_back(loadAll(inputs));
  }
  return loaded;
}

/// Of a row of the weights, pairs for tensor cores.
SkinnyKernel::Words SkinnyKernel::wordsOf(const Round &loaded, int32_t row,
                                          int32_t half) {
  if (!form.isWidened()) {
    return loaded.weights[row];
  }
  Value zero = form.hasZeros ? loaded.zeros[half][row] : Value();
  return WidenedWeights(t, form).widen(loaded.weights[row], half, zero);
}

/// Of 16 rows of the weights. The sums of a group are added to the others when
/// they are complete, or 32 columns of them are.
void SkinnyKernel::multiplyHalf(const Round &loaded, int32_t half, int32_t m,
                                Sums &sums) {
  Words upper = wordsOf(loaded, 2 * m, half);
  Words lower = wordsOf(loaded, 2 * m + 1, half);
  SmallVector<SumFragment> own;
  for (int32_t n = 0; n < tile.tokenTiles; ++n) {
    const Value *before = &sums[4 * (m * tile.tokenTiles + n)];
    own.push_back(
        form.group ? SumFragment{t.zero(), t.zero(), t.zero(), t.zero()}
                   : SumFragment{before[0], before[1], before[2], before[3]});
  }
  for (int32_t i : {0, 2}) {
    LeftFragment w = {upper[i], lower[i], upper[i + 1], lower[i + 1]};
    for (int32_t n = 0; n < tile.tokenTiles; ++n) {
      const Words &x = loaded.inputs[half][n];
      own[n] = multiplyFragments(t.builder(), form.element, w, {x[i], x[i + 1]},
                                 own[n]);
    }
  }
  // Widened where they are used: reads are not waited for before.
  auto scaleOf = [&](int32_t row) -> Value {
    Value kept = loaded.scales[half][2 * m + row];
    return form.scale.isF32() ? kept : widenFloat(t.builder(), kept);
  };
  Value scales[2];
  for (int32_t row = 0; form.group && row < 2; ++row) {
    scales[row] = scaleOf(row);
  }
  for (int32_t n = 0; n < tile.tokenTiles; ++n) {
    Value *all = &sums[4 * (m * tile.tokenTiles + n)];
    for (int32_t i = 0; i < 4; ++i) {
      // The first two are of the upper row.
      all[i] = form.group ? LLVM::FMAOp::create(t.builder(), own[n][i],
                                                scales[i / 2], all[i])
                                .getResult()
                          : own[n][i];
    }
  }
}

void SkinnyKernel::Round::visit(function_ref<void(Value &)> see) {
  auto seeAll = [&](MutableArrayRef<SmallVector<Value>> lists) {
    for (SmallVector<Value> &list : lists) {
      for (Value &value : list) {
        if (value) {
          see(value);
        }
      }
    }
  };
  seeAll(weights);
  for (SmallVector<Words> &half : inputs) {
    seeAll(half);
  }
  seeAll(scales);
  seeAll(zeros);
}

/// The rounds that begin at `ks`, whose operands are asked for all together.
std::vector<SkinnyKernel::Round> SkinnyKernel::loadAll(ArrayRef<Value> ks,
                                                       bool isTail) {
  std::vector<Round> rounds;
  for (Value round : ks) {
    rounds.push_back(load(round, isTail));
  }
  return rounds;
}

SkinnyKernel::Sums SkinnyKernel::multiply(ArrayRef<Round> rounds,
                                          ValueRange before) {
  Sums sums(before);
  for (const Round &loaded : rounds) {
    for (int32_t half = 0; half < halves(); ++half) {
      for (int32_t m = 0; m < tile.weightTiles; ++m) {
        multiplyHalf(loaded, half, m, sums);
      }
    }
  }
  return sums;
}

/// Where a warp's rounds from `k` on begin, which are asked for at once.
SmallVector<Value> SkinnyKernel::roundsFrom(Value k) const {
  SmallVector<Value> ks;
  for (int32_t i = 0; i < tile.unroll; ++i) {
    ks.push_back(t.add(k, SkinnyProduct::kWarps * roundSteps() * i));
  }
  return ks;
}

/// Whether operands are asked for while those before them are multiplied. Those
/// that have groups are widened and scaled in many instructions, among which
/// ptxas would put the reads, each with a wait of its own; it cannot where they
/// are of the turn before. More tokens leave no registers for that.
bool SkinnyKernel::isAhead() const {
  return form.group && tile.tokenTiles <= 2;
}

/// Whole turns, of which there is one at least: the last one asks again for its
/// own operands.
SkinnyKernel::Sums SkinnyKernel::sumAhead(Value first, Value whole,
                                          ValueRange zeros) {
  int32_t together = SkinnyProduct::kWarps * roundSteps() * tile.unroll;
  std::vector<Round> shape = loadAll(roundsFrom(first), /*isTail=*/false);
  Sums inits(zeros);
  for (Round &round : shape) {
    round.visit([&](Value &value) { inits.push_back(value); });
  }
  Sums last =
      t.loop(first, whole, together, inits, [&](Value k, ValueRange before) {
        Sums given(before);
        const Value *next = given.begin() + zeros.size();
        std::vector<Round> own = shape;
        for (Round &round : own) {
          round.visit([&](Value &value) { value = *next++; });
        }
        Value later = t.add(k, together);
        Value ahead = t.select(t.isLess(later, whole), later, k);
        std::vector<Round> asked = loadAll(roundsFrom(ahead), /*isTail=*/false);
        Sums sums = multiply(own, before.take_front(zeros.size()));
        for (Round &round : asked) {
          round.visit([&](Value &value) { sums.push_back(value); });
        }
        return sums;
      });
  last.truncate(zeros.size());
  return last;
}

/// All rounds in turns of as many as are asked for at once.
SkinnyKernel::Sums SkinnyKernel::sumWhole(Value first, Value whole,
                                          ValueRange zeros) {
  int32_t together = SkinnyProduct::kWarps * roundSteps() * tile.unroll;
  if (!isAhead()) {
    return t.loop(
        first, whole, together, zeros, [&](Value k, ValueRange before) {
          return multiply(loadAll(roundsFrom(k), /*isTail=*/false), before);
        });
  }
  return t.choose(
      t.isLess(first, whole), zeros.getTypes(),
      [&] { return sumAhead(first, whole, zeros); },
      [&] { return Sums(zeros); });
}

/// Rounds w, w + 8, ... of warp w: first many at once, then one by one, the
/// last of which may end within a round.
SkinnyKernel::Sums SkinnyKernel::sumOverK() {
  int32_t apart = SkinnyProduct::kWarps * roundSteps();
  Value first = t.scale(warp, roundSteps());
  int32_t together = apart * tile.unroll;
  Value whole = t.scale(t.divide(p.depth, together), together);
  Sums zeros(4 * tile.weightTiles * tile.tokenTiles, t.zero());
  Sums sums = sumWhole(first, whole, zeros);
  return t.loop(t.add(whole, first), p.depth, apart, sums,
                [&](Value k, ValueRange before) {
                  return multiply(loadAll({k}, /*isTail=*/true), before);
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
    findWeights(p.gateWeights, p.gateGroups, rows);
  }
  findWeights(p.weights, p.groups, rows);
  if (tile.isStriped && !form.ofExperts) {
    firstToken = t.scale(t.blockY(), tile.tokens());
  }
  inputs = rowsOf(p.input, form.element, p.inputStride,
                  placesOf(tile.tokenTiles, firstToken, p.tokens));
  shareSums(sumOverK());
  t.barrier();
  finish();
}

/// As many threads a row as there are: each asks for a stretch, or, where the
/// row has none for it, for the last one again. No thread goes a way of its
/// own, so that all of this comes before the wait.
void SkinnyProduct::prefetch(ThreadBuilder &t, const ProductForm &form,
                             const ProductOperands &p) const {
  int32_t share = threads() / columns();
  Value row = t.divide(t.thread(), share);
  Value base = p.weights;
  if (form.gate) {
    base = t.select(t.isLess(row, t.number(resultColumns(form))), p.gateWeights,
                    p.weights);
    row = t.remainder(row, resultColumns(form));
  }
  row = t.min(t.add(t.scale(t.blockX(), resultColumns(form)), row),
              t.subtract(p.width, 1));
  Value bytes = form.isWidened() ? WidenedWeights(t, form).strideOf(p.depth)
                                 : t.scale(p.depth, form.weightBytes(1));
  Value size = t.min(bytes, t.number(kPrefetched));
  Value at = t.min(t.scale(t.remainder(t.thread(), share), kPrefetched),
                   t.subtract(bytes, size));
  t.prefetch(t.element(base, t.builder().getI8Type(), row, bytes, at), size);
}

void SkinnyProduct::build(ThreadBuilder &t, const ProductForm &form,
                          const ProductOperands &operands, Value shared) const {
  SkinnyKernel(t, *this, form, operands, shared).build();
}
