// Walks an entry function: arguments, layer loop, outputs, and one call of a
// formula an op.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/reference/Interpreter.h"

#include "compiler/reference/Formulas.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

#include <memory>
#include <variant>

using namespace mlir;
using namespace tfc::reference;
using namespace tfc::transformer;

namespace {

using Ids = std::vector<int32_t>;
/// What an SSA value is: rows (a vector is one row), ids, an index. Handles
/// have none. Types say which, so that reading one needs no check.
using Datum = std::variant<std::monostate, std::shared_ptr<const Matrix>,
                           std::shared_ptr<const Ids>, int64_t>;

class Interpreter {
public:
  Interpreter(func::FuncOp entry, const Step &step,
              const WeightProvider &weights, Cache &cache, const TapFn &tap)
      : entry(entry), step(step), weights(weights), cache(cache), tap(tap) {}

  FailureOr<Outputs> run() {
    if (failed(bindArguments()) || failed(checkSequences()) ||
        failed(runBlock(entry.getBody().front()))) {
      return failure();
    }
    return std::move(outputs);
  }

private:
  LogicalResult bindArguments();
  LogicalResult bindInput(BlockArgument argument, InputAttr input);
  LogicalResult checkSequences();

  LogicalResult runBlock(Block &block);
  LogicalResult runOp(Operation &op);
  LogicalResult runOp(scf::ForOp loop);
  LogicalResult runOp(arith::ConstantOp constant);
  LogicalResult runOp(OutputOp output);
  LogicalResult runOp(TapOp tapOp);
  LogicalResult runOp(WeightOp weight);
  LogicalResult runOp(EmbeddingOp op);
  LogicalResult runOp(GatherRowsOp op);
  LogicalResult runOp(AttentionOp op);

  void set(Value value, Datum datum) { values[value] = std::move(datum); }
  LogicalResult setRows(Value value, Matrix matrix) {
    set(value, std::make_shared<const Matrix>(std::move(matrix)));
    return success();
  }
  const Matrix &rows(Value value) {
    return *std::get<std::shared_ptr<const Matrix>>(values[value]);
  }
  const Matrix *rowsOrNull(Value value) {
    return value ? &rows(value) : nullptr;
  }
  const Ids &ids(Value value) {
    return *std::get<std::shared_ptr<const Ids>>(values[value]);
  }
  int64_t index(Value value) { return std::get<int64_t>(values[value]); }

  func::FuncOp entry;
  const Step &step;
  const WeightProvider &weights;
  Cache &cache;
  const TapFn &tap;
  int64_t tokens = -1; // until the first input says how many
  DenseMap<Value, Datum> values;
  Outputs outputs;
};

} // namespace

//===-- arguments ---------------------------------------------------------===//

