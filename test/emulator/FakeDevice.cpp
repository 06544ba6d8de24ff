// One device in a process.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/FakeDevice.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace tfc::emulator {

FakeDevice &FakeDevice::instance() {
  static FakeDevice device;
  return device;
}

CudaResult FakeDevice::initialize() {
  std::lock_guard<std::mutex> lock(mutex);
  const char *text = std::getenv("TFC_FAKECUDA");
  chosen = readSettings(text ? text : "");
  if (!chosen.fault.empty()) {
    std::fprintf(stderr, "%s\n", chosen.fault.c_str());
    return CudaInvalidValue;
  }
  calls.clear();
  random.seed(chosen.seed);
  if (numContexts == 0) {
    dead = {};
  }
  if (chosen.devices == 0) {
    return CudaNoDevice;
  }
  hasBegun = memory.open(chosen.memory);
  return hasBegun ? CudaSuccess : CudaOutOfMemory;
}

CudaResult FakeDevice::begin(const char *function, CudaResult usual) {
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
  return dead.result;
}

CudaResult FakeDevice::die(const LaunchOutcome &outcome) {
  std::lock_guard<std::mutex> lock(mutex);
  if (dead.result == CudaSuccess) {
    dead = outcome;
  }
  return dead.result;
}

CudaResult FakeDevice::retainContext() {
  std::lock_guard<std::mutex> lock(mutex);
  ++numContexts;
  return CudaSuccess;
}

CudaResult FakeDevice::releaseContext() {
  std::lock_guard<std::mutex> lock(mutex);
  if (numContexts == 0) {
    return CudaInvalidContext;
  }
  --numContexts;
  bool isWritten = numContexts > 0 || chosen.counters.empty() ||
                   counters.write(chosen.counters);
  return isWritten ? CudaSuccess : CudaUnknown;
}

CudaResult FakeDevice::beginInContext(const char *function, CudaResult usual) {
  CudaResult result = begin(function, usual);
  return result ? result : checkContext();
}

/// How often the one context is on the thread's stack. A number, not a list:
/// what has a destructor would keep the library in memory.
static thread_local int stackDepth = 0;

CudaResult FakeDevice::pushContext(void *pushed) {
  std::lock_guard<std::mutex> lock(mutex);
  if (pushed != context() || numContexts == 0) {
    return CudaInvalidContext;
  }
  ++stackDepth;
  return CudaSuccess;
}

CudaResult FakeDevice::popContext(void **popped) {
  if (stackDepth == 0) {
    return CudaInvalidContext;
  }
  --stackDepth;
  if (popped) {
    *popped = context();
  }
  return CudaSuccess;
}

CudaResult FakeDevice::setContext(void *current) {
  if (stackDepth > 0) {
    --stackDepth;
  }
  return current ? pushContext(current) : CudaSuccess;
}

void *FakeDevice::currentContext() {
  return stackDepth > 0 ? context() : nullptr;
}

CudaResult FakeDevice::checkContext() {
  std::lock_guard<std::mutex> lock(mutex);
  return stackDepth > 0 && numContexts > 0 ? CudaSuccess : CudaInvalidContext;
}

Stream *FakeDevice::createStream() {
  auto *stream = new Stream;
  std::lock_guard<std::mutex> lock(mutex);
  streams.insert(stream);
  return stream;
}

bool FakeDevice::destroyStream(Stream *stream) {
  std::lock_guard<std::recursive_mutex> all(running);
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (streams.erase(stream) == 0) {
      return false;
    }
  }
  delete stream;
  return true;
}

Stream *FakeDevice::findStream(void *stream) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = streams.find(static_cast<Stream *>(stream));
  return found == streams.end() ? nullptr : *found;
}

void FakeDevice::enqueue(Stream &stream, StreamWork work) {
  std::lock_guard<std::recursive_mutex> lock(running);
  stream.work.push_back({races.tick(), std::move(work)});
}

CudaResult FakeDevice::runFirst(Stream &stream) {
  Stream::Item item = std::move(stream.work.front());
  stream.work.pop_front();
  RunOrder order;
  order.seed = chosen.seed;
  order.races = chosen.findsRaces ? &races : nullptr;
  order.counters = chosen.counters.empty() ? nullptr : &counters;
  order.work = chosen.findsRaces ? races.begin(&stream, item.enqueued) : 0;
  LaunchOutcome outcome = item.run(order);
  if (outcome.result == CudaSuccess) {
    return CudaSuccess;
  }
  stream.work.clear();
  return die(outcome);
}

/// A device does not wait for the host: some of the other streams' work is done
/// by now, in their order.
void FakeDevice::runOthers(const Stream &stream) {
  std::vector<Stream *> others;
  {
    std::lock_guard<std::mutex> lock(mutex);
    others.assign(streams.begin(), streams.end());
  }
  for (Stream *other : others) {
    uint64_t count = random() % 4;
    for (; count > 0 && other != &stream && !other->work.empty(); --count) {
      runFirst(*other);
    }
  }
}

CudaResult FakeDevice::finish(Stream &stream) {
  std::lock_guard<std::recursive_mutex> lock(running);
  while (!stream.work.empty()) {
    if (chosen.seed) {
      runOthers(stream);
    }
    if (CudaResult result = runFirst(stream)) {
      return result;
    }
  }
  races.finish(&stream);
  return CudaSuccess;
}

LaunchOutcome FakeDevice::noteCopy(uint64_t address, uint64_t bytes,
                                   bool writes, const RunOrder &order) {
  if (!order.races) {
    return {};
  }
  Accessor by;
  by.work = order.work;
  std::string found = order.races->noteGlobal(address, bytes, writes, by);
  return found.empty() ? LaunchOutcome()
                       : LaunchOutcome{CudaLaunchFailed,
                                       "copy, race: " + found + ", at " +
                                           memory.describe(address)};
}

void FakeDevice::forgetAccesses(uint64_t address, uint64_t bytes) {
  std::lock_guard<std::recursive_mutex> lock(running);
  races.forget(address, bytes);
}

void *FakeDevice::allocatePinned(uint64_t bytes) {
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

bool FakeDevice::freePinned(void *memory) {
  std::lock_guard<std::mutex> lock(mutex);
  if (pinned.erase(reinterpret_cast<uint64_t>(memory)) == 0) {
    return false;
  }
  std::free(memory);
  return true;
}

bool FakeDevice::isPinned(const void *memory, uint64_t bytes) const {
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
