// The sizes of values that a step makes static.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cost/StepSizes.h"

#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::cost;

/// What `extract` reads of a constant table.
static std::optional<int64_t> readTable(tensor::ExtractOp extract,
                                        const StepSizes &sizes) {
  DenseIntElementsAttr table;
  if (!matchPattern(extract.getTensor(), m_Constant(&table))) {
    return std::nullopt;
  }
  int64_t place = 0;
  for (auto [index, extent] :
       llvm::zip_equal(extract.getIndices(), table.getType().getShape())) {
    std::optional<int64_t> known = sizes.evaluate(index);
    if (!known || *known < 0 || *known >= extent) {
      return std::nullopt;
    }
    place = place * extent + *known;
  }
  return (*(table.value_begin<APInt>() + place)).getSExtValue();
}

std::optional<int64_t> StepSizes::evaluate(Value index) const {
  if (auto bound = numbers.find(index); bound != numbers.end()) {
    return bound->second;
  }
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant))) {
    return constant.getSExtValue();
  }
  Operation *op = index.getDefiningOp();
  if (auto dim = dyn_cast_or_null<tensor::DimOp>(op)) {
    std::optional<int64_t> number = dim.getConstantIndex();
    return number ? extent(dim.getSource(), *number) : std::nullopt;
  }
  if (auto dim = dyn_cast_or_null<memref::DimOp>(op)) {
    std::optional<int64_t> number = dim.getConstantIndex();
    return number ? extent(dim.getSource(), *number) : std::nullopt;
  }
  if (auto cast = dyn_cast_or_null<arith::IndexCastOp>(op)) {
    return evaluate(cast.getIn());
  }
  if (auto product = dyn_cast_or_null<arith::MulIOp>(op)) {
    std::optional<int64_t> left = evaluate(product.getLhs());
    std::optional<int64_t> right = evaluate(product.getRhs());
    return left && right ? llvm::checkedMul(*left, *right) : std::nullopt;
  }
  if (auto extract = dyn_cast_or_null<tensor::ExtractOp>(op)) {
    return readTable(extract, *this);
  }
  return std::nullopt;
}

/// How many rows an argument of the entry has.
static int64_t rowsOfArgument(func::FuncOp entry, BlockArgument argument,
                              const Step &step, int64_t wanted) {
  unsigned number = argument.getArgNumber();
  if (entry.getArgAttr(number, transformer::kRowsAttrName)) {
    return wanted;
  }
  auto port = entry.getArgAttrOfType<transformer::OutputPortAttr>(
      number, transformer::kOutputAttrName);
  bool isWanted = port && port.getRows() == transformer::RowKind::Wanted;
  return isWanted ? wanted : step.tokens();
}

std::optional<int64_t> StepSizes::extent(Value shaped, int64_t number) const {
  auto type = cast<ShapedType>(shaped.getType());
  if (!type.isDynamicDim(number)) {
    return type.getDimSize(number);
  }
  if (auto argument = dyn_cast<BlockArgument>(shaped)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (parent == entry) {
      return number == 0 ? std::optional<int64_t>(
                               rowsOfArgument(entry, argument, step, wanted))
                         : std::nullopt;
    }
    // Layers that are a function are told rows of tokens.
    if (isa<func::FuncOp>(parent)) {
      return number == 0 ? std::optional<int64_t>(step.tokens()) : std::nullopt;
    }
    auto loop = dyn_cast<LoopLikeOpInterface>(parent);
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    return init ? extent(init->get(), number) : std::nullopt;
  }
  Operation *op = shaped.getDefiningOp();
  auto result = cast<OpResult>(shaped);
  if (auto style = dyn_cast<DestinationStyleOpInterface>(op)) {
    return extent(style.getTiedOpOperand(result)->get(), number);
  }
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    OpOperand *init = loop.getTiedLoopInit(result);
    return init ? extent(init->get(), number) : std::nullopt;
  }
  // What layers give that are a function has a row for each token.
  if (isa<func::CallOp>(op)) {
    return number == 0 ? std::optional<int64_t>(step.tokens()) : std::nullopt;
  }
  if (auto buffer = dyn_cast<bufferization::ToTensorOp>(op)) {
    return extent(buffer.getBuffer(), number);
  }
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
    return extent(slice.getDest(), number);
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
      slice && slice.getSourceType().getRank() == type.getRank()) {
    OpFoldResult size = slice.getMixedSizes()[number];
    if (std::optional<int64_t> known = getConstantIntValue(size)) {
      return known;
    }
    return evaluate(cast<Value>(size));
  }
  // Rows stay rows when their columns are heads.
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
      expand && number == 0) {
    return extent(expand.getSrc(), 0);
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
      collapse && number == 0) {
    return extent(collapse.getSrc(), 0);
  }
  if (isa<tensor::EmptyOp, bufferization::AllocTensorOp>(op)) {
    return evaluate(op->getOperand(type.getDynamicDimIndex(number)));
  }
  return std::nullopt;
}

std::optional<double> StepSizes::elements(Value shaped) const {
  double count = 1;
  int64_t rank = cast<ShapedType>(shaped.getType()).getRank();
  for (int64_t number = 0; number < rank; ++number) {
    std::optional<int64_t> size = extent(shaped, number);
    if (!size) {
      return std::nullopt;
    }
    count *= static_cast<double>(*size);
  }
  return count;
}

double StepSizes::elementBytes(Type type) const {
  // i32 is ids.
  return type.isF32() ? step.valueBytes : type.getIntOrFloatBitWidth() / 8.0;
}

std::optional<double> StepSizes::bytes(Value shaped) const {
  std::optional<double> count = elements(shaped);
  Type element = cast<ShapedType>(shaped.getType()).getElementType();
  return count ? std::optional<double>(*count * elementBytes(element))
               : std::nullopt;
}
