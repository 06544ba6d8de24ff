// Products with weights packed in panels, the epilogue writing straight into
// rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/Patterns.h"

#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc;

transformer::WeightOp tfc::findPanels(ImplicitLocOpBuilder &b, Value matrix) {
  auto weight = matrix.getDefiningOp<transformer::WeightOp>();
  if (!weight) {
    return {};
  }
  auto parameter =
      SymbolTable::lookupNearestSymbolFrom<transformer::ParameterOp>(
          weight, weight.getNameAttr());
  if (!parameter || !parameter.getPanel()) {
    return {};
  }
  return transformer::WeightOp::create(b, parameter.getPackedType(),
                                       weight.getName(), weight.getLayer());
}

namespace {

/// A run of columns that one loop nest computes: `panels` panels from number
/// `panel` on, of each the first `width` columns.
struct Segment {
  int64_t panel, panels, width;
};

/// Builds one product.
class PanelProduct {
public:
  PanelProduct(ImplicitLocOpBuilder &b, Value x, transformer::WeightOp weight,
               const Epilogue &epilogue, int64_t columns)
      : b(b), x(x), weight(weight), epilogue(epilogue), columns(columns),
        shape(cast<RankedTensorType>(weight.getType()).getShape()) {}

  Value build() {
    Value y = epilogue.destination;
    if (!y) {
      // Not tensor.empty: cse would make one of two, and as segments write it
      // one after the other, bufferization would copy between them.
      Value rows = tensor::DimOp::create(b, x, 0);
      y = bufferization::AllocTensorOp::create(
          b,
          RankedTensorType::get({ShapedType::kDynamic, columns},
                                b.getF32Type()),
          ValueRange{rows});
    }
    for (const Segment &segment : segments()) {
      y = buildSegment(segment, y);
    }
    return y;
  }

private:
  /// The full panels, then the last, if it is not full.
  SmallVector<Segment> segments() {
    int64_t panel = shape[2], full = columns / panel, rest = columns % panel;
    SmallVector<Segment> result;
    if (full != 0) {
      result.push_back({0, full, panel});
    }
    if (rest != 0) {
      result.push_back({full, 1, rest});
    }
    return result;
  }

  /// A slice of `value` with these offsets and sizes; itself if that is all.
  Value slice(Value value, ArrayRef<OpFoldResult> offsets,
              ArrayRef<OpFoldResult> sizes) {
    SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
    return tensor::ExtractSliceOp::create(b, value, offsets, sizes, strides);
  }
  OpFoldResult index(int64_t value) { return b.getIndexAttr(value); }
  OpFoldResult rows() { return tensor::DimOp::create(b, x, 0).getResult(); }

  Value columnsOf(Value matrix, const Segment &segment) {
    return slice(matrix, {index(0), index(first(segment))},
                 {rows(), index(segment.panels * segment.width)});
  }
  int64_t first(const Segment &segment) { return segment.panel * shape[2]; }

  Value buildSegment(const Segment &segment, Value y);
  Value buildSums(const Segment &segment, Value init, AffineMap map);
  Value applyEpilogue(const Segment &segment, Value init, AffineMap byRow);

  ImplicitLocOpBuilder &b;
  Value x;
  transformer::WeightOp weight;
  const Epilogue &epilogue;
  int64_t columns;
  ArrayRef<int64_t> shape; // [panels, K, panel]
};

} // namespace

