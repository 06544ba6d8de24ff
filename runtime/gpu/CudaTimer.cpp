// Records events and subtracts them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/gpu/CudaTimer.h"

namespace tfc::rt {

CudaTimer::~CudaTimer() {
  CudaScope scope(context);
  if (!scope.status()) {
    return;
  }
  for (cuda::Event event : events) {
    context.functions().cuEventDestroy(event);
  }
}

Status CudaTimer::mark(cuda::StreamHandle stream, const char *kernel) {
  if (kernels.size() == events.size()) {
    cuda::Event event = nullptr;
    Status status = context.check(
        context.functions().cuEventCreate(&event, cuda::EventDefault),
        "cuEventCreate", "to time a step");
    if (!status) {
      return status;
    }
    events.push_back(event);
  }
  kernels.push_back(kernel);
  return context.check(
      context.functions().cuEventRecord(events[kernels.size() - 1], stream),
      "cuEventRecord", "to time a step");
}

Status CudaTimer::begin(cuda::StreamHandle stream) {
  kernels.clear();
  return timing == Timing::None ? Status() : mark(stream, nullptr);
}

Status CudaTimer::markKernel(cuda::StreamHandle stream, const char *kernel) {
  return timing == Timing::Kernels ? mark(stream, kernel) : Status();
}

Status CudaTimer::end(cuda::StreamHandle stream) {
  return timing == Timing::Step ? mark(stream, nullptr) : Status();
}

Result<double> CudaTimer::between(size_t from, size_t to) const {
  float milliseconds = 0;
  Status status = context.check(context.functions().cuEventElapsedTime(
                                    &milliseconds, events[from], events[to]),
                                "cuEventElapsedTime", "to time a step");
  if (!status) {
    return std::move(status.error());
  }
  return double(milliseconds) / 1e3;
}

Result<std::optional<StepTimes>> CudaTimer::read() const {
  if (kernels.size() < 2) {
    return std::optional<StepTimes>();
  }
  StepTimes times;
  for (size_t i = 1; i < kernels.size(); ++i) {
    auto seconds = between(i - 1, i);
    if (!seconds) {
      return std::move(seconds.error());
    }
    times.seconds += *seconds;
    if (kernels[i]) {
      times.kernels.push_back({kernels[i], *seconds});
    }
  }
  return std::optional(std::move(times));
}

} // namespace tfc::rt
