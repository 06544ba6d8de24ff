// Entry points: memory of the device and of the host, copies, streams.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/EntryPoints.h"
#include "test/emulator/FakeDevice.h"

#include <cstring>

namespace tfc::emulator {

namespace {

FakeDriver &driver() { return FakeDriver::instance(); }
FakeDevice &device() { return FakeDevice::current(); }

int cuMemAlloc(uint64_t *address, size_t bytes) {
  CudaResult result = device().beginInContext("cuMemAlloc", CudaOutOfMemory);
  result = result ? result : device().refuseInCapture();
  result = result ? result : device().memory.allocate(bytes, address);
  if (result == CudaSuccess) {
    device().forgetAccesses(*address, bytes);
  }
  return result;
}

int cuMemFree(uint64_t address) {
  CudaResult unsafe = device().checkContext();
  unsafe = unsafe ? unsafe : device().refuseInCapture();
  if (unsafe) {
    return unsafe;
  }
  CudaResult freed = device().memory.free(address);
  CudaResult result = device().begin("cuMemFree");
  return result ? result : freed;
}

int cuMemGetInfo(size_t *free, size_t *total) {
  *total = device().memory.limit();
  *free = *total - device().memory.used();
  return device().beginInContext("cuMemGetInfo");
}

int cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  CudaResult result =
      device().beginInContext("cuMemHostAlloc", CudaOutOfMemory);
  result = result ? result : device().refuseInCapture();
  *memory = result ? nullptr : driver().allocatePinned(bytes);
  return result ? result : *memory ? CudaSuccess : CudaOutOfMemory;
}

int cuMemFreeHost(void *memory) {
  CudaResult result = device().checkContext();
  result = result ? result : device().refuseInCapture();
  return result                        ? result
         : driver().freePinned(memory) ? CudaSuccess
                                       : CudaInvalidValue;
}

int cuStreamCreate(void **stream, unsigned) {
  CudaResult result = device().beginInContext("cuStreamCreate");
  *stream = result ? nullptr : device().createStream();
  return result;
}

int cuStreamDestroy(void *stream) {
  CudaResult result = device().checkContext();
  return result ? result
         : device().destroyStream(static_cast<Stream *>(stream))
             ? CudaSuccess
             : CudaInvalidHandle;
}

int cuStreamSynchronize(void *handle) {
  CudaResult result = device().beginInContext("cuStreamSynchronize");
  Stream *stream = device().findStream(handle);
  return result   ? result
         : stream ? device().finish(*stream)
                  : CudaInvalidHandle;
}

/// Where device bytes lie, when the work is done; null when they may not be
/// used.
uint8_t *reach(uint64_t address, uint64_t bytes) {
  UsableRange range;
  return device().memory.find(address, bytes, range)
             ? range.memory + (address - range.begin)
             : nullptr;
}

LaunchOutcome outside(const char *what, uint64_t address, uint64_t bytes) {
  return {CudaIllegalAddress, std::string(what) + " of " +
                                  std::to_string(bytes) + " bytes at " +
                                  device().memory.describe(address)};
}

int cuMemcpyHtoDAsync(uint64_t to, const void *from, size_t bytes,
                      void *handle) {
  CudaResult result = device().beginInContext("cuMemcpyHtoDAsync");
  Stream *stream = device().findStream(handle);
  if (result || !stream) {
    return result ? result : CudaInvalidHandle;
  }
  // Pinned memory is read when the copy is done, other memory now.
  std::vector<uint8_t> now;
  bool isPinned = driver().isPinned(from, bytes);
  if (!isPinned && stream->capture) {
    return device().finish(*stream); // a graph would read it later
  }
  if (!isPinned) {
    const auto *data = static_cast<const uint8_t *>(from);
    now.assign(data, data + bytes);
  }
  auto work = [=, now = std::move(now)](const RunOrder &order) {
    uint8_t *at = reach(to, bytes);
    if (!at) {
      return outside("copy to the device", to, bytes);
    }
    std::memcpy(at, isPinned ? from : now.data(), bytes);
    if (order.counters) {
      order.counters->addCopy(/*isDown=*/false, bytes);
    }
    return device().noteCopy(to, bytes, true, order);
  };
  device().enqueue(*stream, std::move(work));
  return CudaSuccess;
}

int cuMemcpyDtoHAsync(void *to, uint64_t from, size_t bytes, void *handle) {
  CudaResult result = device().beginInContext("cuMemcpyDtoHAsync");
  Stream *stream = device().findStream(handle);
  if (result || !stream) {
    return result ? result : CudaInvalidHandle;
  }
  device().enqueue(*stream, [=](const RunOrder &order) {
    const uint8_t *at = reach(from, bytes);
    if (!at) {
      return outside("copy from the device", from, bytes);
    }
    std::memcpy(to, at, bytes);
    if (order.counters) {
      order.counters->addCopy(/*isDown=*/true, bytes);
    }
    return device().noteCopy(from, bytes, false, order);
  });
  // Nobody could tell when memory that is not pinned has been written.
  return driver().isPinned(to, bytes) ? CudaSuccess : device().finish(*stream);
}

int cuMemcpyDtoDAsync(uint64_t to, uint64_t from, size_t bytes, void *handle) {
  CudaResult result = device().beginInContext("cuMemcpyDtoDAsync");
  Stream *stream = device().findStream(handle);
  if (result || !stream) {
    return result ? result : CudaInvalidHandle;
  }
  device().enqueue(*stream, [=](const RunOrder &order) {
    uint8_t *target = reach(to, bytes);
    const uint8_t *source = reach(from, bytes);
    if (!target || !source) {
      return outside("copy on the device", target ? from : to, bytes);
    }
    std::memmove(target, source, bytes);
    LaunchOutcome read = device().noteCopy(from, bytes, false, order);
    return read.result ? read : device().noteCopy(to, bytes, true, order);
  });
  return CudaSuccess;
}

/// Enqueues what writes `bytes` at `to`.
template <typename Fill>
int enqueueFill(const char *function, uint64_t to, uint64_t bytes, void *handle,
                Fill fill) {
  CudaResult result = device().beginInContext(function);
  Stream *stream = device().findStream(handle);
  if (result || !stream) {
    return result ? result : CudaInvalidHandle;
  }
  device().enqueue(*stream, [=](const RunOrder &order) {
    uint8_t *at = reach(to, bytes);
    if (!at) {
      return outside("memset", to, bytes);
    }
    fill(at);
    return device().noteCopy(to, bytes, true, order);
  });
  return CudaSuccess;
}

int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes,
                    void *handle) {
  return enqueueFill("cuMemsetD8Async", to, bytes, handle,
                     [=](uint8_t *at) { std::memset(at, value, bytes); });
}