LogicalResult Interpreter::bindInput(BlockArgument argument, InputAttr input) {
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
    } else if (!isa<BatchType, CacheType>(argument.getType())) {
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

//===-- ops with more to them than a formula ------------------------------===//

LogicalResult Interpreter::runOp(OutputOp output) {
  if (!step.outputs.empty() && !step.outputs.count(output.getName().str())) {
    return success();
  }
  Block &body = output.getBody().front();
  if (failed(runBlock(body))) {
    return failure();
  }
  auto yield = cast<YieldOp>(body.getTerminator());
  outputs[output.getName().str()] = rows(yield.getValue());
  return success();
}

LogicalResult Interpreter::runOp(TapOp tapOp) {
  if (tap) {
    tap(tapOp.getId(), tapOp.getLayer() ? index(tapOp.getLayer()) : -1,
        rows(tapOp.getValue()));
  }
  return success();
}

LogicalResult Interpreter::runOp(WeightOp weight) {
  auto parameter = SymbolTable::lookupNearestSymbolFrom<ParameterOp>(
      weight, weight.getNameAttr());
  if (!parameter) {
    return weight.emitError()
           << "expected a parameter named " << weight.getNameAttr();
  }
  int64_t layer = weight.getLayer() ? index(weight.getLayer()) : 0;
  int64_t layers = parameter.getLayers().value_or(1);
  if (layer < 0 || layer >= layers) {
    return weight.emitError() << "expected a layer in [0, " << layers << ") of "
                              << weight.getNameAttr() << ", got " << layer;
  }
  FailureOr<std::vector<double>> elements = weights(parameter, layer);
  if (failed(elements)) {
    return failure();
  }
  ArrayRef<int64_t> shape = parameter.getTensorType().getShape();
  Matrix matrix;
  matrix.rows = shape.size() == 1 ? 1 : shape.front();
  matrix.cols = shape.back();
  if (static_cast<int64_t>(elements->size()) !=
      parameter.getTensorType().getNumElements()) {
    return weight.emitError()
           << "expected " << parameter.getTensorType().getNumElements()
           << " elements of " << weight.getNameAttr() << ", got "
           << elements->size();
  }
  matrix.data = std::move(*elements);
  return setRows(weight.getResult(), std::move(matrix));
}

LogicalResult Interpreter::runOp(EmbeddingOp op) {
  const Matrix &table = rows(op.getTable());
  int64_t offset = op.getOffset();
  for (int64_t id : ids(op.getIds())) {
    if ((id < 0 && !op.getOptional()) || id + offset >= table.rows) {
      return op.emitError() << "expected an id in [0, " << table.rows - offset
                            << "), got " << id;
    }
  }
  return setRows(op, embedding(ids(op.getIds()), table, offset));
}

LogicalResult Interpreter::runOp(GatherRowsOp op) {
  const Matrix &input = rows(op.getInput());
  for (int64_t row : ids(op.getRows())) {
    if (row < 0 || row >= input.rows) {
      return op.emitError()
             << "expected a row in [0, " << input.rows << "), got " << row;
    }
  }
  return setRows(op, gatherRows(input, ids(op.getRows())));
}

LogicalResult Interpreter::runOp(AttentionOp op) {
  CacheType type = op.getCache().getType();
  int64_t layer = index(op.getLayer());
  if (layer < 0 || layer >= type.getLayers()) {
    return op.emitError() << "expected a layer in [0, " << type.getLayers()
                          << ") of the cache, got " << layer;
  }
  AttentionShape shape;
  shape.numHeads = op.getNumHeads();
  shape.kvHeads = type.getKvHeads();
  shape.headDim = type.getHeadDim();
  shape.causal = op.getMask() == Mask::Causal;
  shape.scale = op.getScale().convertToDouble();
  if (op.getScaleByInverseLayer()) {
    shape.scale /= static_cast<double>(layer + 1);
  }
  // What a scratch cache holds is gone after the layer.
  Cache scratch;
  Cache &used = type.getScratch() ? scratch : cache;
  // All is written before anything is read: a sequence may stand in the step
  // twice, its spectator as a sequence of its own.
  for (const Sequence &sequence : step.sequences) {
    Cache::Layer &cached = used.layer(sequence.id, layer);
    if (sequence.past > cached.keys.rows) {
      return op.emitError()
             << "expected sequence " << sequence.id << " after at most "
             << cached.keys.rows << " cached tokens, got " << sequence.past;
    }
    cacheWrite(rows(op.getKey()), rows(op.getValue()), sequence, cached);
  }
  const Matrix &query = rows(op.getQuery());
  Matrix result(query.rows, query.cols);
  for (const Sequence &sequence : step.sequences) {
    attention(query, sequence, shape, used.layer(sequence.id, layer), result);
  }
  return setRows(op, std::move(result));
}

//===-- the other ops -----------------------------------------------------===//

LogicalResult Interpreter::runOp(Operation &op) {
  using namespace tfc::reference;
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<scf::ForOp, arith::ConstantOp, OutputOp, TapOp, WeightOp,
            EmbeddingOp, GatherRowsOp, AttentionOp>(
          [&](auto known) { return runOp(known); })
      .Case<func::ReturnOp, scf::YieldOp, YieldOp>(
          [](auto) { return success(); })
      .Case([&](arith::AddIOp add) {
        set(add, index(add.getLhs()) + index(add.getRhs()));
        return success();
      })
      .Case([&](LinearOp linearOp) {
        return setRows(linearOp, linear(rows(linearOp.getInput()),
                                        rows(linearOp.getWeight()),
                                        rowsOrNull(linearOp.getBias())));
      })
      .Case([&](LayerNormOp norm) {
        return setRows(norm,
                       layerNorm(rows(norm.getInput()), rows(norm.getWeight()),
                                 rowsOrNull(norm.getBias()),
                                 norm.getEps().convertToDouble()));
      })
      .Case([&](FfnOp f) {
        FfnWeights w{&rows(f.getUp()),
                     &rows(f.getDown()),
                     rowsOrNull(f.getGate()),
                     rowsOrNull(f.getUpBias()),
                     rowsOrNull(f.getGateBias()),
                     rowsOrNull(f.getDownBias())};
        return setRows(f, ffn(rows(f.getInput()), w, f.getAct()));
      })
      .Case([&](ActivationOp act) {
        return setRows(act, activation(act.getAct(), rows(act.getInput())));
      })
      .Case([&](AddOp sum) {
        return setRows(sum, add(rows(sum.getLhs()), rows(sum.getRhs())));
      })
      .Case([&](SliceColumnsOp slice) {
        return setRows(slice, sliceColumns(rows(slice.getInput()),
                                           slice.getFirst(), slice.getWidth()));
      })
      .Default([](Operation *other) {
        return other->emitError()
               << "expected an op that the interpreter knows, got "
               << other->getName();
      });
}

FailureOr<Outputs> tfc::reference::runEntry(func::FuncOp entry,
                                            const Step &step,
                                            const WeightProvider &weights,
                                            Cache &cache, const TapFn &tap) {
  return Interpreter(entry, step, weights, cache, tap).run();
}
