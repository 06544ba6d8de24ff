// wgmma: products that go on while threads do something else, and what must
// not happen to their operands meanwhile.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_WARPGROUPPRODUCTS_H
#define TFC_TEST_EMULATOR_WARPGROUPPRODUCTS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tfc::emulator {

/// Shared memory that a product reads: whole swizzled rows of its tiles, of
/// which other steps of k are a part.
struct TileRange {
  uint64_t begin = 0, end = 0;
  int line = 0; // of the product
};

/// Of all threads of a block. Sums are computed when they are asked for; that
/// operands are there then, and untouched until somebody has waited, is
/// checked. A warpgroup is what its first thread does.
class WarpgroupProducts {
public:
  explicit WarpgroupProducts(uint32_t numThreads)
      : threads(numThreads), groups((numThreads + 127) / 128) {}

  /// wgmma.fence: what happened to the thread's sums before is over.
  void order(uint32_t thread) { threads[thread].isOrdered = true; }
  /// The thread asks for a product of `tiles`. What is wrong with that, or "".
  std::string add(uint32_t thread, const std::vector<TileRange> &tiles);
  void commit(uint32_t thread);
  /// All but the latest `pending` groups have been done: `done` gets their
  /// tiles, of the first thread of a warpgroup.
  void wait(uint32_t thread, uint64_t pending,
            const std::function<void(const TileRange &)> &done);

  /// The thread has written to shared memory, or a copy of its has landed.
  /// What may still be read there, or "".
  std::string write(uint32_t thread, uint64_t at, uint64_t bytes);
  /// fence.proxy.async: products see what the thread has written.
  void show(uint32_t thread) { threads[thread].hidden.clear(); }
  /// At the end of a thread: a product that nobody waited for, or null.
  const TileRange *leftOver(uint32_t thread) const;
  void clear();

private:
  struct Thread {
    bool isOrdered = false;
    std::vector<TileRange> hidden; // written, and not shown
  };
  struct Pending {
    TileRange tile;
    uint64_t group = 0; // 0: in none yet
  };
  struct Group {
    uint64_t committed = 0;
    std::vector<Pending> products;
  };
  static bool isFirst(uint32_t thread) { return thread % 128 == 0; }

  std::vector<Thread> threads;
  std::vector<Group> groups;
};

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_WARPGROUPPRODUCTS_H
