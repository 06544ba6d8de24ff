// Who runs parallel loops: the process's pool, or threads that a caller lends.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_THREADS_WORKERS_H
#define TFC_RUNTIME_SRC_THREADS_WORKERS_H

#include "runtime/src/CallerFault.h"
#include "tfc/abi.h"
#include "tfc/runtime.h"

namespace tfc::rt {

/// Threads that a caller lends did not run a loop as they must.
class LoopFault : public CallerFault {
public:
  using CallerFault::CallerFault;
};

class Workers {
public:
  /// So many of the pool, the calling thread included.
  explicit Workers(uint32_t count) : numWorkers(count) {}
  /// So many of the caller's.
  Workers(uint32_t count, tfc_parallel_for_fn lent, void *user)
      : numWorkers(count), lent(lent), user(user) {}

  uint32_t count() const { return numWorkers; }

  /// Runs body over [0, n) and returns when all is done; loops that one worker
  /// can do as well run on the calling thread. Throws what a body threw, and
  /// CallerFault.
  void parallelFor(int64_t n, tfc_body_fn body, void *arg) const;

private:
  uint32_t numWorkers;
  tfc_parallel_for_fn lent = nullptr; // null: the pool
  void *user = nullptr;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_THREADS_WORKERS_H
