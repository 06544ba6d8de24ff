// A parallel loop over a host's workers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_FOREACH_H
#define TFC_RUNTIME_SRC_FOREACH_H

#include "tfc/abi.h"

namespace tfc::rt {

/// Runs body(item, worker) for every item of [0, n); returns when all is done,
/// or throws what a body threw, when all have stopped. For a host that stops no
/// loop.
template <typename F>
void forEach(const tfc_host_v0 &host, int64_t n, const F &body) {
  auto run = [](void *arg, int64_t begin, int64_t end, uint32_t worker) {
    for (int64_t item = begin; item < end; ++item) {
      (*static_cast<const F *>(arg))(item, worker);
    }
  };
  host.parallel_for(host.ctx, n, run, const_cast<F *>(&body));
}

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_FOREACH_H
