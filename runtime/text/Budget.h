// What one call may take: so many steps for its text, whatever a file asks for,
// and only as long as the caller wants.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_BUDGET_H
#define TFC_RUNTIME_TEXT_BUDGET_H

#include "runtime/src/Error.h"

#include <functional>

namespace tfc::text {

/// Whether the caller wants no more. May be empty: it waits.
using StopCheck = std::function<bool()>;

/// Belongs to one call, and so to one thread.
class Budget {
public:
  // Real pipelines need less than fifty.
  static constexpr uint64_t stepsAByte = 500, stepsAtLeast = 1000000;

  explicit Budget(uint64_t numBytes, StopCheck shouldStop = {})
      : numBytes(numBytes),
        stepsLeft(stepsAtLeast + stepsAByte * numBytes - stepsAsk),
        shouldStop(std::move(shouldStop)) {}

  /// Takes steps of what a file makes long: patterns, words. False: the call
  /// ends, and status() says why.
  bool spend(uint64_t count) {
    if (count > stepsNow) {
      return spendMore(count);
    }
    stepsNow -= count;
    return true;
  }

  /// What else a call may not have, such as memory: none of its steps are left.
  void exhaust() {
    isExhausted = true;
    stepsLeft = stepsNow = 0;
  }

  /// Steps of what is only as long as a text: they are not taken, but the
  /// caller is asked now and then.
  bool pass(uint64_t count) {
    stepsPassed += count;
    return stepsPassed < stepsAsk || ask();
  }

  /// Why the call ends. Errors: Exhausted, Cancelled.
  rt::Status status() const;

private:
  // Less than a millisecond.
  static constexpr uint64_t stepsAsk = 1 << 16;

  bool spendMore(uint64_t count);
  bool ask();

  uint64_t numBytes;
  uint64_t stepsLeft;           // without stepsNow
  uint64_t stepsNow = stepsAsk; // before the caller is asked again
  uint64_t stepsPassed = 0;     // since it was
  StopCheck shouldStop;
  bool isExhausted = false, isStopped = false;
};

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_BUDGET_H
