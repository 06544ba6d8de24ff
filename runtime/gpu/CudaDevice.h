// A CUDA device as an engine sees it: a stream of its own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_GPU_CUDADEVICE_H
#define TFC_RUNTIME_GPU_CUDADEVICE_H

#include "runtime/gpu/CudaProgram.h"

namespace tfc::rt {

class CudaDevice final : public Device {
public:
  /// The program outlives it.
  explicit CudaDevice(const CudaProgram &program);
  ~CudaDevice() override;

  Status open() override;
  Result<std::unique_ptr<DeviceRange>> reserve(uint64_t bytes) override;
  uint64_t defaultCacheBytes() const override;
  std::unique_ptr<DeviceStep> makeStep(uint32_t numOutputs) override;
  const tfc_host_v0 &host() const override { return table; }
  uint32_t numWorkers(int64_t items) const override;

  const CudaProgram &program() const { return loaded; }
  const CudaContext &context() const { return loaded.context(); }
  cuda::StreamHandle stream() const { return handle; }
  /// Waits for all that was asked for. Errors: those of a device.
  Status finish() const;
  /// What a launch failed with, if one did since the last call.
  Status takeLaunchFault();

private:
  int32_t launch(const tfc_launch_v0 &given);

  const CudaProgram &loaded;
  cuda::StreamHandle handle = nullptr;
  tfc_host_v0 table{};
  Status launchFault;
  const char *lastKernel = nullptr;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_GPU_CUDADEVICE_H
