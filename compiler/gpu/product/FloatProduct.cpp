// Stages of cp.async, rows of both operands four steps of k at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/FloatProduct.h"

#include "compiler/gpu/product/TileOrder.h"
#include "compiler/gpu/thread/AsyncCopies.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tfc;

using Tile = FloatProduct;

/// Steps of k that are copied at once, and read at once.
static constexpr int32_t kChunkSteps = kCopyBytes / int32_t(sizeof(float));
/// Chunks of a row of a stage.
static constexpr int32_t kChunks = Tile::kRowBytes / kCopyBytes;

namespace {

/// Emits one kernel. Chunk c of row r of a stage lies at place c xor r % 8 of
/// its row, so that the same chunk of eight rows meets all banks.
class FloatKernel {
public:
  FloatKernel(ThreadBuilder &t, const FloatProduct &tile,
              const ProductForm &form, const ProductOperands &operands,
              Value shared)
      : t(t), tile(tile), form(form), p(operands), shared(shared) {}

  void build();

private:
  using Sums = ThreadBuilder::Values;

  /// An operand's part of a stage: `rows` rows behind `offset` bytes of it.
  struct Source {
    int32_t rows = 0, offset = 0;
    int32_t share = 1; // rows of a stage for one of the operand's
    Value row;         // address of the thread's first row, at its chunk
    Value number;      // of that row
    Value count;       // of rows there are
    Value stride;
    Value isOwn;  // whether the thread copies rows at all; null: all do
    Value copyTo; // the place of its first copy in a stage
  };

  int32_t share() const { return form.gate ? 2 : 1; }
  /// Rows that all threads of the block copy at once.
  int32_t together() const { return tile.threads() / kChunks; }
  void findPlaces();
  void findSource(Source &source, Value base, Value firstRow, Value row);
  void findWeights(Source &source);
  void request(Value slot, Value stage);
  void requestRows(const Source &source, Value base, Value k);
  /// Where a row of a stage lies, and by what the places of its chunks turn.
  struct Row {
    Value address, turn;
  };
  struct Places {
    Row column, rows[2];
  };
  Sums multiplyChunk(const Places &at, Value chunk, ArrayRef<Value> before);
  Sums multiplyStage(Value slot, ArrayRef<Value> before);
  Sums sumOverK();
  void finish(ArrayRef<Value> sums);
  Value next(Value slot);

  ThreadBuilder &t;
  const FloatProduct &tile;
  const ProductForm &form;
  const ProductOperands &p;
  Value shared;
  TilePlace first;             // of the block's tile
  Value ownRow, ownColumn;     // the thread's first, in the tile
  Value copiedRow, copyColumn; // which row the thread copies, and the step of k
  Value copyPlace;             // its place in a row
  Source input, weights;
};

} // namespace

void FloatKernel::findSource(Source &source, Value base, Value firstRow,
                             Value row) {
  source.number = t.add(firstRow, row);
  source.row =
      t.element(base, form.element, source.number, source.stride, copyColumn);
  source.copyTo = t.add(t.add(t.scale(copiedRow, Tile::kRowBytes), copyPlace),
                        t.number(source.offset));
  if (source.rows < together()) {
    source.isOwn = t.isLess(copiedRow, t.number(source.rows));
  }
}

void FloatKernel::findWeights(Source &source) {
  source.rows = tile.columns();
  source.offset = tile.rows() * Tile::kRowBytes;
  source.share = share();
  source.count = p.width;
  source.stride = p.depth;
  Value base = p.weights, row = copiedRow;
  if (form.gate) {
    // A thread's rows are all of one of both.
    assert(together() % 16 == 0);
    Value isGate = t.isLess(t.remainder(row, 16), t.number(8));
    base = t.select(isGate, p.gateWeights, p.weights);
    row = t.add(t.scale(t.divide(row, 16), 8), t.remainder(row, 8));
  }
  findSource(source, base, first.column, row);
}

