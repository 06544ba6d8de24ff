// A CUDA device as an engine sees it: a stream of its own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_GPU_CUDADEVICE_H
#define TFC_RUNTIME_GPU_CUDADEVICE_H

#include "runtime/gpu/CudaProgram.h"
#include "runtime/gpu/CudaTap.h"
#include "runtime/gpu/CudaTimer.h"

namespace tfc::rt {

class CudaDevice final : public Device {
public:
  /// Both outlive it; the listener may be none.
  CudaDevice(const CudaProgram &program, const TapListener &listener);
  ~CudaDevice() override;

  Status open() override;
  Result<std::unique_ptr<DeviceRange>> reserve(uint64_t bytes) override;
  void keepForSteps(uint64_t bytes) override { stepBytes = bytes; }
  Result<uint64_t> defaultCacheBytes() const override;
  std::unique_ptr<DeviceStep> makeStep(uint32_t numOutputs) override;
  const tfc_host_v0 &host() const override { return table; }
  uint32_t numWorkers(int64_t items) const override;
  std::string describe() const override;
  void setTiming(Timing timing) override { clock.set(timing); }
  Result<double> measureCopies(uint64_t bytes) override;

  const CudaProgram &program() const { return loaded; }
  const CudaContext &context() const { return loaded.context(); }
  cuda::StreamHandle stream() const { return handle; }
  /// Waits for all that was asked for. Errors: those of a device.
  Status finish() const;
  /// What a launch failed with, if one did since the last call.
  Status takeLaunchFault();
  /// Whether somebody listens to the values of a step.
  bool isTapped() const { return tap.isOn(); }
  CudaTimer &timer() { return clock; }

private:
  int32_t launch(const tfc_launch_v0 &given);
  void report(const TappedValue &value, const void *data);

  const CudaProgram &loaded;
  cuda::StreamHandle handle = nullptr;
  tfc_host_v0 table{};
  Status launchFault;
  const char *lastKernel = nullptr;
  uint64_t stepBytes = 0; // that no cache may have
  CudaTap tap;
  CudaTimer clock;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_GPU_CUDADEVICE_H
