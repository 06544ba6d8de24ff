// Walks an entry function: arguments, layer loop, constants, outputs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/reference/InterpreterState.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tfc::reference;
using namespace tfc::transformer;

//===-- arguments ---------------------------------------------------------===//

/// Rows of floats, of which a token has one or none.
LogicalResult Interpreter::bindGiven(BlockArgument argument, InputAttr input) {
  auto given = step.given.find(input.getName().str());
  if (given == step.given.end() || given->second.cols != input.getWidth()) {
    return entry.emitError()
           << "expected rows of " << input.getWidth() << " columns of input \""
           << input.getName() << "\", got others or none";
  }
  return setRows(argument, given->second);
}

LogicalResult Interpreter::bindInput(BlockArgument argument, InputAttr input) {
  if (input.getWidth() != 0) {
    return bindGiven(argument, input);
  }
  auto given = step.inputs.find(input.getName().str());
  if (given == step.inputs.end()) {
    return entry.emitError() << "expected values of input \"" << input.getName()
                             << "\", got none";
  }
  int64_t count = given->second.size();
  if (tokens >= 0 && count != tokens) {
    return entry.emitError()
           << "expected " << tokens << " values of input \"" << input.getName()
           << "\" (as many as of the first input), got " << count;
  }
  tokens = count;
  set(argument, std::make_shared<const Ids>(given->second));
  return success();
}

LogicalResult Interpreter::bindArguments() {
  if (entry.isExternal()) {
    return entry.emitError() << "expected an entry with a body";
  }
  for (BlockArgument argument : entry.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (auto input =
            entry.getArgAttrOfType<InputAttr>(number, kInputAttrName)) {
      if (failed(bindInput(argument, input))) {
        return failure();
      }
    } else if (entry.getArgAttr(number, kRowsAttrName)) {
      set(argument, std::make_shared<const Ids>(step.rows));
    } else if (!isa<BatchType, CacheType, StateType>(argument.getType())) {
      return entry.emitError() << "expected argument " << number
                               << " to be an input, rows, batch or cache, got "
                               << argument.getType();
    }
  }
  return success();
}

/// Every token belongs to one sequence, and what it sees exists.
LogicalResult Interpreter::checkSequences() {
  std::vector<bool> covered(tokens < 0 ? 0 : tokens);
  for (const Sequence &sequence : step.sequences) {
    int64_t end = static_cast<int64_t>(sequence.first) + sequence.count;
    int64_t positions = static_cast<int64_t>(sequence.past) + sequence.count;
    if (sequence.first < 0 || sequence.count < 1 || sequence.past < 0 ||
        end > static_cast<int64_t>(covered.size())) {
      return entry.emitError()
             << "expected sequence " << sequence.id << " inside [0, "
             << covered.size() << ") (the tokens of the step), got ["
             << sequence.first << ", " << end << ") after " << sequence.past;
    }
    if (sequence.keys < 1 || sequence.keys > positions) {
      return entry.emitError()
             << "expected keys in [1, " << positions << "] of sequence "
             << sequence.id << ", got " << sequence.keys;
    }
    for (int64_t token = sequence.first; token < end; ++token) {
      if (covered[token]) {
        return entry.emitError() << "expected token " << token
                                 << " in one sequence, got it in two";
      }
      covered[token] = true;
    }
  }
  for (size_t token = 0; token < covered.size(); ++token) {
    if (!covered[token]) {
      return entry.emitError() << "expected token " << token
                               << " in one sequence, got it in none";
    }
  }
  return success();
}

LogicalResult Interpreter::prepareWeights() {
  for (auto function :
       entry->getParentOp()->getRegion(0).getOps<func::FuncOp>()) {
    if (function->hasAttr(kPrepareAttrName) && !function.isExternal() &&
        failed(runBlock(function.getBody().front()))) {
      return failure();
    }
  }
  return success();
}

//===-- values ------------------------------------------------------------===//

/// To elements of 16 bits; others stay as exact as they are.
static void roundTo(Type type, Matrix &matrix) {
  auto element = dyn_cast<FloatType>(type);
  if (!element || element.getWidth() >= 32) {
    return;
  }
  for (double &number : matrix.data) {
    APFloat rounded(number);
    bool losesInfo;
    rounded.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
    rounded.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
    number = rounded.convertToDouble();
  }
}