void FloatKernel::findPlaces() {
  first = findTile(t, form, tile.rows(), tile.resultColumns(form));
  Value warp = t.warp(), lane = t.lane();
  ownRow = t.add(
      t.scale(t.divide(warp, tile.warpsAcross), Tile::kLanesDown * tile.lefts),
      t.divide(lane, Tile::kLanesAcross));
  ownColumn = t.add(t.scale(t.remainder(warp, tile.warpsAcross),
                            Tile::kLanesAcross * tile.rights),
                    t.remainder(lane, Tile::kLanesAcross));
  copiedRow = t.divide(t.thread(), kChunks);
  Value chunk = t.remainder(t.thread(), kChunks);
  copyColumn = t.scale(chunk, kChunkSteps);
  copyPlace = t.scale(t.exclusiveOr(chunk, t.remainder(copiedRow, kChunks)),
                      kCopyBytes);
  input.rows = tile.rows();
  input.count = p.tokens;
  input.stride = p.inputStride;
  findSource(input, p.input, first.row, copiedRow);
  findWeights(weights);
}

Value FloatKernel::next(Value slot) {
  Value behind = t.add(slot, 1);
  return t.select(t.isLess(behind, t.number(Tile::kStages)), behind,
                  t.number(0));
}

/// Rows and steps of k that there are not are zeros.
void FloatKernel::requestRows(const Source &source, Value base, Value k) {
  assert(together() % kChunks == 0 && "a thread's copies have one place");
  Value isInside = t.isLess(t.add(k, copyColumn), p.depth);
  Value from = t.element(source.row, form.element, Value(), Value(), k);
  base = t.bytes(base, source.copyTo);
  for (int32_t row = 0; row < source.rows; row += together()) {
    int32_t on = row / source.share;
    Value isThere =
        t.both(isInside, t.isLess(t.add(source.number, on), source.count));
    Value fill = t.select(isThere, t.number(kCopyBytes), t.number(0));
    Value at = row == 0 ? from
                        : t.element(from, form.element, t.number(on),
                                    source.stride, t.number(0));
    copyAsync(t.builder(), t.bytes(base, row * Tile::kRowBytes), at, fill);
  }
}

void FloatKernel::request(Value slot, Value stage) {
  Value base = t.bytes(shared, t.scale(slot, tile.stageBytes()));
  Value k = t.scale(stage, Tile::kSteps);
  for (const Source *source : {&input, &weights}) {
    auto copy = [&] { requestRows(*source, base, k); };
    source->isOwn ? t.when(source->isOwn, copy) : copy();
  }
}

/// A chunk of all of the thread's columns stays in registers, rows come one by
/// one.
FloatKernel::Sums FloatKernel::multiplyChunk(const Places &at, Value chunk,
                                             ArrayRef<Value> before) {
  ImplicitLocOpBuilder &b = t.builder();
  Sums sums(before);
  auto chunkOf = [&](const Row &row) {
    Value place = t.exclusiveOr(chunk, row.turn);
    return t.bytes(row.address, t.scale(place, kCopyBytes));
  };
  SmallVector<Sums> columns;
  Value columnAt = chunkOf(at.column);
  for (int32_t j = 0; j < tile.rights; ++j) {
    columns.push_back(t.loadFloats(
        t.bytes(columnAt, j * Tile::kLanesAcross * Tile::kRowBytes)));
  }
  Value rowAt[] = {chunkOf(at.rows[0]), chunkOf(at.rows[1])};
  for (int32_t i = 0; i < tile.lefts; ++i) {
    Sums row = t.loadFloats(
        t.bytes(rowAt[i % 2], i * Tile::kLanesDown * Tile::kRowBytes));
    for (int32_t step = 0; step < kChunkSteps; ++step) {
      for (int32_t j = 0; j < tile.rights; ++j) {
        Value &sum = sums[i * tile.rights + j];
        sum = LLVM::FMAOp::create(b, row[step], columns[j][step], sum);
      }
    }
  }
  return sums;
}

