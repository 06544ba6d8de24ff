// The machine's own memory and threads as a device.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_STEP_CPUDEVICE_H
#define TFC_RUNTIME_SRC_STEP_CPUDEVICE_H

#include "runtime/src/step/Device.h"

namespace tfc::rt {

class CpuDevice final : public Device {
public:
  /// Both outlive the device.
  CpuDevice(const tfc_host_v0 &host, const void *weights)
      : lentHost(host), weights(weights) {}

  Status open() override { return {}; }
  Result<std::unique_ptr<DeviceRange>> reserve(uint64_t bytes) override {
    return reserveOnHost(bytes);
  }
  Result<uint64_t> defaultCacheBytes() const override { return halfOfMemory(); }
  std::unique_ptr<DeviceStep> makeStep(uint32_t numOutputs) override;
  const tfc_host_v0 &host() const override { return lentHost; }
  uint32_t numWorkers(int64_t) const override { return lentHost.n_workers; }

  /// Addresses of this process. Errors: Exhausted.
  static Result<std::unique_ptr<DeviceRange>> reserveOnHost(uint64_t bytes);
  /// Half of what the process may have, and half of the addresses that are
  /// left: the rest is for weights, workspaces and outputs, and grows with the
  /// limit.
  static uint64_t halfOfMemory();

private:
  const tfc_host_v0 &lentHost;
  const void *weights;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_STEP_CPUDEVICE_H
