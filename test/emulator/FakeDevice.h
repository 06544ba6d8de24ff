// The state behind the stand-in's entry points: one device, its memory, its
// streams and modules, and the fault that killed it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_FAKEDEVICE_H
#define TFC_TEST_EMULATOR_FAKEDEVICE_H

#include "test/emulator/RunGrid.h"
#include "test/emulator/Settings.h"

#include <deque>
#include <functional>
#include <random>
#include <set>

namespace tfc::emulator {

/// Runs in an order, or is a copy that notes what it touches under its number.
using StreamWork = std::function<LaunchOutcome(const RunOrder &)>;

/// Work that was asked for, in order; it runs when somebody waits for it, or
/// with a seed, some of it while somebody waits for another stream.
struct Stream {
  struct Item {
    uint64_t enqueued; // how many events of the host there were before
    StreamWork run;
  };
  std::deque<Item> work;
};

struct LoadedModule {
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
class FakeDevice {
public:
  static FakeDevice &instance();

  /// Reads the settings again; forgets a dead device when nobody has a context.
  CudaResult initialize();
  bool isInitialized() const { return hasBegun; }
  const Settings &settings() const { return chosen; }

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
  /// The one context there is, as a handle.
  void *context() { return this; }
  /// Of the calling thread: puts a context on its stack, whose top is current;
  /// takes the top off; puts another in its place, or with null takes it off.
  CudaResult pushContext(void *pushed);
  CudaResult popContext(void **popped);
  CudaResult setContext(void *current);
  /// Null where there is none.
  void *currentContext();
  /// Success where the calling thread has a context that is still retained.
  CudaResult checkContext();

  Stream *createStream();
  bool destroyStream(Stream *stream);
  /// Null when there is no such stream.
  Stream *findStream(void *stream);
  void enqueue(Stream &stream, StreamWork work);
  /// Runs what a stream has to do.
  CudaResult finish(Stream &stream);
  /// A copy touches these bytes. An error where nothing orders it with others.
  LaunchOutcome noteCopy(uint64_t address, uint64_t bytes, bool writes,
                         const RunOrder &order);
  /// Memory that is handed out again has no past.
  void forgetAccesses(uint64_t address, uint64_t bytes);

  void *allocatePinned(uint64_t bytes);
  bool freePinned(void *memory);
  /// Whether the bytes are pinned host memory.
  bool isPinned(const void *memory, uint64_t bytes) const;

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
  bool hasBegun = false;
  Settings chosen;
  std::map<std::string, int64_t> calls;
  LaunchOutcome dead;
  int numContexts = 0;
  std::set<Stream *> streams;
  std::map<uint64_t, uint64_t> pinned; // bytes by address
};

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_FAKEDEVICE_H
