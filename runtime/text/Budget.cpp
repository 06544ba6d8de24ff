// Asks the caller, and says why a call ends.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/Budget.h"

#include <algorithm>

namespace tfc::text {

bool Budget::spendMore(uint64_t count) {
  count -= stepsNow;
  stepsNow = 0;
  isExhausted |= count > stepsLeft;
  if (isExhausted || !ask()) {
    stepsLeft = 0;
    return false;
  }
  stepsLeft -= count;
  stepsNow = std::min(stepsLeft, stepsAsk);
  stepsLeft -= stepsNow;
  return true;
}

bool Budget::ask() {
  isStopped = isStopped || (shouldStop && shouldStop());
  // The answer is final: every later question gets it, too.
  stepsPassed = isStopped ? stepsAsk : 0;
  return !isStopped;
}

rt::Status Budget::status() const {
  if (isStopped) {
    return rt::makeError(rt::Code::Cancelled,
                         "stopped by the caller (should_stop)");
  }
  if (isExhausted) {
    return rt::makeError(rt::Code::Exhausted,
                         "expected a tokenizer that needs "
                         "at most ",
                         stepsAtLeast + stepsAByte * numBytes,
                         " steps for a text of ", numBytes,
                         " bytes, got one that needs more (by a pattern, or by "
                         "long tokens)");
  }
  return {};
}

} // namespace tfc::text
