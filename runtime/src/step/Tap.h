// Values of a step that a library compiled with --taps reports.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_STEP_TAP_H
#define TFC_RUNTIME_SRC_STEP_TAP_H

#include <cstdint>
#include <functional>

namespace tfc::rt {

/// A value of an op, [rows, width], in the host's memory while the listener
/// runs.
struct TappedValue {
  const char *id; // "decoder.layers.attn.o:linear"
  int64_t layer;  // -1: outside the layers
  int64_t rows = 0, width = 0;
  uint32_t dtype; // TFC_DTYPE_*: what the step keeps it in; `data` is f32
  float *data;
  /// What a device was given to do last before, which is most likely what wrote
  /// the value; null on a CPU.
  const char *kernel;
};

/// What memory holds, f32, that a step with a listener lends before anything is
/// written there: a NaN that no arithmetic makes.
constexpr uint32_t untouchedBits = 0x7fedbeef;

/// Called from the thread that runs the step. True: it has changed `data`, and
/// the step goes on with what is there now, rounded to `dtype`.
using TapListener = std::function<bool(const TappedValue &)>;

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_STEP_TAP_H
