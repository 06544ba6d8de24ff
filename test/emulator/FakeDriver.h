// What the stand-in's devices have in common: settings, counted calls, the
// contexts of threads, pinned memory of the host.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_FAKEDRIVER_H
#define TFC_TEST_EMULATOR_FAKEDRIVER_H

#include "test/emulator/DriverTypes.h"
#include "test/emulator/Settings.h"

#include <map>
#include <memory>
#include <mutex>

namespace tfc::emulator {

class FakeDevice;

/// Safe from any thread.
class FakeDriver {
public:
  static FakeDriver &instance();
  ~FakeDriver();

  /// Reads the settings again, and counts calls anew; a device that nobody has
  /// a context of lives again.
  CudaResult initialize();
  const Settings &settings() const { return chosen; }

  /// Counts a call of a function and says what it fails with, as it was asked
  /// to.
  CudaResult count(const char *function, CudaResult usual);

  /// Device number i; null where there is none.
  FakeDevice *device(int number);
  /// That of the thread's current context, or the first where it has none.
  FakeDevice &current();
  /// That of an address, or of memory by its handle; null where there is none.
  FakeDevice *ownerOf(uint64_t address);
  FakeDevice *ownerOfHandle(uint64_t handle);

  /// Of the calling thread: puts a context on its stack, whose top is current;
  /// takes the top off; puts another in its place, or with null takes it off.
  CudaResult pushContext(void *pushed);
  CudaResult popContext(void **popped);
  CudaResult setContext(void *current);
  /// Null where there is none.
  FakeDevice *currentContext() const;

  void *allocatePinned(uint64_t bytes);
  bool freePinned(void *memory);
  /// Whether the bytes are pinned host memory.
  bool isPinned(const void *memory, uint64_t bytes) const;

private:
  FakeDriver() = default;

  mutable std::mutex mutex;
  bool hasBegun = false;
  Settings chosen;
  std::map<std::string, int64_t> calls;
  std::map<int, std::unique_ptr<FakeDevice>> devices; // they stay
  std::map<uint64_t, uint64_t> pinned;                // bytes by address
};

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_FAKEDRIVER_H
