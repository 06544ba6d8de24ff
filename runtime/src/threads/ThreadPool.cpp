// The pool: workers spin for a moment between the loops of a step, then sleep.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/threads/ThreadPool.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <new>
#include <pthread.h>

namespace tfc::rt {

// Loops of one step follow each other within microseconds; a longer spin would
// steal time from other processes.
static constexpr std::chrono::microseconds spinTime(30);
// A worker takes its share of what is left, divided by this: large chunks
// first, whose items follow each other, and single items in the end, so that
// nobody waits for long (guided self-scheduling, Polychronopoulos and Kuck
// 1987).
static constexpr int64_t chunksPerShare = 2;

static constexpr int spinsBeforeYield = 2000;

static void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  // The hint that is meant for it, yield, is nothing on most machines; this
  // one waits about as long as x86's.
  __asm__ volatile("isb" ::: "memory");
#elif defined(__riscv)
  // Zihintpause's, a fence of nothing where a machine has it not.
  __asm__ volatile(".4byte 0x0100000f" ::: "memory");
#endif
}

namespace {

/// While it lives, the thread gets no signal, and threads that it makes never
/// will: a program's handlers run on the program's own threads.
class NoSignals {
public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  NoSignals(const NoSignals &) = delete;
  NoSignals &operator=(const NoSignals &) = delete;

private:
  sigset_t before;
};

void nameThread(uint32_t worker) {
  char name[16]; // the system's limit
  std::snprintf(name, sizeof name, "tfc-worker-%u", worker);
  pthread_setname_np(pthread_self(), name);
}

} // namespace

ThreadPool &ThreadPool::instance() {
  static ThreadPool *pool = [] {
    auto *made = new ThreadPool;
    // Without memory for the handler children of fork run loops that hang.
    if (pthread_atfork(nullptr, nullptr, restartInChild) != 0) {
      throw std::bad_alloc();
    }
    return made;
  }();
  return *pool;
}

/// In place: nothing may be allocated here, and locks that a thread held that
/// the child has not must be forgotten, not destroyed.
void ThreadPool::restartInChild() {
  ThreadPool &pool = instance();
  uint32_t lost = std::max<uint32_t>(pool.numWorkers, pool.lostToFork);
  (new (&pool) ThreadPool)->lostToFork = lost;
}

uint32_t ThreadPool::reserve(uint32_t workers) {
  std::lock_guard<std::mutex> lock(mutex);
  uint32_t wanted = std::min(workers, maxThreads);
  while (numWorkers < wanted) {
    uint32_t worker = numWorkers;
    NoSignals quiet;
    try {
      std::thread([this, worker] {
        nameThread(worker);
        loop(worker);
      }).detach();
    } catch (const std::exception &) { // no thread, or no memory for one
      break;
    }
    numWorkers = worker + 1;
  }
  return std::min<uint32_t>(wanted, numWorkers);
}

void ThreadPool::parallelFor(uint32_t workers, int64_t n, tfc_body_fn body,
                             void *arg) {
  if (n <= 0) {
    return;
  }
  if (uint32_t lost = lostToFork.exchange(0, std::memory_order_relaxed)) {
    reserve(lost);
  }
  workers = static_cast<uint32_t>(
      std::min<int64_t>(std::min<uint32_t>(workers, numWorkers), n));
  if (workers <= 1 || busy.exchange(1, std::memory_order_acquire)) {
    body(arg, 0, n, 0);
    return;
  }
  this->body = body;
  this->arg = arg;
  total = n;
  divisor = workers * chunksPerShare;
  next.store(0, std::memory_order_relaxed);
  pending.store(workers - 1, std::memory_order_relaxed);
  uint64_t number = (ticket.load(std::memory_order_relaxed) >> 16) + 1;
  ticket.store(number << 16 | workers);
  if (sleepers.load() > 0) {
    std::lock_guard<std::mutex> lock(mutex);
    wake.notify_all();
  }
  work(0);
  for (int i = 0; pending.load(std::memory_order_acquire) != 0; ++i) {
    // A worker that lost its CPU may need ours.
    i < spinsBeforeYield ? pause() : std::this_thread::yield();
  }
  std::exception_ptr fault = std::move(thrown);
  thrown = nullptr;
  hasThrown.store(0, std::memory_order_relaxed);
  busy.store(0, std::memory_order_release);
  if (fault) {
    std::rethrow_exception(std::move(fault));
  }
}

/// The first one's exception; nobody begins with what is left.
void ThreadPool::keepThrown() noexcept {
  if (!hasThrown.exchange(1, std::memory_order_relaxed)) {
    thrown = std::current_exception();
  }
  next.store(total, std::memory_order_relaxed);
}

void ThreadPool::work(uint32_t worker) noexcept {
  for (;;) {
    int64_t begin = next.load(std::memory_order_relaxed), end;
    do {
      if (begin >= total) {
        return;
      }
      end = begin + std::max<int64_t>(1, (total - begin) / divisor);
    } while (
        !next.compare_exchange_weak(begin, end, std::memory_order_relaxed));
    try {
      body(arg, begin, end, worker);
    } catch (...) {
      keepThrown();
    }
  }
}

uint64_t ThreadPool::waitForTicket(uint64_t last) {
  auto end = std::chrono::steady_clock::now() + spinTime;
  do {
    for (int i = 0; i < 64; ++i) {
      uint64_t now = ticket.load(std::memory_order_acquire);
      if (now != last) {
        return now;
      }
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  std::unique_lock<std::mutex> lock(mutex);
  ++sleepers;
  wake.wait(lock, [&] { return ticket.load() != last; });
  --sleepers;
  return ticket.load();
}

void ThreadPool::loop(uint32_t worker) noexcept {
  uint64_t last = 0;
  for (;;) {
    last = waitForTicket(last);
    if (worker < (last & 0xffff)) {
      work(worker);
      pending.fetch_sub(1, std::memory_order_release);
    }
  }
}

} // namespace tfc::rt
