// Lanes count the stretches of a sequence each, and whose the warp's is.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/recurrent/SequenceStretch.h"

#include "compiler/kernel/StateBlocks.h"
#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

namespace {

/// Finds stretch `number` of the step.
class StretchSearch {
public:
  /// `sequences` is how many there are.
  StretchSearch(KernelBuilder &k, WarpBuilder &warp, Value step,
                Value sequences, int64_t tokens)
      : k(k), b(k.builder()), warp(warp), step(step), sequences(sequences),
        tokens(tokens) {}

  /// Its sequence, or -1 where there is no such stretch, and how many of the
  /// sequence are in front of it; i32.
  std::pair<Value, Value> find(Value number);

private:
  /// Of 32 sequences from `first` on, a lane one each; carries the stretches of
  /// those before, and what the lane has found.
  Values look(Value number, Value first, ValueRange before);
  /// The greatest that a lane has.
  Value greatest(Value value) {
    return warp.combine(value, WarpBuilder::kLanes,
                        [&](Value x, Value y) -> Value {
                          return arith::MaxSIOp::create(b, x, y);
                        });
  }
  Value word(int64_t value) {
    return arith::ConstantIntOp::create(b, value, 32);
  }
  Value toWord(Value index) {
    return arith::IndexCastOp::create(b, b.getI32Type(), index);
  }

  KernelBuilder &k;
  ImplicitLocOpBuilder &b;
  WarpBuilder &warp;
  Value step, sequences;
  int64_t tokens;
  Value table; // of sequences
};

} // namespace

Values StretchSearch::look(Value number, Value first, ValueRange before) {
  Value sequence = k.add(first, warp.lane);
  Value isThere = k.isLess(sequence, sequences);
  Value entry = buildAddress(
      b, table, k.min(sequence, k.subtract(sequences, k.constant(1))),
      sizeof(tfc_sequence_v0));
  Value count = loadIndex(b, entry, offsetof(tfc_sequence_v0, count), 32);
  Value stretches = k.max(k.roundUpDivide(count, tokens), k.constant(1));
  Value own = arith::SelectOp::create(b, isThere, toWord(stretches), word(0));
  Value end = arith::AddIOp::create(b, before[0], warp.sumUpTo(own));
  Value passed =
      arith::SubIOp::create(b, number, arith::SubIOp::create(b, end, own));
  // A negative number is a great one.
  Value isOwn =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, passed, own);
  return {warp.valueOf(end, k.constant(WarpBuilder::kLanes - 1)),
          arith::SelectOp::create(b, isOwn, toWord(sequence), before[1]),
          arith::SelectOp::create(b, isOwn, passed, before[2])};
}

std::pair<Value, Value> StretchSearch::find(Value number) {
  table = loadPointer(b, step, offsetof(tfc_step_v0, sequences));
  Values inits = {word(0), word(-1), word(-1)};
  Values found = k.loop(k.constant(0), sequences, WarpBuilder::kLanes, inits,
                        [&](Value first, ValueRange before) {
                          return look(toWord(number), first, before);
                        });
  return {greatest(found[1]), greatest(found[2])};
}

void tfc::forEachStretch(
    KernelBuilder &k, WarpBuilder &warp, Value step, int64_t tokens,
    int64_t places, function_ref<void(const SequenceStretch &, Value)> body) {
  ImplicitLocOpBuilder &b = k.builder();
  Value all = loadIndex(b, step, offsetof(tfc_step_v0, n_tokens), 64);
  // A field that is read out here is not read again inside, where it would be
  // the host's: a kernel gets the number.
  Value sequences = countSequences(k, step);
  // Whole ones of all tokens, and one for each sequence, or fewer.
  Value most = k.add(k.divide(all, tokens), sequences);
  Values upper = {most, k.constant(places), k.constant(WarpBuilder::kLanes)};
  Values lower(upper.size(), k.constant(0)), steps(upper.size(), k.constant(1));
  auto loop = scf::ParallelOp::create(b, lower, upper, steps);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Values own = loop.getInductionVars();
  warp.lane = own[2];
  auto [sequence, number] =
      StretchSearch(k, warp, step, sequences, tokens).find(own[0]);
  Value none = arith::ConstantIntOp::create(b, -1, 32);
  Value isAny =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, none, sequence);
  k.when(isAny, [&, sequence = sequence, number = number] {
    auto toIndex = [&](Value word) -> Value {
      return arith::IndexCastOp::create(b, b.getIndexType(), word);
    };
    body({toIndex(sequence), k.scale(toIndex(number), tokens)}, own[1]);
  });
}
