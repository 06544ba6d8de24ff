// Passes loops and launches on, and asks before each whether to go on.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/step/StepHost.h"

#include "runtime/src/CallOut.h"

namespace tfc::rt {

bool StopRequest::isMade() const {
  return shouldStop &&
         callOut("should_stop", [&] { return shouldStop(user) != 0; });
}

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
      return self.goOn(
          [&] { return self.lent->launch(self.lent->ctx, launch); });
    };
  }
  if (host.reduce) {
    table.reduce = [](void *ctx, float *values, int64_t count) {
      auto &self = *static_cast<StepHost *>(ctx);
      return self.goOn(
          [&] { return self.lent->reduce(self.lent->ctx, values, count); });
    };
  }
}

/// Does what compiled code asks for, unless the step is to end. Nothing is
/// thrown through that code: the step ends with what a caller's function threw.
template <typename F> int32_t StepHost::goOn(F function) {
  if (!fault.empty()) {
    return TFC_STATUS_DEVICE;
  }
  try {
    hasStopped = stop.isMade();
    return hasStopped ? int32_t(TFC_STATUS_STOPPED) : function();
  } catch (const CallerFault &error) {
    fault = error.what();
    return TFC_STATUS_DEVICE;
  }
}

int32_t StepHost::runLoop(int64_t n, tfc_body_fn body, void *arg) {
  return goOn([&] { return lent->parallel_for(lent->ctx, n, body, arg); });
}

void StepHost::setLent(const tfc_host_v0 &host) {
  lent = &host;
  table.tap = nullptr;
  if (host.tap) {
    table.tap = [](void *ctx, const char *id, int64_t layer, uint32_t dtype,
                   const void *data, int64_t rows, int64_t width) {
      auto &self = *static_cast<StepHost *>(ctx);
      try {
        callOut("tap", [&] {
          self.lent->tap(self.lent->ctx, id, layer, dtype, data, rows, width);
        });
      } catch (const CallerFault &error) {
        self.fault = error.what(); // the next loop or the end of the step says
      }
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
