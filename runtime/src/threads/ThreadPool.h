// The threads that run a program's parallel loops: one pool a process, as many
// threads as the affinity mask and the CPU quota allow.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_THREADS_THREADPOOL_H
#define TFC_RUNTIME_SRC_THREADS_THREADPOOL_H

#include "runtime/src/memory/Cgroups.h"
#include "tfc/abi.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tfc::rt {

constexpr uint32_t maxThreads = 1024;

/// Threads that this process may keep busy, at least 1.
uint32_t allowedThreads();

/// CPUs' worth of quota of the control group of a process, rounded up; 0 when
/// there is none. Versions 1 and 2.
uint32_t cgroupQuota(const CgroupPlace &place);

class ThreadPool {
public:
  /// The pool of the process. It lives until the process ends: threads that
  /// wait in it cannot be joined from a static destructor. A child of fork has
  /// no thread but the one that forked: it begins with an empty pool, which its
  /// first loop fills again.
  static ThreadPool &instance();

  /// Makes sure that `workers` workers exist, the caller included. Returns how
  /// many do: fewer when the system gives no more threads.
  uint32_t reserve(uint32_t workers);

  /// Runs body over [0, n) with at most `workers` workers and returns when all
  /// is done. While the pool is busy with another loop (of another thread, or
  /// an outer one), the caller does the work alone, as worker 0, however long
  /// its loop and however short the other: loops are not queued. What a body
  /// throws is thrown here, one of several, when all workers have stopped; what
  /// had not begun by then is not done.
  void parallelFor(uint32_t workers, int64_t n, tfc_body_fn body, void *arg);

  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

private:
  ThreadPool() = default;
  static void restartInChild();
  void loop(uint32_t worker) noexcept;
  void work(uint32_t worker) noexcept;
  void keepThrown() noexcept;
  uint64_t waitForTicket(uint64_t last);

  // A ticket is (number of the loop << 16 | its workers), read as one word: a
  // thread that is late cannot mix one loop's number with another's workers.
  std::atomic<uint64_t> ticket{0};
  std::atomic<int64_t> next{0};
  std::atomic<uint32_t> pending{0}, sleepers{0}, numWorkers{1};
  // Words: compilers of RISC-V exchange bytes by a call of another library.
  std::atomic<uint32_t> busy{0}, hasThrown{0};
  std::atomic<uint32_t> lostToFork{0}; // workers that the parent has
  std::exception_ptr thrown;           // by a body of this loop
  tfc_body_fn body = nullptr;
  void *arg = nullptr;
  int64_t total = 0, divisor = 1;
  std::mutex mutex;
  std::condition_variable wake;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_THREADS_THREADPOOL_H
