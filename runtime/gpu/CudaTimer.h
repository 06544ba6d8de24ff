// What a step's kernels take, by the device's own clock.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_GPU_CUDATIMER_H
#define TFC_RUNTIME_GPU_CUDATIMER_H

#include "runtime/gpu/CudaContext.h"
#include "runtime/src/step/Device.h"

namespace tfc::rt {

/// Events of one stream, kept from step to step. All its functions belong to
/// the thread that has the context.
class CudaTimer {
public:
  /// The context outlives it.
  explicit CudaTimer(const CudaContext &context) : context(context) {}
  ~CudaTimer();
  CudaTimer(const CudaTimer &) = delete;
  CudaTimer &operator=(const CudaTimer &) = delete;

  void set(Timing wanted) { timing = wanted; }
  bool isOn() const { return timing != Timing::None; }
  /// Forgets what was marked, and marks the beginning. Errors: those of a
  /// device; so the next two.
  Status begin(cuda::StreamHandle stream);
  /// Marks the end of a kernel, if kernels are timed.
  Status markKernel(cuda::StreamHandle stream, const char *kernel);
  /// Marks the end.
  Status end(cuda::StreamHandle stream);
  /// What lies between the marks, once the stream has done its work; nothing
  /// when nothing is timed. Errors: those of a device.
  Result<std::optional<StepTimes>> read() const;

private:
  Status mark(cuda::StreamHandle stream, const char *kernel);
  /// Seconds from one mark to another.
  Result<double> between(size_t from, size_t to) const;

  const CudaContext &context;
  Timing timing = Timing::None;
  std::vector<cuda::Event> events;
  std::vector<const char *> kernels; // in front of mark i, null: the beginning
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_GPU_CUDATIMER_H
