// A parallel loop over a host's workers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_THREADS_FOREACH_H
#define TFC_RUNTIME_SRC_THREADS_FOREACH_H

#include "runtime/src/threads/Workers.h"

namespace tfc::rt {

/// Runs body(item, worker) for every item of [0, n); returns when all is done,
/// or throws as Workers::parallelFor.
template <typename F>
void forEach(const Workers &workers, int64_t n, const F &body) {
  auto run = [](void *arg, int64_t begin, int64_t end, uint32_t worker) {
    for (int64_t item = begin; item < end; ++item) {
      (*static_cast<const F *>(arg))(item, worker);
    }
  };
  workers.parallelFor(n, run, const_cast<F *>(&body));
}

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_THREADS_FOREACH_H
