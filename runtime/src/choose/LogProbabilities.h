// What a token was chosen from: logarithms of probabilities, the greatest
// first.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_CHOOSE_LOGPROBABILITIES_H
#define TFC_RUNTIME_SRC_CHOOSE_LOGPROBABILITIES_H

#include "runtime/src/choose/FindGreatest.h"
#include "tfc/runtime.h"

namespace tfc::rt {

/// One report a new token of a step; keeps its memory from step to step.
class LogProbabilityReports {
public:
  /// Forgets all; from here on reports are for `count` tokens, none of them
  /// asked for.
  void begin(size_t count);
  /// Reports the `numWanted` likeliest of `width` tokens, if any, and the
  /// chosen one, for token number `index`. Computed in double precision from
  /// the logits.
  void report(size_t index, const float *logits, int64_t width,
              uint32_t numWanted, int64_t chosen);
  /// Once all are reported: pointers that are valid until the next begin. Empty
  /// when nothing was asked for.
  void finish();
  const std::vector<tfc_logprobs> &list() const { return reports; }

private:
  std::vector<tfc_logprobs> reports;
  std::vector<size_t> firsts; // by report: where its tokens begin
  std::vector<int64_t> tokens;
  std::vector<float> values;
  std::vector<Ranked> ranked;
  bool isAsked = false;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_CHOOSE_LOGPROBABILITIES_H
