// Passes loops and launches on, and asks before each whether to go on.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/StepHost.h"

#include "runtime/src/Workers.h"

namespace tfc::rt {

Error stoppedByCaller() {
  return makeError(Code::Cancelled, "stopped by the caller (should_stop)");
}

StepHost::StepHost(const tfc_host_v0 &host) {
  setLent(host);
  table.struct_size = sizeof(table);
  table.ctx = this;
  table.parallel_for = [](void *ctx, int64_t n, tfc_body_fn body, void *arg) {
    return static_cast<StepHost *>(ctx)->runLoop(n, body, arg);
  };
  if (host.launch) {
    table.launch = [](void *ctx, const tfc_launch_v0 *launch) {
      auto &self = *static_cast<StepHost *>(ctx);
      self.hasStopped = self.stop.isMade();
      return self.hasStopped ? int32_t(TFC_STATUS_STOPPED)
                             : self.lent->launch(self.lent->ctx, launch);
    };
  }
}

/// Called by compiled code, through which nothing is thrown.
int32_t StepHost::runLoop(int64_t n, tfc_body_fn body, void *arg) {
  hasStopped = stop.isMade();
  if (hasStopped) {
    return TFC_STATUS_STOPPED;
  }
  try {
    return lent->parallel_for(lent->ctx, n, body, arg);
  } catch (const LoopFault &error) {
    fault = error.what();
    return TFC_STATUS_DEVICE;
  }
}

void StepHost::setLent(const tfc_host_v0 &host) {
  lent = &host;
  table.tap = nullptr;
  if (host.tap) {
    table.tap = [](void *ctx, const char *id, int64_t layer, uint32_t dtype,
                   const void *data, int64_t rows, int64_t width) {
      const tfc_host_v0 &to = *static_cast<StepHost *>(ctx)->lent;
      to.tap(to.ctx, id, layer, dtype, data, rows, width);
    };
  }
}

bool StepHost::begin(uint32_t workers) {
  table.n_workers = workers;
  fault.clear();
  hasStopped = stop.isMade();
  return !hasStopped;
}

} // namespace tfc::rt
