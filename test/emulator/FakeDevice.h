// The state behind the stand-in's entry points: one device, its memory, its
// streams and modules, and the fault that killed it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_FAKEDEVICE_H
#define TFC_TEST_EMULATOR_FAKEDEVICE_H

#include "test/emulator/RunGrid.h"
#include "test/emulator/Settings.h"

#include <deque>
#include <functional>
#include <set>

namespace tfc::emulator {

/// Work that was asked for, in order; it runs when somebody waits for it.
struct Stream {
  std::deque<std::function<LaunchOutcome()>> work;
};

struct LoadedModule {
  std::shared_ptr<CompiledModule> code;
  uint64_t globals = 0; // device address; 0: it has none
};

/// A kernel of a module: what a CUfunction is.
struct LoadedKernel {
  LoadedModule *module;
  size_t entry;
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
  /// Remembers a fault after which nothing works any more.
  CudaResult die(const LaunchOutcome &outcome);
  /// Why the device is dead; empty: it is not.
  std::string whyDead() const { return dead.message; }

  CudaResult retainContext();
  CudaResult releaseContext();
  bool hasContext() const { return numContexts > 0; }

  Stream *createStream();
  bool destroyStream(Stream *stream);
  /// Null when there is no such stream.
  Stream *findStream(void *stream);
  /// Runs what a stream has to do.
  CudaResult finish(Stream &stream);

  void *allocatePinned(uint64_t bytes);
  bool freePinned(void *memory);
  /// Whether the bytes are pinned host memory.
  bool isPinned(const void *memory, uint64_t bytes) const;

  DeviceMemory memory;

private:
  mutable std::mutex mutex;
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
