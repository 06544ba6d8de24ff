// What a step is asked to do, for those who count what it costs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_COST_STEP_H
#define TFC_COMPILER_COST_STEP_H

#include <cstdint>

namespace tfc::cost {

/// Sequences that are all alike.
struct Step {
  int64_t sequences = 1;
  int64_t newTokens = 1; // of each
  /// Of each, with the new ones: what the last of them may see.
  int64_t keys = 1;
  /// What an encoder left of each, for cross-attention.
  int64_t source = 0;
  /// Bytes of a value between ops.
  double valueBytes = 4;

  int64_t tokens() const { return sequences * newTokens; }
};

} // namespace tfc::cost

#endif // TFC_COMPILER_COST_STEP_H
