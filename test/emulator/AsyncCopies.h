// cp.async: copies to shared memory that land as late as they may.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_ASYNCCOPIES_H
#define TFC_TEST_EMULATOR_ASYNCCOPIES_H

#include <cstdint>
#include <functional>
#include <vector>

namespace tfc::emulator {

/// What a thread has asked for: `fill` of its bytes are read, the rest is zero.
struct AsyncCopy {
  uint64_t to = 0; // in shared memory
  const unsigned char *from = nullptr;
  uint64_t bytes = 0, fill = 0;
  int line = 0;
  uint64_t group = 0; // 0: in no group yet
};

/// Of all threads of a block.
class AsyncCopies {
public:
  explicit AsyncCopies(uint32_t numThreads) : threads(numThreads) {}

  void add(uint32_t thread, const AsyncCopy &copy);
  /// Those in no group become one.
  void commit(uint32_t thread);
  /// All but the latest `pending` groups land.
  void wait(uint32_t thread, uint64_t pending,
            const std::function<void(const AsyncCopy &)> &land);
  /// One that never landed, or null.
  const AsyncCopy *leftOver(uint32_t thread) const;
  void clear();

private:
  struct Thread {
    uint64_t groups = 0;
    std::vector<AsyncCopy> copies;
  };
  std::vector<Thread> threads;
};

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_ASYNCCOPIES_H
