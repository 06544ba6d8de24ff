// Log softmax of a row, of the tokens that are reported.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/choose/LogProbabilities.h"

namespace tfc::rt {

void LogProbabilityReports::begin(size_t count) {
  reports.assign(count, {});
  firsts.assign(count, 0);
  tokens.clear();
  values.clear();
  isAsked = false;
}

void LogProbabilityReports::report(size_t index, const float *logits,
                                   int64_t width, uint32_t numWanted,
                                   int64_t chosen) {
  isAsked = true;
  int64_t k = std::min<int64_t>(numWanted, width);
  // The first is needed for the sum.
  findGreatest(
      width, std::max<int64_t>(k, 1), [&](int64_t i) { return logits[i]; },
      ranked);
  double greatest = ranked.front().first, sum = 0;
  for (int64_t i = 0; i < width; ++i) {
    sum += std::exp(logits[i] - greatest);
  }
  double total = greatest + std::log(sum);
  tfc_logprobs &to = reports[index];
  to.chosen = static_cast<float>(logits[chosen] - total);
  to.n = static_cast<uint32_t>(k);
  firsts[index] = tokens.size();
  for (int64_t i = 0; i < k; ++i) {
    tokens.push_back(ranked[i].second);
    values.push_back(static_cast<float>(ranked[i].first - total));
  }
}

void LogProbabilityReports::finish() {
  if (!isAsked) {
    reports.clear();
  }
  for (size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].n != 0) {
      reports[i].tokens = tokens.data() + firsts[i];
      reports[i].values = values.data() + firsts[i];
    }
  }
}

} // namespace tfc::rt
