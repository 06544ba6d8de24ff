// The threads of a block as fibers: who runs next, who waits for whom.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_BLOCKTHREADS_H
#define TFC_TEST_EMULATOR_BLOCKTHREADS_H

#include "test/emulator/kernel_context.h"

#include <algorithm>
#include <csetjmp>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <ucontext.h>
#include <vector>

namespace tfc::emulator {

constexpr size_t warpSize = 32;

/// What a thread waits for.
enum class WaitKind { Nothing, Barrier, WarpBarrier, Exchange };

/// A fiber runs one thread, or where none waits for another, all of them.
class BlockThreads {
public:
  /// `seed` 0: threads run in order, and each as far as it comes.
  BlockThreads(uint32_t numThreads, bool areApart, uint64_t seed);

  /// Runs a block to its end: `run(first, last)` does the threads [first, last)
  /// on a fiber. What went wrong, or "": a thread that waits for ever. Stops
  /// early after `leave`.
  std::string run(const std::function<void(uint32_t, uint32_t)> &run);

  /// From a thread: ends the whole block.
  [[noreturn]] void leave();
  /// From a thread: returns when all threads of the block, or the lanes of
  /// `mask` in its warp, have come to the same place with `line`.
  void wait(WaitKind kind, uint32_t number, uint32_t mask, int line);
  /// Before an exchange: what this thread has for the others.
  void post(const uint32_t *words, uint32_t count) {
    std::copy(words, words + count, current->posted.words);
  }
  /// After it: what the lanes of its warp had.
  const emu_lane *seen() const {
    return &lanes[current->first / warpSize * warpSize];
  }

  /// The thread that runs, where each has a fiber.
  uint32_t thread() const { return current->first; }
  /// How often all threads of the block, or of its warp, came together.
  uint32_t blockEpoch() const { return epoch; }
  uint32_t warpEpoch() const { return current->warpEpoch; }

private:
  struct Fiber {
    ucontext_t context{}; // where it begins
    jmp_buf place{};      // where it goes on
    bool hasBegun = false;
    std::unique_ptr<char[]> stack; // as it comes: most of it stays untouched
    uint32_t first = 0, last = 0;
    bool isDone = false;
    WaitKind kind = WaitKind::Nothing;
    uint32_t number = 0, mask = 0;
    int line = 0;
    uint32_t warpEpoch = 0;
    emu_lane posted = {};
  };

  static void enter(unsigned high, unsigned low);
  void prepare(Fiber &fiber);
  void resume(Fiber &fiber);
  void giveWay();
  bool isComplete(size_t begin, size_t end, uint32_t lanes) const;
  bool releaseBlock();
  bool releaseWarp(size_t begin);
  std::string describeWaiting() const;

  bool hasLeft = false;
  uint32_t epoch = 0;
  bool isRandom;
  std::mt19937_64 random;
  std::vector<Fiber> fibers;
  /// What each thread had at its last exchange. Lanes that meet again overwrite
  /// theirs alone, and only when all of them have seen the others'.
  std::vector<emu_lane> lanes;
  std::vector<size_t> order;
  Fiber *current = nullptr;
  jmp_buf scheduler{};
  const std::function<void(uint32_t, uint32_t)> *body = nullptr;
};

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_BLOCKTHREADS_H
