// Addresses of rows, and the copies of a stage.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/StageCopies.h"

#include "compiler/gpu/product/WidenedWeights.h"
#include "compiler/gpu/thread/AsyncCopies.h"

using namespace mlir;
using namespace tfc;

int32_t StageCopies::Source::chunks() const { return rowBytes / kCopyBytes; }

int32_t StageCopies::Source::elementsOf(int32_t bytes) const {
  return bytes * 8 / static_cast<int32_t>(element.getIntOrFloatBitWidth());
}

StageCopies::StageCopies(ThreadBuilder &t, const ProductForm &form,
                         const ProductOperands &operands, const Shape &shape,
                         Value firstRow, Value firstColumn, PlaceOf placeOf)
    : t(t), form(form), p(operands), shape(shape) {
  auto swizzle = [&](bool, Value chunk, Value row) {
    return t.exclusiveOr(chunk, t.remainder(row, 8));
  };
  findInput(firstRow, placeOf ? placeOf : swizzle);
  findWeights(firstColumn, placeOf ? placeOf : swizzle);
}

/// From where the thread copies row `row` of a stage, `first` being the tile's
/// first one, and to where.
void StageCopies::findCopies(Source &source, Value base, Value first, Value row,
                             PlaceOf placeOf) {
  Value own = t.divide(t.thread(), source.chunks());
  Value place = t.remainder(t.thread(), source.chunks());
  source.chunk = t.scale(place, source.elementsOf(kCopyBytes));
  source.number = t.add(first, row);
  source.row = t.element(base, source.element, source.number, source.stride,
                         source.chunk);
  place = placeOf(&source == &input, place, own);
  source.copyTo =
      t.add(t.scale(own, source.rowBytes), t.scale(place, kCopyBytes));
}

void StageCopies::findInput(Value firstRow, PlaceOf placeOf) {
  input.element = form.element;
  input.rowBytes = kRowBytes;
  input.rows = shape.inputRows;
  input.offset = 0;
  input.share = 1;
  input.count = p.tokens;
  input.stride = p.inputStride;
  findCopies(input, p.input, firstRow, t.divide(t.thread(), input.chunks()),
             placeOf);
}

void StageCopies::findWeights(Value firstColumn, PlaceOf placeOf) {
  weights.element =
      form.isWidened() ? Type(t.builder().getI8Type()) : form.element;
  weights.rowBytes = form.weightBytes(kSteps);
  weights.rows = shape.weightRows;
  weights.offset = shape.weightsOffset;
  weights.share = form.gate ? 2 : 1;
  weights.count = p.width;
  weights.stride =
      form.isWidened() ? WidenedWeights(t, form).strideOf(p.depth) : p.depth;
  Value base = p.weights, row = t.divide(t.thread(), weights.chunks());
  if (form.gate) {
    // A thread's rows are all of one of both.
    assert(together(weights) % 16 == 0);
    Value isGate = t.isLess(t.remainder(row, 16), t.number(8));
    base = t.select(isGate, p.gateWeights, p.weights);
    row = t.add(t.scale(t.divide(row, 16), 8), t.remainder(row, 8));
  }
  findCopies(weights, base, firstColumn, row, placeOf);
}

void StageCopies::requestRows(const Source &source, Value base, Value stage) {
  Value k = t.scale(stage, source.elementsOf(source.rowBytes));
  bool areWhole = source.element.isInteger();
  Value isInside =
      areWhole ? Value() : t.isLess(t.add(k, source.chunk), p.depth);
  Value from = t.element(source.row, source.element, Value(), Value(), k);
  base = t.bytes(base, source.copyTo);
  for (int32_t row = 0; row < source.rows; row += together(source)) {
    int32_t on = row / source.share;
    Value isThere = t.isLess(t.add(source.number, on), source.count);
    if (isInside) {
      isThere = t.both(isThere, isInside);
    }
    Value fill = t.select(isThere, t.number(kCopyBytes), t.number(0));
    Value at = row == 0 ? from
                        : t.element(from, source.element, t.number(on),
                                    source.stride, t.number(0));
    auto copy = [&] {
      copyAsync(t.builder(),
                t.bytes(base, source.offset + row * source.rowBytes), at, fill);
    };
    // Of the last ones there may be fewer than all threads copy.
    if (int32_t left = source.rows - row; left < together(source)) {
      Value own = t.divide(t.thread(), source.chunks());
      t.when(t.isLess(own, t.number(left)), copy);
    } else {
      copy();
    }
  }
}

void StageCopies::request(Value base, Value stage) {
  requestRows(input, base, stage);
  requestRows(weights, base, stage);
}

Value tfc::nextSlot(ThreadBuilder &t, Value slot, int32_t stages) {
  Value behind = t.add(slot, 1);
  return t.select(t.isLess(behind, t.number(stages)), behind, t.number(0));
}
