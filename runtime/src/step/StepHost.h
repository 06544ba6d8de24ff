// The host of one runner's steps: passes everything on to the device's, and
// stops a step between two loops or launches when the caller wants that.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_STEP_STEPHOST_H
#define TFC_RUNTIME_SRC_STEP_STEPHOST_H

#include "runtime/src/Error.h"
#include "tfc/abi.h"
#include "tfc/runtime.h"

namespace tfc::rt {

/// What the caller is asked: nonzero stops. No function: nothing stops.
struct StopRequest {
  tfc_stop_fn shouldStop = nullptr;
  void *user = nullptr;

  /// Asks. What the function throws is a CallerFault.
  bool isMade() const;
};

/// The error of a step that was stopped.
Error stoppedByCaller();

/// Belongs to one thread at a time.
class StepHost {
public:
  /// `lent` must outlive it.
  explicit StepHost(const tfc_host_v0 &lent);
  StepHost(const StepHost &) = delete;
  StepHost &operator=(const StepHost &) = delete;

  /// Passes on to another host, for measuring; it must have no more workers and
  /// outlive this one.
  void setLent(const tfc_host_v0 &host);
  void setStop(const StopRequest &request) { stop = request; }

  /// Before a step with so many workers: nothing has been stopped. False when
  /// it is not to begin.
  bool begin(uint32_t workers);
  bool isStopped() const { return hasStopped; }
  /// What was wrong with a function of the caller's; empty: nothing.
  const std::string &callerFault() const { return fault; }
  const tfc_host_v0 &host() const { return table; }

private:
  const tfc_host_v0 *lent;
  tfc_host_v0 table{};
  StopRequest stop;
  bool hasStopped = false;
  std::string fault;

  int32_t runLoop(int64_t n, tfc_body_fn body, void *arg);
  template <typename F> int32_t goOn(F function);
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_STEP_STEPHOST_H
