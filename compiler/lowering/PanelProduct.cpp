// Products with weights packed in panels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/Patterns.h"

#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

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
  Value rows = countRows(b, like);
  return bufferization::AllocTensorOp::create(
      b, RankedTensorType::get({ShapedType::kDynamic, width}, element),
      ValueRange{rows});
}

/// What products of bytes without a sign have too much; null for others.
static Value findExcess(ImplicitLocOpBuilder &b, transformer::WeightOp weight,
                        transformer::ParameterOp parameter) {
  transformer::ParameterOp excess =
      parameter.findCompanion(transformer::CompanionKind::Excess);
  return excess ? transformer::WeightOp::create(b, excess.getTensorType(),
                                                excess.getSymName(),
                                                weight.getLayer())
                      .getResult()
                : Value();
}

Value tfc::buildPanelProduct(ImplicitLocOpBuilder &b, Value x,
                             transformer::WeightOp weight,
                             const Epilogue &epilogue, Value experts) {
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
  Value excess =
      epilogue.rowScales ? findExcess(b, weight, parameter) : Value();
  auto panelsOf = [&](Value matrix) {
    return matrix ? findPanels(b, matrix).getResult() : Value();
  };
  Value groups = panelsOf(epilogue.groupScales);
  Value zeros = panelsOf(epilogue.groupZeros);
  for (Value value : {epilogue.columnScales, excess, epilogue.bias}) {
    if (value) {
      columns.push_back(value);
    }
  }
  for (Value value : {epilogue.factor, epilogue.residual}) {
    if (value) {
      rows.push_back(value);
    }
  }
  auto product = transformer::ProductOp::create(
      b, cast<RankedTensorType>(init.getType()), x, weight, columns, rows,
      epilogue.rowScales, groups, zeros, experts, init,
      /*tile=*/transformer::ProductTileAttr(), /*headRows=*/false);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> types = {product.getSumType()};
  for (Value value : columns) {
    types.push_back(getElementTypeOrSelf(value));
  }
  types.append(rows.size() + (epilogue.rowScales ? 1 : 0), b.getF32Type());
  Block *body = b.createBlock(&product.getBody(), {}, types,
                              SmallVector<Location>(types.size(), b.getLoc()));
  size_t next = 1;
  auto take = [&](Value given) {
    return given ? Value(body->getArgument(next++)) : Value();
  };
  Value columnScale = take(epilogue.columnScales), over = take(excess);
  Value bias = take(epilogue.bias), factor = take(epilogue.factor);
  Value residual = take(epilogue.residual);
  Value rowScale = take(epilogue.rowScales), sum = body->getArgument(0);
  sum = buildScaled(b, sum, over, rowScale, columnScale);
  transformer::YieldOp::create(
      b, buildEpilogue(b, epilogue, sum, bias, factor, residual));
  return product.getResult();
}
