// Products with weights packed in panels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/Patterns.h"

#include "dialect/ShapeUtils.h"
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
  if (!parameter || !parameter.getPacked()) {
    return {};
  }
  return transformer::WeightOp::create(b, parameter.getPackedType(),
                                       weight.getName(), weight.getLayer());
}

/// Not tensor.empty: cse would make one of two, and bufferization keeps them
/// apart by copies.
static Value allocateRows(ImplicitLocOpBuilder &b, Value like, int64_t width,
                          FloatType element) {
  Value rows = tensor::DimOp::create(b, like, 0);
  return bufferization::AllocTensorOp::create(
      b, RankedTensorType::get({ShapedType::kDynamic, width}, element),
      ValueRange{rows});
}

Value tfc::buildPanelProduct(ImplicitLocOpBuilder &b, Value x,
                             transformer::WeightOp weight,
                             const Epilogue &epilogue) {
  auto parameter =
      SymbolTable::lookupNearestSymbolFrom<transformer::ParameterOp>(
          weight, weight.getNameAttr());
  int64_t width = parameter.getTensorType().getDimSize(0);
  Value init = epilogue.destination;
  if (!init) {
    init = allocateRows(b, x, width,
                        epilogue.element ? epilogue.element : b.getF32Type());
  }
  SmallVector<Value> columns, rows;
  if (epilogue.bias) {
    columns.push_back(epilogue.bias);
  }
  for (Value value : {epilogue.factor, epilogue.residual}) {
    if (value) {
      rows.push_back(value);
    }
  }
  auto product = transformer::ProductOp::create(
      b, cast<RankedTensorType>(init.getType()), x, weight, columns, rows, init,
      /*tile=*/transformer::ProductTileAttr());
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> types(1 + columns.size() + rows.size(), b.getF32Type());
  Block *body = b.createBlock(&product.getBody(), {}, types,
                              SmallVector<Location>(types.size(), b.getLoc()));
  size_t next = 1;
  auto take = [&](Value given) {
    return given ? Value(body->getArgument(next++)) : Value();
  };
  Value bias = take(epilogue.bias), factor = take(epilogue.factor);
  Value residual = take(epilogue.residual);
  transformer::YieldOp::create(
      b,
      buildEpilogue(b, epilogue, body->getArgument(0), bias, factor, residual));
  return product.getResult();
}
