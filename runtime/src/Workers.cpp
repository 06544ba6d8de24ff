// Loops on the pool, or handed to the caller and checked: compiled code
// believes the numbers that it gets, and nothing may be thrown through the
// caller.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Workers.h"

#include "runtime/src/Error.h"
#include "runtime/src/ThreadPool.h"

namespace tfc::rt {

namespace {

/// A loop that the caller's threads run.
class LentLoop {
public:
  LentLoop(uint32_t workers, int64_t n, tfc_body_fn body, void *arg)
      : workers(workers), n(n), body(body), arg(arg) {}

  void run(int64_t begin, int64_t end, uint32_t worker) noexcept {
    if (begin < 0 || begin > end || end > n || worker >= workers) {
      isBroken.store(true, std::memory_order_relaxed);
      return;
    }
    if (begin < end && !hasThrown.load(std::memory_order_relaxed)) {
      try {
        body(arg, begin, end, worker);
      } catch (...) {
        keepThrown();
      }
    }
    numDone.fetch_add(end - begin, std::memory_order_release);
  }

  /// When the caller says that all has been run.
  void finish() {
    int64_t done = numDone.load(std::memory_order_acquire);
    if (isBroken || done != n) {
      throw LoopFault(concat(
          "parallel_for: expected each of ", n, " items run once, by workers ",
          "below ", workers, ", got ", done, " items",
          isBroken ? ", and ranges or workers that there are not" : ""));
    }
    if (thrown) {
      std::rethrow_exception(std::move(thrown));
    }
  }

private:
  /// The first one's exception.
  void keepThrown() noexcept {
    if (!hasThrown.exchange(true)) {
      thrown = std::current_exception();
    }
  }

  const uint32_t workers;
  const int64_t n;
  const tfc_body_fn body;
  void *const arg;
  std::atomic<int64_t> numDone{0};
  std::atomic<bool> isBroken{false}, hasThrown{false};
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
  lent(
      user, n,
      [](void *to, int64_t begin, int64_t end, uint32_t worker) {
        static_cast<LentLoop *>(to)->run(begin, end, worker);
      },
      &loop);
  loop.finish();
}

} // namespace tfc::rt
