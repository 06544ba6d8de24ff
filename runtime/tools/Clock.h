// The time that tfc-bench measures with.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_CLOCK_H
#define TFC_RUNTIME_TOOLS_CLOCK_H

#include <chrono>

namespace tfc::bench {

/// Seconds of the steady clock.
inline double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace tfc::bench

#endif // TFC_RUNTIME_TOOLS_CLOCK_H
