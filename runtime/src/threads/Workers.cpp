// Loops on the pool, or handed to the caller and checked: compiled code
// believes the numbers that it gets, and nothing may be thrown through the
// caller.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/threads/Workers.h"

#include "runtime/src/CallOut.h"
#include "runtime/src/Error.h"
#include "runtime/src/threads/ThreadPool.h"

namespace tfc::rt {

namespace {

/// A loop that the caller's threads run.
class LentLoop {
public:
  LentLoop(uint32_t workers, int64_t n, tfc_body_fn body, void *arg)
      : workers(workers), n(n), body(body), arg(arg) {}

  void run(int64_t begin, int64_t end, uint32_t worker) {
    if (begin < 0 || begin > end || end > n || worker >= workers) {
      isBroken.store(true, std::memory_order_relaxed);
      return;
    }
    if (begin < end && !hasThrown.load(std::memory_order_relaxed)) {
      try {
        body(arg, begin, end, worker);
      } catch (const abi::__forced_unwind &) {
        throw; // the thread ends, and its items are missing
      } catch (...) {
        keepThrown();
      }
    }
    // Unsigned, so that it may wrap.
    edges.fetch_add(hashOf(begin) - hashOf(end), std::memory_order_relaxed);
    numDone.fetch_add(end - begin, std::memory_order_release);
  }

  /// When the caller says that all has been run.
  void finish() {
    int64_t done = numDone.load(std::memory_order_acquire);
    // If every item is in one range, each end but the last is a beginning.
    bool isOnce = edges == hashOf(0) - hashOf(n);
    if (isBroken || done != n || !isOnce) {
      throw LoopFault(concat(
          "parallel_for: expected each of ", n, " items run once, by workers ",
          "below ", workers, ", got ", done, " items",
          isBroken               ? ", and ranges or workers that there are not"
          : done == n && !isOnce ? ", some of them twice"
                                 : ""));
    }
    if (thrown) {
      std::rethrow_exception(std::move(thrown));
    }
  }

private:
  /// Numbers whose sums are equal by chance alone (splitmix64 of Steele, Lea,
  /// Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
  static uint64_t hashOf(int64_t item) {
    uint64_t bits = (static_cast<uint64_t>(item) + 1) * 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
  }

  /// The first one's exception.
  void keepThrown() noexcept {
    if (!hasThrown.exchange(1)) {
      thrown = std::current_exception();
    }
  }

  const uint32_t workers;
  const int64_t n;
  const tfc_body_fn body;
  void *const arg;
  std::atomic<int64_t> numDone{0};
  std::atomic<uint64_t> edges{0}; // of the ranges: beginnings less ends
  std::atomic<bool> isBroken{false};
  std::atomic<uint32_t> hasThrown{0}; // a word, as ThreadPool's
  std::exception_ptr thrown;
};

} // namespace

void Workers::parallelFor(int64_t n, tfc_body_fn body, void *arg) const {
  if (!lent) {
    ThreadPool::instance().parallelFor(numWorkers, n, body, arg);
    return;
  }
  if (n <= 0) {
    return;
  }
  if (n == 1 || numWorkers == 1) {
    body(arg, 0, n, 0);
    return;
  }
  LentLoop loop(numWorkers, n, body, arg);
  callOut("parallel_for", [&] {
    lent(
        user, n,
        [](void *to, int64_t begin, int64_t end, uint32_t worker) {
          static_cast<LentLoop *>(to)->run(begin, end, worker);
        },
        &loop);
  });
  loop.finish();
}

} // namespace tfc::rt
