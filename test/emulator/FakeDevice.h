// A device behind the stand-in's entry points: its memory, its streams, and the
// fault that killed it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_FAKEDEVICE_H
#define TFC_TEST_EMULATOR_FAKEDEVICE_H

#include "test/emulator/FakeDriver.h"
#include "test/emulator/RunGrid.h"

#include <atomic>
#include <deque>
#include <functional>
#include <random>
#include <set>
#include <thread>

namespace tfc::emulator {

/// Runs in an order, or is a copy that notes what it touches under its number.
using StreamWork = std::function<LaunchOutcome(const RunOrder &)>;

/// What is asked of a stream while it is captured: it is not done.
struct Capture {
  CaptureMode mode;
  std::thread::id by;
  bool isInvalid = false; // something was asked for that no graph may have
  std::vector<StreamWork> work;
};

/// Work that was asked for, in order; it runs when somebody waits for it, or
/// with a seed, some of it while somebody waits for another stream.
struct Stream {
  struct Item {
    uint64_t enqueued; // how many events of the host there were before
    StreamWork run;
  };
  std::deque<Item> work;
  std::shared_ptr<Capture> capture; // null: it is not captured
};

class FakeDevice;

struct LoadedModule {
  FakeDevice *device;
  std::shared_ptr<CompiledModule> code;
  uint64_t globals = 0; // device address; 0: it has none
};

/// A kernel of a module: what a CUfunction is.
struct LoadedKernel {
  LoadedModule *module;
  size_t entry;
  uint32_t sharedLimit; // of what a launch may ask for
};

/// Its functions are safe from any thread; a stream belongs to one at a time.
/// Its context, of which there is one, is its address.
class FakeDevice {
public:
  explicit FakeDevice(int number) : memory(number), deviceNumber(number) {}
  /// That of the thread's current context, or the first where it has none.
  static FakeDevice &current() { return FakeDriver::instance().current(); }

  /// Takes settings; forgets that it is dead when nobody has a context. False
  /// when the system has no addresses.
  bool open(const Settings &settings);
  int number() const { return deviceNumber; }

  /// Counts a call of a function and says what it fails with: as it was asked
  /// to, or because the device is dead.
  CudaResult begin(const char *function, CudaResult usual = CudaUnknown);
  /// The same of a function that is about the calling thread's context, which
  /// that thread has to have.
  CudaResult beginInContext(const char *function,
                            CudaResult usual = CudaUnknown);
  /// Remembers a fault after which nothing works any more.
  CudaResult die(const LaunchOutcome &outcome);
  /// Why the device is dead; empty: it is not.
  std::string whyDead() const { return dead.message; }

  CudaResult retainContext();
  CudaResult releaseContext();
  bool hasContext() const { return numContexts > 0; }
  /// Success where the calling thread's context is this device's and is still
  /// retained.
  CudaResult checkContext();

  Stream *createStream();
  bool destroyStream(Stream *stream);
  /// Null when there is no such stream.
  Stream *findStream(void *stream);
  void enqueue(Stream &stream, StreamWork work);
  /// Runs what a stream has to do; an error of one that is captured.
  CudaResult finish(Stream &stream);
  /// Begins to capture a stream, and ends it: with the work of a graph.
  CudaResult beginCapture(Stream &stream, CaptureMode mode);
  CudaResult endCapture(Stream &stream, std::vector<StreamWork> &work);
  /// Of a call that may not be made while streams are captured, by all threads
  /// or by this one: an error where one is, whose capture is invalid then.
  CudaResult refuseInCapture();
  /// A copy touches these bytes. An error where nothing orders it with others.
  LaunchOutcome noteCopy(uint64_t address, uint64_t bytes, bool writes,
                         const RunOrder &order);
  /// Memory that is handed out again has no past.
  void forgetAccesses(uint64_t address, uint64_t bytes);

  DeviceMemory memory;

private:
  CudaResult runFirst(Stream &stream);
  void runOthers(const Stream &stream);

  mutable std::mutex mutex;
  Counters counters;
  /// Held while there is work on the device, and while some is asked for.
  std::recursive_mutex running;
  Races races;
  std::mt19937_64 random;
  const int deviceNumber;
  Settings chosen;
  LaunchOutcome dead;
  std::atomic<int> numContexts{0};
  std::set<Stream *> streams;
};

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_FAKEDEVICE_H
