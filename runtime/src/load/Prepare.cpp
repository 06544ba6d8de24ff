// One call of the entry "prepare".
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/Prepare.h"

#include "runtime/src/memory/LentBuffer.h"
#include "runtime/src/step/StepHost.h"

namespace tfc::rt {

/// Loops on the load's threads; none begins once nobody wants the model.
static tfc_host_v0 hostOf(Loading &loading) {
  tfc_host_v0 host{};
  host.struct_size = sizeof(host);
  host.ctx = &loading;
  host.n_workers = loading.workers().count();
  host.parallel_for = [](void *ctx, int64_t n, tfc_body_fn body, void *arg) {
    auto &self = *static_cast<Loading *>(ctx);
    if (self.isCancelled()) {
      return int32_t(TFC_STATUS_STOPPED);
    }
    self.workers().parallelFor(n, body, arg);
    self.add(0);
    return int32_t(TFC_STATUS_DONE);
  };
  return host;
}

static Status run(const tfc_entry_v0 &entry, void *packed, Loading &loading) {
  tfc_host_v0 lent = hostOf(loading);
  // What a caller's function throws does not go through compiled code.
  StepHost host(lent);
  host.begin(lent.n_workers);
  LentBuffer workspace;
  Status status =
      workspace.lend(entry.workspace_bytes(0, 0, 0, lent.n_workers));
  if (!status) {
    return status;
  }
  tfc_step_v0 step{};
  step.struct_size = sizeof(step);
  step.weights = packed;
  step.workspace = workspace.data();
  step.host = &host.host();
  step.device_step = &step;
  int32_t code = entry.run(&step);
  if (!host.callerFault().empty()) {
    return makeError(Code::InvalidArgument, host.callerFault());
  }
  if (status = loading.status(); !status) {
    return status;
  }
  if (code != TFC_STATUS_DONE) {
    return makeError(Code::Internal, "entry ", entry.name,
                     ": expected status 0, got ", code);
  }
  if (!workspace.isIntact()) {
    return makeError(Code::Internal, "entry ", entry.name,
                     ": expected writes within the ", workspace.lentBytes(),
                     " bytes of its workspace, got one beyond");
  }
  return {};
}

Status prepareWeights(const tfc_program_v0 &program, void *packed,
                      Loading &loading) {
  for (uint32_t i = 0; i < program.n_entries; ++i) {
    if (program.entries[i].flags & TFC_ENTRY_PREPARE) {
      return run(program.entries[i], packed, loading);
    }
  }
  return {};
}

} // namespace tfc::rt
