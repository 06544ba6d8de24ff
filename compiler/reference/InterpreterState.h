// The interpreter's state, shared by the files that implement it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_REFERENCE_INTERPRETERSTATE_H
#define TFC_COMPILER_REFERENCE_INTERPRETERSTATE_H

#include "compiler/reference/Formulas.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <memory>
#include <variant>

namespace tfc::reference {

using Ids = std::vector<int32_t>;
/// What an SSA value is: rows (a vector is one row), ids, an index, a
/// number. Handles have none. Types say which, so that reading one needs no
/// check.
using Datum = std::variant<std::monostate, std::shared_ptr<const Matrix>,
                           std::shared_ptr<const Ids>, int64_t, double>;

class Interpreter {
public:
  Interpreter(mlir::func::FuncOp entry, const Step &step,
              const WeightProvider &weights, Cache &cache, const TapFn &tap,
              const AttentionFn &attention, const IntegerProvider &integers)
      : entry(entry), step(step), weights(weights), cache(cache), tap(tap),
        watcher(attention), integers(integers) {}

  mlir::FailureOr<Outputs> run() {
    if (mlir::failed(bindArguments()) || mlir::failed(checkSequences()) ||
        mlir::failed(prepareWeights()) ||
        mlir::failed(runBlock(entry.getBody().front()))) {
      return mlir::failure();
    }
    return std::move(outputs);
  }

private:
  mlir::LogicalResult bindArguments();
  mlir::LogicalResult bindInput(mlir::BlockArgument argument,
                                transformer::InputAttr input);
  mlir::LogicalResult bindGiven(mlir::BlockArgument argument,
                                transformer::InputAttr input);
  mlir::LogicalResult checkSequences();
  /// Runs the entry that makes weights of weights, where there is one.
  mlir::LogicalResult prepareWeights();

  mlir::LogicalResult runBlock(mlir::Block &block);
  mlir::LogicalResult runOp(mlir::Operation &op);
  mlir::LogicalResult runOp(mlir::scf::ForOp loop);
  mlir::LogicalResult runOp(mlir::func::CallOp call);
  mlir::LogicalResult runOp(mlir::arith::ConstantOp constant);
  mlir::LogicalResult runOp(transformer::OutputOp output);
  mlir::LogicalResult runOp(transformer::TapOp tapOp);
  mlir::LogicalResult runOp(transformer::WeightOp weight);
  mlir::LogicalResult runOp(transformer::KeepOp keep);
  mlir::LogicalResult runOp(transformer::PerLayerOp op);
  mlir::LogicalResult runOp(transformer::RotaryOp op);
  mlir::LogicalResult runOp(transformer::EmbeddingOp op);
  mlir::LogicalResult runOp(transformer::GivenRowsOp op);
  mlir::LogicalResult runOp(transformer::GatherRowsOp op);
  mlir::LogicalResult runOp(transformer::PoolRowsOp op);
  mlir::LogicalResult runOp(transformer::PairRowsOp op);
  mlir::LogicalResult runOp(transformer::WeighRowsOp op);
  mlir::LogicalResult runOp(transformer::LogSoftmaxOp op);
  mlir::LogicalResult runOp(transformer::MemorySinksOp op);
  mlir::LogicalResult runOp(transformer::HashedAttentionOp op);
  /// The sequence of the step that has the row.
  mlir::FailureOr<const Sequence *> sequenceOf(mlir::Operation *op,
                                               int32_t token);
  mlir::LogicalResult runOp(transformer::RouteOp op);
  mlir::LogicalResult runOp(transformer::ScaleExpertsOp op);
  mlir::LogicalResult runOp(transformer::ExpertsOp op);
  mlir::LogicalResult runOp(transformer::GroupByOp op);
  mlir::LogicalResult runOp(transformer::ExpertLinearOp op);
  mlir::LogicalResult runOp(transformer::CombineOp op);
  mlir::LogicalResult runOp(transformer::AttentionOp op);
  mlir::LogicalResult runOp(transformer::CrossAttentionOp op);
  mlir::LogicalResult runOp(transformer::CacheWriteOp op);
  mlir::LogicalResult runOp(transformer::CausalConvOp op);
  mlir::LogicalResult runOp(transformer::RecurrenceOp op);
  mlir::FailureOr<double *> stateOf(mlir::Operation *op,
                                    transformer::StateType type,
                                    mlir::Value layer, int64_t first,
                                    int64_t numbers, const Sequence &sequence);
  mlir::LogicalResult runOp(transformer::SliceColumnsOp op);
  mlir::LogicalResult runOp(transformer::LatentAttentionOp op);
  /// Rows and heads of one attention, to whom it may concern.
  WatchFn watchAttention(bool isCross);
  mlir::FailureOr<std::vector<double>>
  elementsOf(transformer::ParameterOp parameter, int64_t layer);
  mlir::FailureOr<std::vector<double>>
  storedElementsOf(transformer::ParameterOp parameter, int64_t layer);
  mlir::FailureOr<IntegerElements> integersOf(transformer::ParameterOp matrix,
                                              int64_t layer);
  /// The number of a layer that the cache has.
  mlir::FailureOr<int64_t>
  layerOf(mlir::Operation *op, transformer::CacheType type, mlir::Value layer);

  void set(mlir::Value value, Datum datum) { values[value] = std::move(datum); }
  /// As what a cache of `type` keeps of it.
  Matrix keep(mlir::Value rows, transformer::CacheType type);
  /// Rounded to the elements of `value` where these have 16 bits; those of f32
  /// stay as exact as they are.
  mlir::LogicalResult setRows(mlir::Value value, Matrix matrix);
  const Matrix &rows(mlir::Value value) {
    return *std::get<std::shared_ptr<const Matrix>>(values[value]);
  }
  const Matrix *rowsOrNull(mlir::Value value) {
    return value ? &rows(value) : nullptr;
  }
  const Ids &ids(mlir::Value value) {
    return *std::get<std::shared_ptr<const Ids>>(values[value]);
  }
  int64_t index(mlir::Value value) { return std::get<int64_t>(values[value]); }
  double number(mlir::Value value) { return std::get<double>(values[value]); }

  mlir::func::FuncOp entry;
  const Step &step;
  const WeightProvider &weights;
  Cache &cache;
  const TapFn &tap;
  const AttentionFn &watcher;
  const IntegerProvider &integers;
  int64_t numAttentions[2] = {0, 0}; // so far; [1]: across stacks
  int64_t tokens = -1;               // until the first input says how many
  mlir::DenseMap<mlir::Value, Datum> values;
  /// Weights that are prepared: of a parameter and a layer.
  std::map<std::pair<mlir::Operation *, int64_t>, Datum> prepared;
  Outputs outputs;
};

} // namespace tfc::reference

#endif // TFC_COMPILER_REFERENCE_INTERPRETERSTATE_H
