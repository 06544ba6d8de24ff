// What the host knows of the items of a step, by which it leaves out launches.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/StepItems.h"

#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;

Value StepItems::field(int64_t offset) {
  return loadIndex(k.builder(), step, offset, 64);
}

Value StepItems::mostRows() {
  Value tokens = field(offsetof(tfc_step_v0, n_tokens));
  Value items = field(offsetof(tfc_step_v0, n_items));
  return k.subtract(tokens, k.subtract(items, k.constant(1)));
}

Value StepItems::mayHaveFew(int64_t few) {
  Value tokens = field(offsetof(tfc_step_v0, n_tokens));
  Value sequences = field(offsetof(tfc_step_v0, n_sequences));
  Value last = k.remainder(k.subtract(tokens, k.constant(1)), queryRows);
  return arith::OrIOp::create(k.builder(), k.isLess(k.constant(1), sequences),
                              k.isLess(last, k.constant(few)));
}

Value StepItems::mayHaveMany(int64_t few) {
  return k.isLess(k.constant(few), mostRows());
}