int cuMemsetD32Async(uint64_t to, unsigned value, size_t count, void *handle) {
  return to % 4 ? CudaInvalidValue
                : enqueueFill("cuMemsetD32Async", to, 4 * count, handle,
                              [=](uint8_t *at) {
                                for (size_t i = 0; i < count; ++i) {
                                  std::memcpy(at + 4 * i, &value, 4);
                                }
                              });
}

} // namespace

void *findMemoryPoint(const std::string &name) {
  static const EntryPoint points[] = {
      {"cuMemAlloc", pointer(cuMemAlloc)},
      {"cuMemFree", pointer(cuMemFree)},
      {"cuMemGetInfo", pointer(cuMemGetInfo)},
      {"cuMemHostAlloc", pointer(cuMemHostAlloc)},
      {"cuMemFreeHost", pointer(cuMemFreeHost)},
      {"cuStreamCreate", pointer(cuStreamCreate)},
      {"cuStreamDestroy", pointer(cuStreamDestroy)},
      {"cuStreamSynchronize", pointer(cuStreamSynchronize)},
      {"cuMemcpyHtoDAsync", pointer(cuMemcpyHtoDAsync)},
      {"cuMemcpyDtoHAsync", pointer(cuMemcpyDtoHAsync)},
      {"cuMemcpyDtoDAsync", pointer(cuMemcpyDtoDAsync)},
      {"cuMemsetD8Async", pointer(cuMemsetD8Async)},
      {"cuMemsetD32Async", pointer(cuMemsetD32Async)},
  };
  return findPoint(points, name);
}

} // namespace tfc::emulator
