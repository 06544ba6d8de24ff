// One device: contexts, streams and their work.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/FakeDevice.h"

namespace tfc::emulator {

bool FakeDevice::open(const Settings &settings) {
  std::lock_guard<std::mutex> lock(mutex);
  chosen = settings;
  random.seed(chosen.seed);
  if (numContexts == 0) {
    dead = {};
  }
  return memory.open(chosen.memory);
}

CudaResult FakeDevice::begin(const char *function, CudaResult usual) {
  CudaResult result = FakeDriver::instance().count(function, usual);
  std::lock_guard<std::mutex> lock(mutex);
  return result ? result : dead.result;
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

CudaResult FakeDevice::checkContext() {
  bool isCurrent = FakeDriver::instance().currentContext() == this;
  return isCurrent && hasContext() ? CudaSuccess : CudaInvalidContext;
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
  if (stream.capture) {
    stream.capture->work.push_back(std::move(work));
    return;
  }
  stream.work.push_back({races.tick(), std::move(work)});
}

CudaResult FakeDevice::runFirst(Stream &stream) {
  Stream::Item item = std::move(stream.work.front());
  stream.work.pop_front();
  RunOrder order;
  order.seed = chosen.seed;
  order.races = chosen.findsRaces ? &races : nullptr;
  order.counters = chosen.counters.empty() ? nullptr : &counters;
  order.wave = chosen.wave;
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
  if (stream.capture) {
    stream.capture->isInvalid = true;
    return CudaCaptureUnsupported;
  }
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

CudaResult FakeDevice::beginCapture(Stream &stream, CaptureMode mode) {
  std::lock_guard<std::recursive_mutex> lock(running);
  if (stream.capture) {
    return CudaIllegalState;
  }
  stream.capture = std::make_shared<Capture>();
  stream.capture->mode = mode;
  stream.capture->by = std::this_thread::get_id();
  return CudaSuccess;
}

CudaResult FakeDevice::endCapture(Stream &stream,
                                  std::vector<StreamWork> &work) {
  std::lock_guard<std::recursive_mutex> lock(running);
  std::shared_ptr<Capture> capture = stream.capture;
  if (!capture) {
    return CudaIllegalState;
  }
  if (capture->mode != OfNobody && capture->by != std::this_thread::get_id()) {
    return CudaCaptureWrongThread;
  }
  stream.capture.reset();
  if (capture->isInvalid) {
    return CudaCaptureInvalidated;
  }
  work = std::move(capture->work);
  return CudaSuccess;
}

CudaResult FakeDevice::refuseInCapture() {
  std::lock_guard<std::recursive_mutex> all(running);
  std::lock_guard<std::mutex> lock(mutex);
  CudaResult result = CudaSuccess;
  for (Stream *stream : streams) {
    Capture *capture = stream->capture.get();
    bool isMeant = capture && (capture->mode == OfAllThreads ||
                               (capture->mode == OfTheThread &&
                                capture->by == std::this_thread::get_id()));
    if (isMeant) {
      capture->isInvalid = true;
      result = CudaCaptureUnsupported;
    }
  }
  return result;
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

} // namespace tfc::emulator
