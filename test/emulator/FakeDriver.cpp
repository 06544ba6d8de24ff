// The driver: it is one for all devices of a process.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/FakeDriver.h"

#include "test/emulator/FakeDevice.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace tfc::emulator {

FakeDriver &FakeDriver::instance() {
  static FakeDriver driver;
  return driver;
}

FakeDriver::~FakeDriver() = default;

CudaResult FakeDriver::initialize() {
  std::lock_guard<std::mutex> lock(mutex);
  const char *text = std::getenv("TFC_FAKECUDA");
  chosen = readSettings(text ? text : "");
  if (!chosen.fault.empty()) {
    std::fprintf(stderr, "%s\n", chosen.fault.c_str());
    return CudaInvalidValue;
  }
  calls.clear();
  if (chosen.devices == 0) {
    return CudaNoDevice;
  }
  for (int number = 0; number < chosen.devices; ++number) {
    std::unique_ptr<FakeDevice> &device = devices[number];
    if (!device) {
      device = std::make_unique<FakeDevice>(number);
    }
    if (!device->open(chosen)) {
      return CudaOutOfMemory;
    }
  }
  hasBegun = true;
  return CudaSuccess;
}

CudaResult FakeDriver::count(const char *function, CudaResult usual) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!hasBegun) {
    return CudaNotInitialized;
  }
  int64_t call = ++calls[function];
  for (const Failure &failure : chosen.failures) {
    if (failure.function == function && failure.call == call) {
      return failure.result ? CudaResult(failure.result) : usual;
    }
  }
  return CudaSuccess;
}

FakeDevice *FakeDriver::device(int number) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = number < chosen.devices ? devices.find(number) : devices.end();
  return found == devices.end() ? nullptr : found->second.get();
}

FakeDevice *FakeDriver::ownerOf(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex);
  for (auto &[number, device] : devices) {
    if (device->memory.isOwn(address)) {
      return device.get();
    }
  }
  return nullptr;
}

FakeDevice *FakeDriver::ownerOfHandle(uint64_t handle) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = devices.find(int(handle >> DeviceMemory::handleBits));
  return found == devices.end() ? nullptr : found->second.get();
}

/// A thread's contexts. Not a container: what has a destructor would be run
/// when the thread ends, perhaps behind the driver.
struct ContextStack {
  FakeDevice *devices[64];
  int depth;
};
static thread_local ContextStack stack;

FakeDevice *FakeDriver::currentContext() const {
  return stack.depth > 0 ? stack.devices[stack.depth - 1] : nullptr;
}

FakeDevice &FakeDriver::current() {
  FakeDevice *device = currentContext();
  if (device) {
    return *device;
  }
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<FakeDevice> &first = devices[0];
  if (!first) {
    first = std::make_unique<FakeDevice>(0);
  }
  return *first;
}

CudaResult FakeDriver::pushContext(void *pushed) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found =
      std::find_if(devices.begin(), devices.end(), [&](const auto &entry) {
        return entry.second.get() == pushed;
      });
  if (found == devices.end() || !found->second->hasContext() ||
      stack.depth == std::size(stack.devices)) {
    return CudaInvalidContext;
  }
  stack.devices[stack.depth++] = found->second.get();
  return CudaSuccess;
}

CudaResult FakeDriver::popContext(void **popped) {
  if (stack.depth == 0) {
    return CudaInvalidContext;
  }
  --stack.depth;
  if (popped) {
    *popped = stack.devices[stack.depth];
  }
  return CudaSuccess;
}

CudaResult FakeDriver::setContext(void *current) {
  if (stack.depth > 0) {
    --stack.depth;
  }
  return current ? pushContext(current) : CudaSuccess;
}

void *FakeDriver::allocatePinned(uint64_t bytes) {
  uint64_t room = (bytes + 63) / 64 * 64;
  void *memory = room ? std::aligned_alloc(64, room) : nullptr;
  if (memory) {
    auto *words = static_cast<uint32_t *>(memory);
    std::fill(words, words + room / 4, poison);
    std::lock_guard<std::mutex> lock(mutex);
    pinned[reinterpret_cast<uint64_t>(memory)] = bytes;
  }
  return memory;
}

bool FakeDriver::freePinned(void *memory) {
  std::lock_guard<std::mutex> lock(mutex);
  if (pinned.erase(reinterpret_cast<uint64_t>(memory)) == 0) {
    return false;
  }
  std::free(memory);
  return true;
}

bool FakeDriver::isPinned(const void *memory, uint64_t bytes) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto address = reinterpret_cast<uint64_t>(memory);
  auto found = pinned.upper_bound(address);
  if (found == pinned.begin()) {
    return false;
  }
  --found;
  return address - found->first <= found->second &&
         bytes <= found->second - (address - found->first);
}

} // namespace tfc::emulator