FloatKernel::Sums FloatKernel::multiplyStage(Value slot,
                                             ArrayRef<Value> before) {
  Value base = t.bytes(shared, t.scale(slot, tile.stageBytes()));
  auto rowAt = [&](int32_t offset, Value row, int32_t on) {
    Value turn = t.remainder(t.add(row, on), kChunks);
    return Row{t.bytes(t.bytes(base, offset), t.scale(row, Tile::kRowBytes)),
               turn};
  };
  // Columns are eight apart, so of one place in their rows; rows four, so of
  // two.
  Places at{rowAt(weights.offset, ownColumn, 0),
            {rowAt(0, ownRow, 0), rowAt(0, ownRow, Tile::kLanesDown)}};
  return t.loop(t.number(0), t.number(kChunks), 1, before,
                [&](Value chunk, ValueRange own) {
                  return multiplyChunk(at, chunk, Sums(own));
                });
}

/// Stage s + kStages - 1 is asked for when stage s has come: into the place of
/// stage s - 1, which all warps have multiplied by then. A group a stage, also
/// where there is none any more, so that a wait is for the same number of them
/// everywhere.
FloatKernel::Sums FloatKernel::sumOverK() {
  ImplicitLocOpBuilder &b = t.builder();
  int32_t numSums = tile.lefts * tile.rights;
  Value stages = t.divide(t.add(p.depth, Tile::kSteps - 1), Tile::kSteps);
  for (int32_t stage = 0; stage < Tile::kStages - 1; ++stage) {
    Value number = t.number(stage);
    t.when(t.isLess(number, stages), [&] { request(number, number); });
    commitCopies(b);
  }
  Sums inits(static_cast<size_t>(numSums), t.zero());
  inits.push_back(t.number(0));
  inits.push_back(t.number(Tile::kStages - 1));
  Sums last = t.loop(
      t.number(0), stages, 1, inits, [&](Value stage, ValueRange before) {
        Value slot = before[numSums], free = before[numSums + 1];
        waitForCopies(b, Tile::kStages - 2);
        t.barrier();
        Value later = t.add(stage, Tile::kStages - 1);
        t.when(t.isLess(later, stages), [&] { request(free, later); });
        commitCopies(b);
        Sums sums = multiplyStage(slot, Sums(before.take_front(numSums)));
        sums.push_back(next(slot));
        sums.push_back(next(free));
        return sums;
      });
  last.truncate(static_cast<size_t>(numSums));
  return last;
}

/// A column of all rows at a time: all their reads are under way before the
/// first result.
void FloatKernel::finish(ArrayRef<Value> sums) {
  ProductEpilogue epilogue(t, form, p);
  Value row = t.add(first.row, ownRow);
  // Of 16 columns of a tile with a gate, 8 are the result's.
  Value warpColumn = t.subtract(ownColumn, t.remainder(ownColumn, 8));
  Value column = t.add(t.add(first.column, t.divide(warpColumn, share())),
                       t.remainder(ownColumn, 8));
  for (int32_t j = 0; j < tile.rights; j += share()) {
    Value place = t.add(column, Tile::kLanesAcross * (j / share()));
    auto columns = epilogue.loadColumns(place, 1);
    SmallVector<SmallVector<ProductEpilogue::Elements>> rows;
    for (int32_t i = 0; i < tile.lefts; ++i) {
      rows.push_back(
          epilogue.loadRow(t.add(row, Tile::kLanesDown * i), place, 1));
    }
    for (int32_t i = 0; i < tile.lefts; ++i) {
      Value own = t.add(row, Tile::kLanesDown * i);
      SmallVector<Value> both; // one, where there is no gate
      for (int32_t k = j; k < j + share(); ++k) {
        both.push_back(sums[i * tile.rights + k]);
      }
      Value result = epilogue.apply(both, columns[0], rows[i][0]);
      epilogue.store(own, place, t.isLess(own, p.tokens), result);
    }
  }
}

void FloatKernel::build() {
  findPlaces();
  finish(sumOverK());
}

void FloatProduct::build(ThreadBuilder &t, const ProductForm &form,
                         const ProductOperands &operands, Value shared) const {
  FloatKernel(t, *this, form, operands, shared).build();
}
