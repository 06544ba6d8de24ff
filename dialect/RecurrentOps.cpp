// Convolutions and recurrences: inference, verifiers, effects.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/EffectUtils.h"
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace tfc::transformer;

/// So many numbers from `first` on are within the state.
static LogicalResult expectWithin(Operation *op, StateType state, int64_t first,
                                  std::optional<int64_t> numbers) {
  int64_t width = state.getWidth();
  if (first >= 0 && first <= width && numbers && *numbers <= width - first) {
    return success();
  }
  InFlightDiagnostic error = op->emitOpError()
                             << "expected numbers within the state's " << width
                             << ", got ";
  numbers ? error << *numbers : error << "more than can be counted";
  return error << " from " << first << " on";
}

static void addStateEffects(OpOperand &state, Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &state,
                       CacheResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), &state,
                       CacheResource::get());
}

//===-- causal_conv -------------------------------------------------------===//

/// Of causal_conv and ragged_conv.
template <typename Op> static LogicalResult verifyConv(Op op) {
  int64_t columns = widthOf(op.getInput()), taps = widthOf(op.getWeight());
  // causal_conv_c1
  if (failed(expectSize(op, "a weight with rows", rowsOf(op.getWeight()),
                        columns, "the width of the input"))) {
    return failure();
  }
  if (taps < 2) {
    return op.emitOpError()
           << "expected a weight of at least 2 tokens, got one of " << taps;
  }
  // causal_conv_c2
  if (op.getBias() &&
      failed(expectSize(op, "bias of length", widthOf(op.getBias()), columns,
                        "the width of the input"))) {
    return failure();
  }
  // causal_conv_c3
  StateType state = op.getState().getType();
  if (failed(expectWithin(op, state, op.getFirst(),
                          llvm::checkedMul(taps - 1, columns)))) {
    return failure();
  }
  // causal_conv_c4
  return expectLayer(op, op.getLayer(), state.getLayers(), "state");
}

LogicalResult CausalConvOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult CausalConvOp::verify() { return verifyConv(*this); }

void CausalConvOp::getEffects(Effects &effects) {
  addStateEffects(getStateMutable(), effects);
}

//===-- recurrence --------------------------------------------------------===//

/// The numbers of the heads' matrices; nothing where they are too many.
template <typename Op> static std::optional<int64_t> countNumbers(Op op) {
  int64_t keys = widthOf(op.getKey()) / op.getKeyHeads();
  return llvm::checkedMul(keys, widthOf(op.getValue()));
}

/// Of a decay for each number of the matrices.
template <typename Op> static LogicalResult verifyRates(Op op, Value rate) {
  // recurrence_c7
  if (failed(expectSize(op, "a log_rate with rows", rowsOf(rate),
                        widthOf(op.getKey()) / op.getKeyHeads(),
                        "the keys of a head")) ||
      failed(expectSize(op, "a log_rate of width", widthOf(rate),
                        widthOf(op.getValue()), "the width of the value"))) {
    return failure();
  }
  // recurrence_c8
  return op.getRule() == RecurrenceRule::Add
             ? success()
             : op.emitOpError("expected rule add beside a log_rate, got delta");
}

/// Of recurrence and ragged_recurrence.
template <typename Op> static LogicalResult verifyRecurrence(Op op) {
  auto heads = static_cast<int64_t>(op.getHeads());
  auto keyHeads = static_cast<int64_t>(op.getKeyHeads());
  // recurrence_c1
  if (keyHeads < 1 || heads < 1 || heads % keyHeads != 0) {
    return op.emitOpError() << "expected heads to be a positive multiple of "
                               "key_heads, got "
                            << heads << " and " << keyHeads;
  }
  // recurrence_c2
  if (failed(expectSize(op, "a query of width", widthOf(op.getQuery()),
                        widthOf(op.getKey()), "the width of the key"))) {
    return failure();
  }
  for (auto [what, value, parts] :
       {std::tuple{"key", op.getKey(), keyHeads},
        std::tuple{"value", op.getValue(), heads}}) {
    if (widthOf(value) % parts != 0) {
      return op.emitOpError()
             << "expected a " << what << " of a multiple of " << parts
             << " columns (its heads), got " << widthOf(value);
    }
  }
  // recurrence_c3
  Value rate = op.getLogRate();
  int64_t parts = rate ? widthOf(op.getValue()) : heads;
  const char *why = rate ? "the width of the value" : "heads";
  int64_t ofKeys = heads * (widthOf(op.getKey()) / keyHeads);
  if (int64_t width = widthOf(op.getDecay());
      width != parts && (rate || width != ofKeys)) {
    InFlightDiagnostic error = op->emitOpError() << "expected decay of width "
                                                 << parts << " (" << why << ")";
    if (!rate) {
      error << " or " << ofKeys << " (their keys)";
    }
    return error << ", got " << width;
  }
  if (failed(
          expectSize(op, "beta of width", widthOf(op.getBeta()), parts, why))) {
    return failure();
  }
  // recurrence_c4
  StateType state = op.getState().getType();
  if (failed(expectWithin(op, state, op.getFirst(), countNumbers(op)))) {
    return failure();
  }
  // recurrence_c5
  if (failed(expectLayer(op, op.getLayer(), state.getLayers(), "state"))) {
    return failure();
  }
  // recurrence_c6
  if (op.getSkip() && failed(expectSize(op, "skip of length",
                                        widthOf(op.getSkip()), parts, why))) {
    return failure();
  }
  return rate ? verifyRates(op, rate) : success();
}

LogicalResult RecurrenceOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getValue().getType()));
  return success();
}

LogicalResult RecurrenceOp::verify() { return verifyRecurrence(*this); }

void RecurrenceOp::getEffects(Effects &effects) {
  addStateEffects(getStateMutable(), effects);
}

//===-- decay -------------------------------------------------------------===//

LogicalResult DecayOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getInput().getType()));
  return success();
}

LogicalResult DecayOp::verify() {
  // decay_c1
  int64_t parts = widthOf(getLogRate()), width = widthOf(getInput());
  if (parts > 0 && width % parts == 0) {
    return success();
  }
  return emitOpError() << "expected log_rate of a length that divides " << width
                       << " (the width of the input), got " << parts;
}

//===-- ragged_conv -------------------------------------------------------===//

LogicalResult RaggedConvOp::verify() {
  // ragged_conv_c1
  return failed(expectSize(*this, "init of width", widthOf(getInit()),
                           widthOf(getInput()), "the width of the input"))
             ? failure()
             : verifyConv(*this);
}

void RaggedConvOp::getEffects(Effects &effects) {
  addDestinationEffects(*this, effects);
  addStateEffects(getStateMutable(), effects);
}

//===-- ragged_recurrence -------------------------------------------------===//

LogicalResult RaggedRecurrenceOp::verify() {
  // ragged_recurrence_c1
  return failed(expectSize(*this, "init of width", widthOf(getInit()),
                           widthOf(getValue()), "the width of the value"))
             ? failure()
             : verifyRecurrence(*this);
}

bool RaggedRecurrenceOp::hasKeyDecays() {
  return !getLogRate() &&
         widthOf(getDecay()) != static_cast<int64_t>(getHeads());
}

void RaggedRecurrenceOp::getEffects(Effects &effects) {
  addDestinationEffects(*this, effects);
  addStateEffects(getStateMutable(), effects);
}
