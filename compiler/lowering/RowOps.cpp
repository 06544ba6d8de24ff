// linalg over rows: the element-wise maps and row sums that patterns share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/Patterns.h"

#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tfc;

AffineMap tfc::mapOf(MLIRContext *context, Broadcast broadcast) {
  AffineExpr row = getAffineDimExpr(0, context);
  AffineExpr column = getAffineDimExpr(1, context);
  switch (broadcast) {
  case Broadcast::None:
    return AffineMap::get(2, 0, {row, column}, context);
  case Broadcast::AlongRow:
    return AffineMap::get(2, 0, row, context);
  case Broadcast::AlongColumn:
    return AffineMap::get(2, 0, column, context);
  case Broadcast::Everywhere:
    return AffineMap::get(2, 0, getAffineConstantExpr(0, context));
  }
  llvm_unreachable("all broadcasts are listed");
}

Value tfc::f32Table(ImplicitLocOpBuilder &b, ArrayRef<double> numbers) {
  SmallVector<float> singles(numbers);
  auto type = RankedTensorType::get({static_cast<int64_t>(numbers.size())},
                                    b.getF32Type());
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef<float>(singles)));
}

Value tfc::f32Constant(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

Value tfc::convertFloat(ImplicitLocOpBuilder &b, Value value, Type element) {
  Type type = value.getType();
  if (type == element) {
    return value;
  }
  return element.isF32() ? Value(arith::ExtFOp::create(b, element, value))
                         : arith::TruncFOp::create(b, element, value);
}

/// The parts that a row was cut into by cutRows; 1 if `value` is not of it.
static int64_t countParts(Value value) {
  auto cut = value.getDefiningOp<tensor::CollapseShapeOp>();
  return cut && cut.getReassociationIndices().front().size() > 1
             ? cut.getSrcType().getDimSize(1)
             : 1;
}

Value tfc::countRows(ImplicitLocOpBuilder &b, Value value) {
  // What is written in place has as many: a norm of rows that rotation joined.
  bool isOfParts = false;
  auto take = [&](Value from) {
    while (true) {
      if (auto part = from.getDefiningOp<tensor::InsertSliceOp>()) {
        from = part.getDest();
        isOfParts = true;
      } else if (auto op = from.getDefiningOp<DestinationStyleOpInterface>()) {
        from = op.getTiedOpOperand(cast<OpResult>(from))->get();
      } else {
        break;
      }
    }
    value = from;
    return value.getDefiningOp<tensor::CollapseShapeOp>();
  };
  auto reshape = take(value);
  while (reshape && countParts(value) == 1) {
    reshape = take(reshape.getSrc());
  }
  auto place = value.getDefiningOp<bufferization::AllocTensorOp>();
  if (isOfParts && place && place.getDynamicSizes().size() == 1) {
    return place.getDynamicSizes().front();
  }
  // Joined rows say how many they are.
  if (auto joined = value.getDefiningOp<tensor::ExpandShapeOp>()) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(),
                                           joined.getMixedOutputShape()[0]);
  }
  return tensor::DimOp::create(b, value, 0);
}

Value tfc::cutRows(ImplicitLocOpBuilder &b, Value x, int64_t parts) {
  if (parts == 1) {
    return x;
  }
  int64_t width = transformer::widthOf(x) / parts;
  auto cut =
      RankedTensorType::get({ShapedType::kDynamic, parts, width}, elementOf(x));
  Value apart = tensor::ExpandShapeOp::create(
      b, cut, x, SmallVector<ReassociationIndices>{{0}, {1, 2}},
      SmallVector<OpFoldResult>{countRows(b, x), b.getIndexAttr(parts),
                                b.getIndexAttr(width)});
  return tensor::CollapseShapeOp::create(
      b, apart, SmallVector<ReassociationIndices>{{0, 1}, {2}});
}

