// The new rows of a step's sequences.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/NewRows.h"

#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;

static Value fieldOf(KernelBuilder &k, Value step, Value number,
                     int64_t offset) {
  ImplicitLocOpBuilder &b = k.builder();
  Value sequences = loadPointer(b, step, offsetof(tfc_step_v0, sequences));
  Value entry = buildAddress(b, sequences, number, sizeof(tfc_sequence_v0));
  return loadIndex(b, entry, offset, 32);
}

NewRows tfc::loadNewRows(KernelBuilder &k, Value step, Value number) {
  auto field = [&](int64_t offset) { return fieldOf(k, step, number, offset); };
  Value count = field(offsetof(tfc_sequence_v0, count));
  Value past = field(offsetof(tfc_sequence_v0, past));
  Value shown = k.subtract(field(offsetof(tfc_sequence_v0, keys)), past);
  return {field(offsetof(tfc_sequence_v0, first)), count, past,
          k.min(count, shown)};
}

NewRows tfc::findNewRows(KernelBuilder &k, Value step, Value token) {
  ImplicitLocOpBuilder &b = k.builder();
  Value own = k.reduce(
      loadIndex(b, step, offsetof(tfc_step_v0, n_sequences), 64), k.constant(0),
      [&](Value number, Value found) -> Value {
        Value first =
            fieldOf(k, step, number, offsetof(tfc_sequence_v0, first));
        Value count =
            fieldOf(k, step, number, offsetof(tfc_sequence_v0, count));
        Value isInside = arith::AndIOp::create(
            b, k.isAtMost(first, token), k.isLess(token, k.add(first, count)));
        return arith::SelectOp::create(b, isInside, number, found);
      });
  return loadNewRows(k, step, own);
}
