// Reads, the body, stores.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/ProductEpilogue.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tfc;

static unsigned bytesOf(Type element) {
  return element.getIntOrFloatBitWidth() / 8;
}

/// A float, or a vector of them, as one of another element.
static Value convert(ImplicitLocOpBuilder &b, Value value, Type element) {
  Type from = value.getType(), to = element;
  if (auto vector = dyn_cast<VectorType>(from)) {
    from = vector.getElementType();
    to = vector.clone(element);
  }
  if (from == element) {
    return value;
  }
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth()) {
    return arith::ExtFOp::create(b, to, value);
  }
  return arith::TruncFOp::create(b, to, value);
}

/// The first of the last `elements` places.
Value ProductEpilogue::lastOf(Value count, int32_t elements) {
  return t.subtract(count, elements);
}

ProductEpilogue::Elements ProductEpilogue::loadFloats(Value base, Type element,
                                                      Value row, Value stride,
                                                      Value column,
                                                      unsigned count) {
  ImplicitLocOpBuilder &b = t.builder();
  Elements elements;
  if (count == 2 && form.isPaired) {
    Value place = t.min(column, lastOf(operands.width, 2));
    Value address = t.element(base, element, row, stride, place);
    Value pair =
        t.load(VectorType::get(2, element), address, 2 * bytesOf(element));
    pair = convert(b, pair, b.getF32Type());
    for (int64_t i = 0; i < 2; ++i) {
      elements.push_back(vector::ExtractOp::create(b, pair, i));
    }
    return elements;
  }
  for (unsigned i = 0; i < count; ++i) {
    Value place = t.min(t.add(column, int32_t(i)), lastOf(operands.width, 1));
    Value address = t.element(base, element, row, stride, place);
    elements.push_back(
        convert(b, t.load(element, address, bytesOf(element)), b.getF32Type()));
  }
  return elements;
}

/// From one list of `count` elements an operand to a list of operands an
/// element.
static SmallVector<ProductEpilogue::Elements>
transpose(ArrayRef<ProductEpilogue::Elements> operands, unsigned count) {
  SmallVector<ProductEpilogue::Elements> elements(count);
  for (const ProductEpilogue::Elements &operand : operands) {
    for (unsigned i = 0; i < count; ++i) {
      elements[i].push_back(operand[i]);
    }
  }
  return elements;
}

SmallVector<ProductEpilogue::Elements>
ProductEpilogue::loadColumns(Value column, unsigned count) {
  SmallVector<Elements> loaded;
  for (auto [base, type] : llvm::zip_equal(operands.columns, form.columns)) {
    loaded.push_back(loadFloats(base, type, Value(), Value(), column, count));
  }
  for (auto [base, type] :
       llvm::zip_equal(operands.gateColumns, form.gateColumns)) {
    loaded.push_back(loadFloats(base, type, Value(), Value(), column, count));
  }
  return transpose(loaded, count);
}

SmallVector<ProductEpilogue::Elements>
ProductEpilogue::loadRow(Value row, Value column, unsigned count) {
  SmallVector<Elements> loaded;
  Value place = t.min(row, lastOf(operands.tokens, 1));
  for (auto [base, stride, type] :
       llvm::zip_equal(operands.rows, operands.rowStrides, form.rows)) {
    loaded.push_back(loadFloats(base, type, place, stride, column, count));
  }
  return transpose(loaded, count);
}

Value ProductEpilogue::apply(ArrayRef<Value> sums, const Elements &columns,
                             const Elements &rows) {
  ArrayRef<Value> all = columns;
  ArrayRef<Value> own = all.take_front(form.columns.size());
  if (!form.gate) {
    return applyBody(form.op, sums[0], own, rows);
  }
  // As it would be kept.
  Value gate = applyBody(form.gate, sums[0], all.drop_front(own.size()), {});
  gate = convert(t.builder(), gate, form.gateResult);
  gate = convert(t.builder(), gate, t.builder().getF32Type());
  return applyBody(form.op, sums[1], own, gate);
}

Value ProductEpilogue::applyBody(transformer::ProductOp op, Value sum,
                                 ArrayRef<Value> columns,
                                 ArrayRef<Value> rows) {
  ImplicitLocOpBuilder &b = t.builder();
  Block &body = op.getBody().front();
  IRMapping mapping;
  SmallVector<Value> given = {sum};
  llvm::append_range(given, columns);
  llvm::append_range(given, rows);
  mapping.map(body.getArguments(), given);
  auto take = [&](Value value) {
    // What the body takes from outside is constants.
    if (!mapping.contains(value)) {
      b.clone(*value.getDefiningOp(), mapping);
    }
  };
  for (Operation &each : body.without_terminator()) {
    llvm::for_each(each.getOperands(), take);
    b.clone(each, mapping);
  }
  Value result = body.getTerminator()->getOperand(0);
  take(result);
  return mapping.lookup(result);
}

void ProductEpilogue::store(Value row, Value column, Value isRow,
                            ArrayRef<Value> results) {
  ImplicitLocOpBuilder &b = t.builder();
  unsigned bytes = bytesOf(form.result);
  auto addressOf = [&](Value place) {
    return t.element(operands.result, form.result, row, operands.resultStride,
                     place);
  };
  if (results.size() == 2 && form.isPaired) {
    Value pair = vector::FromElementsOp::create(
        b, VectorType::get(2, b.getF32Type()), results);
    pair = convert(b, pair, form.result);
    if (bytes == 2) { // a word, whatever its parts are
      pair = LLVM::BitcastOp::create(b, b.getI32Type(), pair);
    }
    t.when(t.both(isRow, t.isLess(column, operands.width)),
           [&] { t.store(pair, addressOf(column), 2 * bytes); });
    return;
  }
  for (auto [i, result] : llvm::enumerate(results)) {
    Value place = t.add(column, int32_t(i));
    Value value = convert(b, result, form.result);
    t.when(t.both(isRow, t.isLess(place, operands.width)),
           [&, place = place] { t.store(value, addressOf(place), bytes); });
  }
}

/// Two columns of all rows at a time: all their reads are under way before the
/// first result, and few of them wait in registers for it.
void ProductEpilogue::finish(Value firstRow, Value firstColumn,
                             ArrayRef<Value> sums, int32_t lefts) {
  int32_t rights = static_cast<int32_t>(sums.size()) / (4 * lefts);
  int32_t share = form.gate ? 2 : 1;
  Value lane = t.lane();
  Value row = t.add(firstRow, t.divide(lane, 4));
  Value column = t.add(firstColumn, t.scale(t.remainder(lane, 4), 2));
  for (int32_t j = 0; j < rights; j += share) {
    Value first = t.add(column, 8 * (j / share));
    auto columns = loadColumns(first, 2);
    SmallVector<SmallVector<Elements>> rows;
    for (int32_t i = 0; i < 2 * lefts; ++i) {
      rows.push_back(loadRow(t.add(row, 8 * i), first, 2));
    }
    for (int32_t i = 0; i < 2 * lefts; ++i) {
      Value own = t.add(row, 8 * i);
      SmallVector<Value> results;
      for (int32_t c = 0; c < 2; ++c) {
        SmallVector<Value> both; // one, where there is no gate
        for (int32_t k = j; k < j + share; ++k) {
          both.push_back(sums[4 * (i / 2 * rights + k) + 2 * (i % 2) + c]);
        }
        results.push_back(apply(both, columns[c], rows[i][c]));
      }
      store(own, first, t.isLess(own, operands.tokens), results);
    }
  }
}
