// linalg over rows: the element-wise maps and row sums that patterns share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/Patterns.h"

#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc;

static AffineMap mapOf(MLIRContext *context, Broadcast broadcast) {
  AffineExpr row = getAffineDimExpr(0, context);
  AffineExpr column = getAffineDimExpr(1, context);
  switch (broadcast) {
  case Broadcast::None:
    return AffineMap::get(2, 0, {row, column}, context);
  case Broadcast::AlongRow:
    return AffineMap::get(2, 0, row, context);
  case Broadcast::AlongColumn:
    return AffineMap::get(2, 0, column, context);
  }
  llvm_unreachable("all broadcasts are listed");
}

Value tfc::f32Constant(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

Value tfc::widen(ImplicitLocOpBuilder &b, Value element) {
  return element.getType().isF32()
             ? element
             : arith::ExtFOp::create(b, b.getF32Type(), element);
}

Value tfc::countRows(ImplicitLocOpBuilder &b, Value value) {
  while (auto reshape = value.getDefiningOp<tensor::CollapseShapeOp>()) {
    value = reshape.getSrc();
  }
  return tensor::DimOp::create(b, value, 0);
}

Value tfc::emptyRows(ImplicitLocOpBuilder &b, Value like, int64_t width) {
  Value rows = countRows(b, like);
  return tensor::EmptyOp::create(
      b, ArrayRef<int64_t>{ShapedType::kDynamic, width}, b.getF32Type(), rows);
}

Value tfc::mapRows(ImplicitLocOpBuilder &b, Value x, ArrayRef<RowInput> inputs,
                   bool inPlace, RowBody body) {
  MLIRContext *context = b.getContext();
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  if (!inPlace) {
    operands.push_back(x);
    maps.push_back(mapOf(context, Broadcast::None));
  }
  for (const RowInput &input : inputs) {
    operands.push_back(input.value);
    maps.push_back(mapOf(context, input.broadcast));
  }
  maps.push_back(mapOf(context, Broadcast::None));
  Value init = inPlace ? x : emptyRows(b, x, transformer::widthOf(x));
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, init.getType(), operands, init, maps, iterators,
             [&](OpBuilder &builder, Location loc, ValueRange arguments) {
               ImplicitLocOpBuilder inner(loc, builder);
               // In place, x is the destination's old value, the last one.
               SmallVector<Value> values(arguments.drop_back());
               if (inPlace) {
                 values.insert(values.begin(), arguments.back());
               }
               linalg::YieldOp::create(inner, body(inner, values));
             })
      .getResult(0);
}

Value tfc::sumRows(ImplicitLocOpBuilder &b, Value x, ArrayRef<RowInput> inputs,
                   RowBody body) {
  MLIRContext *context = b.getContext();
  SmallVector<Value> operands = {x};
  SmallVector<AffineMap> maps = {mapOf(context, Broadcast::None)};
  for (const RowInput &input : inputs) {
    operands.push_back(input.value);
    maps.push_back(mapOf(context, input.broadcast));
  }
  maps.push_back(mapOf(context, Broadcast::AlongRow));
  Value rows = countRows(b, x);
  Value empty = tensor::EmptyOp::create(
      b, ArrayRef<int64_t>{ShapedType::kDynamic}, b.getF32Type(), rows);
  Value zero = linalg::FillOp::create(b, f32Constant(b, 0), empty).getResult(0);
  return linalg::GenericOp::create(
             b, zero.getType(), operands, zero, maps,
             {utils::IteratorType::parallel, utils::IteratorType::reduction},
             [&](OpBuilder &builder, Location loc, ValueRange arguments) {
               ImplicitLocOpBuilder inner(loc, builder);
               Value term = body(inner, arguments.drop_back());
               Value sum = arith::AddFOp::create(inner, arguments.back(), term);
               linalg::YieldOp::create(inner, sum);
             })
      .getResult(0);
}
