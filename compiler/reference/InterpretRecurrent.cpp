// Ops of layers that keep a state, one at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/reference/Formulas.h"
#include "compiler/reference/InterpreterState.h"

#include <algorithm>

using namespace mlir;
using namespace tfc::reference;
using namespace tfc::transformer;

/// The state's numbers from `first` on of a sequence, zeros where it begins.
FailureOr<double *> Interpreter::stateOf(Operation *op, StateType type,
                                         Value layer, int64_t first,
                                         int64_t numbers,
                                         const Sequence &sequence) {
  int64_t number = index(layer);
  if (number < 0 || number >= type.getLayers()) {
    return op->emitError() << "expected a layer in [0, " << type.getLayers()
                           << ") of the state, got " << number;
  }
  if (sequence.keys != sequence.past + sequence.count) {
    return op->emitError() << "expected sequence " << sequence.id
                           << " without spectators (they would change its "
                              "state), got "
                           << sequence.past + sequence.count - sequence.keys;
  }
  std::vector<double> &state = cache.state(sequence.id, number);
  if (state.empty() && sequence.past > 0) {
    return op->emitError() << "expected sequence " << sequence.id
                           << " from its beginning, got it after "
                           << sequence.past << " tokens that left no state";
  }
  state.resize(type.getWidth());
  if (sequence.past == 0) {
    std::fill_n(state.begin() + first, numbers, 0.0);
  }
  return state.data() + first;
}

LogicalResult Interpreter::runOp(CausalConvOp op) {
  const Matrix &x = rows(op.getInput()), &weight = rows(op.getWeight());
  Matrix result(x.rows, x.cols);
  for (const Sequence &sequence : step.sequences) {
    FailureOr<double *> state =
        stateOf(op, op.getState().getType(), op.getLayer(), op.getFirst(),
                (weight.cols - 1) * x.cols, sequence);
    if (failed(state)) {
      return failure();
    }
    causalConv(x, weight, rowsOrNull(op.getBias()), sequence, *state, result);
  }
  return setRows(op, std::move(result));
}

LogicalResult Interpreter::runOp(RecurrenceOp op) {
  RecurrenceInputs inputs{rows(op.getQuery()),
                          rows(op.getKey()),
                          rows(op.getValue()),
                          rows(op.getDecay()),
                          rows(op.getBeta()),
                          static_cast<int64_t>(op.getHeads()),
                          static_cast<int64_t>(op.getKeyHeads()),
                          op.getRule(),
                          rowsOrNull(op.getSkip()),
                          rowsOrNull(op.getLogRate())};
  Matrix result(inputs.value.rows, inputs.value.cols);
  int64_t numbers = inputs.key.cols / inputs.keyHeads * inputs.value.cols;
  for (const Sequence &sequence : step.sequences) {
    FailureOr<double *> state =
        stateOf(op, op.getState().getType(), op.getLayer(), op.getFirst(),
                numbers, sequence);
    if (failed(state)) {
      return failure();
    }
    recurrence(inputs, sequence, *state, result);
  }
  return setRows(op, std::move(result));
}
