// Entry points: events, by the clock of the machine that the stand-in runs on.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/EntryPoints.h"
#include "test/emulator/FakeDevice.h"

#include <atomic>
#include <chrono>

namespace tfc::emulator {

namespace {

FakeDevice &device() { return FakeDevice::current(); }

/// When a stream came to it, in nanoseconds; 0: it did not yet.
struct Event {
  std::atomic<int64_t> reached{0};
};

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int cuEventCreate(void **event, unsigned flags) {
  CudaResult result = device().beginInContext("cuEventCreate", CudaOutOfMemory);
  result = result || flags == 0 ? result : CudaInvalidValue;
  *event = result ? nullptr : new std::shared_ptr<Event>(new Event);
  return result;
}

/// What a stream has yet to come to stays until then.
int cuEventDestroy(void *event) {
  if (CudaResult result = device().checkContext()) {
    return result;
  }
  delete static_cast<std::shared_ptr<Event> *>(event);
  return CudaSuccess;
}

int cuEventRecord(void *handle, void *streamHandle) {
  CudaResult result = device().beginInContext("cuEventRecord");
  Stream *stream = device().findStream(streamHandle);
  if (result || !stream) {
    return result ? result : CudaInvalidHandle;
  }
  auto event = *static_cast<std::shared_ptr<Event> *>(handle);
  event->reached = 0;
  device().enqueue(*stream, [event](const RunOrder &) {
    event->reached = now();
    return LaunchOutcome();
  });
  return CudaSuccess;
}

int cuEventElapsedTime(float *milliseconds, void *from, void *to) {
  CudaResult result = device().beginInContext("cuEventElapsedTime");
  if (result) {
    return result;
  }
  int64_t begin = (*static_cast<std::shared_ptr<Event> *>(from))->reached;
  int64_t end = (*static_cast<std::shared_ptr<Event> *>(to))->reached;
  *milliseconds = static_cast<float>(double(end - begin) / 1e6);
  return begin && end ? CudaSuccess : CudaNotReady;
}

} // namespace

void *findEventPoint(const std::string &name) {
  static const EntryPoint points[] = {
      {"cuEventCreate", pointer(cuEventCreate)},
      {"cuEventDestroy", pointer(cuEventDestroy)},
      {"cuEventRecord", pointer(cuEventRecord)},
      {"cuEventElapsedTime", pointer(cuEventElapsedTime)},
  };
  return findPoint(points, name);
}

} // namespace tfc::emulator
