// A step on a CUDA device: one upload of its tables, the launches, the outputs
// back, one wait.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_GPU_CUDASTEP_H
#define TFC_RUNTIME_GPU_CUDASTEP_H

#include "runtime/gpu/CudaDevice.h"
#include "runtime/gpu/CudaGraphs.h"

namespace tfc::rt {

class CudaStep final : public DeviceStep {
public:
  /// The device outlives it.
  CudaStep(CudaDevice &device, uint32_t numOutputs);

  Status lendWorkspace(uint64_t bytes) override;
  Status lendOutput(uint32_t port, uint64_t bytes, Want how) override;
  Status lendGreatest(int64_t rows) override;
  Result<int32_t> run(const tfc_entry_v0 &entry, tfc_step_v0 &step,
                      const TableSizes &sizes,
                      const std::vector<uint8_t> &wanted) override;
  std::optional<Overrun> overrun() const override { return {}; }
  uint8_t *output(uint32_t port) const override {
    return static_cast<uint8_t *>(outputs[port].host.data());
  }
  const int32_t *greatest() const override {
    return static_cast<const int32_t *>(columns.host.data());
  }
  std::optional<StepTimes> times() const override { return lastTimes; }

private:
  /// An output where it is computed and where it is read.
  struct Output {
    explicit Output(const CudaContext &context)
        : device(context), host(context) {}
    CudaDeviceBuffer device;
    CudaHostBuffer host;
    uint64_t bytes = 0; // of the last step
  };

  Status upload(const tfc_entry_v0 &entry, tfc_step_v0 &step,
                const TableSizes &sizes);
  Result<int32_t> launchAll(const tfc_entry_v0 &entry, tfc_step_v0 &step);
  Status download(const std::vector<uint8_t> &wanted);
  Status download(const Output &output, const std::string &what);

  CudaDevice &device;
  CudaDeviceBuffer workspace, tables;
  CudaHostBuffer staging;
  std::vector<Output> outputs;
  Output columns; // the greatest ones
  CudaGraphs graphs;
  StepWords words; // of the last step that may come again
  std::vector<const void *> inputPointers; // addresses of the device
  std::vector<void *> outputPointers;
  std::optional<StepTimes> lastTimes;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_GPU_CUDASTEP_H
