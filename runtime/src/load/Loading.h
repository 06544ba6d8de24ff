// A load that runs: its threads, and who hears how far it is and may stop it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_LOADING_H
#define TFC_RUNTIME_SRC_LOAD_LOADING_H

#include "runtime/src/Error.h"
#include "runtime/src/threads/Workers.h"

#include <atomic>
#include <thread>

namespace tfc::rt {

class Loading {
public:
  /// Tells nobody when `report` is null. It is told from the thread that this
  /// is made on.
  explicit Loading(const Workers &workers, tfc_progress_fn report = nullptr,
                   void *user = nullptr)
      : threads(workers), report(report), user(user) {}

  const Workers &workers() const { return threads; }

  // From the thread that loads.

  /// So many bytes more are to be read, summed, packed or written.
  void expect(uint64_t bytes);
  /// Cancelled when the caller wants no more.
  Status status() const;
  /// All is done: says so, if that is not what was said last. Errors:
  /// Cancelled.
  Status finish();

  // From any thread.

  /// So many of them are done.
  void add(uint64_t bytes);
  bool isCancelled() const {
    return hasCancelled.load(std::memory_order_relaxed);
  }

private:
  void tell();

  const Workers threads;
  const tfc_progress_fn report;
  void *const user;
  const std::thread::id owner = std::this_thread::get_id();
  uint64_t total = 0, told = 0; // of the owner
  bool hasTold = false;
  std::atomic<uint64_t> done{0};
  std::atomic<bool> hasCancelled{false};
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_LOAD_LOADING_H