LogicalResult Interpreter::setRows(Value value, Matrix matrix) {
  roundTo(getElementTypeOrSelf(value.getType()), matrix);
  set(value, std::make_shared<const Matrix>(std::move(matrix)));
  return success();
}

/// Of a cache of integers each head's columns are as quantizeRows makes them,
/// times their scale.
Matrix Interpreter::keep(Value value, CacheType type) {
  Matrix matrix = rows(value);
  if (!type.getElementType().isInteger()) {
    roundTo(type.getElementType(), matrix);
    return matrix;
  }
  Matrix heads = matrix, scales;
  heads.rows = matrix.rows * type.getKvHeads();
  heads.cols = type.getHeadDim();
  Matrix kept = quantizeRows(heads, scales);
  for (int64_t row = 0; row < kept.rows; ++row) {
    for (int64_t column = 0; column < kept.cols; ++column) {
      kept.at(row, column) *= scales.at(0, row);
    }
  }
  kept.rows = matrix.rows;
  kept.cols = matrix.cols;
  return kept;
}

//===-- control flow ------------------------------------------------------===//

LogicalResult Interpreter::runBlock(Block &block) {
  for (Operation &op : block) {
    if (failed(runOp(op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult Interpreter::runOp(scf::ForOp loop) {
  int64_t step = index(loop.getStep());
  if (step < 1) {
    return loop.emitError() << "expected a positive step, got " << step;
  }
  SmallVector<Datum> carried;
  for (Value init : loop.getInitArgs()) {
    carried.push_back(values[init]);
  }
  int64_t end = index(loop.getUpperBound());
  for (int64_t i = index(loop.getLowerBound()); i < end; i += step) {
    set(loop.getInductionVar(), i);
    for (auto [argument, datum] :
         llvm::zip_equal(loop.getRegionIterArgs(), carried)) {
      set(argument, datum);
    }
    if (failed(runBlock(*loop.getBody()))) {
      return failure();
    }
    for (auto [datum, yielded] :
         llvm::zip_equal(carried, loop.getYieldedValues())) {
      datum = values[yielded];
    }
  }
  for (auto [result, datum] : llvm::zip_equal(loop.getResults(), carried)) {
    set(result, datum);
  }
  return success();
}

/// Layers that are a function of their own, which nobody else calls.
LogicalResult Interpreter::runOp(func::CallOp call) {
  auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!function || function.isExternal()) {
    return call.emitError()
           << "expected a function with a body, got " << call.getCalleeAttr();
  }
  for (auto [argument, operand] :
       llvm::zip_equal(function.getArguments(), call.getOperands())) {
    Datum datum = values[operand];
    set(argument, std::move(datum));
  }
  Block &body = function.getBody().front();
  if (failed(runBlock(body))) {
    return failure();
  }
  for (auto [result, returned] : llvm::zip_equal(
           call.getResults(), body.getTerminator()->getOperands())) {
    Datum datum = values[returned];
    set(result, std::move(datum));
  }
  return success();
}

LogicalResult Interpreter::runOp(arith::ConstantOp constant) {
  Attribute value = constant.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    set(constant, integer.getInt());
    return success();
  }
  auto dense = dyn_cast<DenseFPElementsAttr>(value);
  if (!dense || dense.getType().getRank() < 1 ||
      dense.getType().getRank() > 2) {
    return constant.emitError()
           << "expected an index, vector or matrix, got " << value;
  }
  ArrayRef<int64_t> shape = dense.getType().getShape();
  Matrix matrix(shape.size() == 1 ? 1 : shape.front(), shape.back());
  size_t i = 0;
  for (APFloat element : dense.getValues<APFloat>()) {
    matrix.data[i++] = element.convertToDouble();
  }
  return setRows(constant, std::move(matrix));
}

FailureOr<Outputs> tfc::reference::runEntry(func::FuncOp entry,
                                            const Step &step,
                                            const WeightProvider &weights,
                                            Cache &cache, const TapFn &tap,
                                            const AttentionFn &attention,
                                            const IntegerProvider &integers) {
  return Interpreter(entry, step, weights, cache, tap, attention, integers)
      .run();
}