Value tfc::joinRows(ImplicitLocOpBuilder &b, Value y, Value like) {
  int64_t width = transformer::widthOf(y);
  int64_t parts = transformer::widthOf(like) / width;
  if (parts == 1) {
    return y;
  }
  auto cut =
      RankedTensorType::get({ShapedType::kDynamic, parts, width}, elementOf(y));
  Value apart = tensor::ExpandShapeOp::create(
      b, cut, y, SmallVector<ReassociationIndices>{{0, 1}, {2}},
      SmallVector<OpFoldResult>{countRows(b, like), b.getIndexAttr(parts),
                                b.getIndexAttr(width)});
  return tensor::CollapseShapeOp::create(
      b, apart, SmallVector<ReassociationIndices>{{0}, {1, 2}});
}

/// A tensor with the rows of `like` and the axes `shape` behind them, to be
/// written. Of parts it is a view of whole rows: the workspace is a function of
/// the number of these.
static Value emptyLike(ImplicitLocOpBuilder &b, Value like,
                       ArrayRef<int64_t> shape, Type element) {
  SmallVector<int64_t> sizes = {ShapedType::kDynamic};
  int64_t parts = countParts(like);
  if (parts == 1) {
    llvm::append_range(sizes, shape);
    return tensor::EmptyOp::create(b, sizes, element, countRows(b, like));
  }
  sizes.push_back(parts);
  llvm::append_range(sizes, shape);
  Value apart = like.getDefiningOp<tensor::CollapseShapeOp>().getSrc();
  Value source = apart.getDefiningOp<tensor::ExpandShapeOp>().getSrc();
  // Not tensor.empty: upstream folds the reshape into it.
  Value whole = bufferization::AllocTensorOp::create(
      b, RankedTensorType::get(sizes, element),
      ValueRange{countRows(b, source)});
  SmallVector<ReassociationIndices> together = {{0, 1}};
  for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis) {
    together.push_back({axis + 2});
  }
  return tensor::CollapseShapeOp::create(b, whole, together);
}

Value tfc::emptyRows(ImplicitLocOpBuilder &b, Value like, int64_t width,
                     Type element) {
  return emptyLike(b, like, {width}, element);
}

Value tfc::emptyNumbers(ImplicitLocOpBuilder &b, Value like, Type element) {
  return emptyLike(b, like, {}, element);
}

/// The arguments of a body, floats as f32.
static SmallVector<Value> widenAll(ImplicitLocOpBuilder &b,
                                   ValueRange arguments) {
  return llvm::map_to_vector(arguments, [&](Value value) {
    return isa<FloatType>(value.getType())
               ? convertFloat(b, value, b.getF32Type())
               : value;
  });
}

Value tfc::mapRows(ImplicitLocOpBuilder &b, Value x, ArrayRef<RowInput> inputs,
                   Destination to, RowBody body) {
  MLIRContext *context = b.getContext();
  bool inPlace = to.inPlace && getElementTypeOrSelf(x) == Type(to.element);
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
  Value init = inPlace ? x : to.place;
  if (!init) {
    init = emptyRows(b, x, transformer::widthOf(x), to.element);
  }
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
               Value y = body(inner, widenAll(inner, values));
               linalg::YieldOp::create(inner,
                                       convertFloat(inner, y, to.element));
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
  Value empty = emptyLike(b, x, {}, b.getF32Type());
  Value zero = linalg::FillOp::create(b, f32Constant(b, 0), empty).getResult(0);
  return linalg::GenericOp::create(
             b, zero.getType(), operands, zero, maps,
             {utils::IteratorType::parallel, utils::IteratorType::reduction},
             [&](OpBuilder &builder, Location loc, ValueRange arguments) {
               ImplicitLocOpBuilder inner(loc, builder);
               Value term = body(inner, widenAll(inner, arguments.drop_back()));
               Value sum = arith::AddFOp::create(inner, arguments.back(), term);
               linalg::YieldOp::create(inner, sum);
             })
      .getResult(0);
}