/// init[map(panel,t,n)] = sum_k x[t,k] w[panel,k,n], from zero.
Value PanelProduct::buildSums(const Segment &segment, Value init,
                              AffineMap map) {
  MLIRContext *context = b.getContext();
  AffineExpr n0, t, n1, k;
  bindDims(context, n0, t, n1, k);
  SmallVector<AffineMap> maps = {
      AffineMap::get(4, 0, {t, k}, context),
      AffineMap::get(4, 0, {n0, k, n1}, context),
      AffineMap::get(4, 0, map.getResults(), context)};
  Value panels =
      slice(weight, {index(segment.panel), index(0), index(0)},
            {index(segment.panels), index(shape[1]), index(segment.width)});
  Value zero = linalg::FillOp::create(b, f32Constant(b, 0), init).getResult(0);
  SmallVector<utils::IteratorType> iterators(4, utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  return linalg::GenericOp::create(
             b, zero.getType(), ValueRange{x, panels}, zero, maps, iterators,
             [](OpBuilder &builder, Location loc, ValueRange v) {
               // One fma in every case alike: see tfc-vectorize.
               auto contract = arith::FastMathFlags::contract;
               Value term =
                   arith::MulFOp::create(builder, loc, v[0], v[1], contract);
               Value sum =
                   arith::AddFOp::create(builder, loc, v[2], term, contract);
               linalg::YieldOp::create(builder, loc, sum);
             })
      .getResult(0);
}

/// The sums of a segment in panels, then the epilogue over (panel, row, column
/// in the panel), which writes into rows.
Value PanelProduct::applyEpilogue(const Segment &segment, Value init,
                                  AffineMap byRow) {
  MLIRContext *context = b.getContext();
  AffineExpr n0, t, n1;
  bindDims(context, n0, t, n1);
  AffineMap byPanel = AffineMap::get(3, 0, {t, n0, n1}, context);
  Value dynamicRows = tensor::DimOp::create(b, x, 0);
  Value sums = tensor::EmptyOp::create(
      b, ArrayRef<int64_t>{ShapedType::kDynamic, segment.panels, segment.width},
      b.getF32Type(), dynamicRows);
  SmallVector<Value> inputs = {buildSums(segment, sums, byPanel)};
  SmallVector<AffineMap> maps = {byPanel};
  if (epilogue.bias) {
    inputs.push_back(slice(epilogue.bias, {index(first(segment))},
                           {index(segment.panels * segment.width)}));
    maps.push_back(AffineMap::get(3, 0, byRow.getResult(1), context));
  }
  for (Value rows : {epilogue.factor, epilogue.residual}) {
    if (rows) {
      inputs.push_back(columnsOf(rows, segment));
      maps.push_back(byRow);
    }
  }
  maps.push_back(byRow);
  SmallVector<utils::IteratorType> iterators(3, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, init.getType(), inputs, init, maps, iterators,
             [&](OpBuilder &builder, Location loc, ValueRange v) {
               ImplicitLocOpBuilder inner(loc, builder);
               size_t next = 1;
               auto take = [&](Value given) {
                 return given ? v[next++] : Value();
               };
               Value bias = take(epilogue.bias);
               Value factor = take(epilogue.factor);
               linalg::YieldOp::create(
                   inner, buildEpilogue(inner, epilogue, v[0], bias, factor,
                                        take(epilogue.residual)));
             })
      .getResult(0);
}

/// Element (panel, row, column in the panel) is written to (row, panel * width
/// + column): results are never in panels in memory.
Value PanelProduct::buildSegment(const Segment &segment, Value y) {
  AffineExpr n0, t, n1;
  bindDims(b.getContext(), n0, t, n1);
  AffineMap byRow =
      AffineMap::get(3, 0, {t, n0 * segment.width + n1}, b.getContext());
  Value init = columnsOf(y, segment);
  // An epilogue that does nothing would be folded away, and with it the map.
  Value result = epilogue.isEmpty() ? buildSums(segment, init, byRow)
                                    : applyEpilogue(segment, init, byRow);
  SmallVector<OpFoldResult> strides(2, index(1));
  return tensor::InsertSliceOp::create(
      b, result, y, ArrayRef<OpFoldResult>{index(0), index(first(segment))},
      ArrayRef<OpFoldResult>{rows(), index(segment.panels * segment.width)},
      strides);
}

Value tfc::buildPanelProduct(ImplicitLocOpBuilder &b, Value x,
                             transformer::WeightOp weight,
                             const Epilogue &epilogue) {
  auto parameter =
      SymbolTable::lookupNearestSymbolFrom<transformer::ParameterOp>(
          weight, weight.getNameAttr());
  int64_t columns = parameter.getTensorType().getDimSize(0);
  return PanelProduct(b, x, weight, epilogue, columns).build();
}
