// Mappings, guarded buffers, a call.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/step/CpuDevice.h"

#include "runtime/src/memory/LentBuffer.h"
#include "runtime/src/memory/MemoryLimits.h"

#include <algorithm>
#include <cstring>

namespace tfc::rt {

namespace {

class CpuRange final : public DeviceRange {
public:
  explicit CpuRange(Mapping mapping) : mapping(std::move(mapping)) {}

  Status commit(uint64_t begin, uint64_t end) override {
    return mapping.commit(begin, end);
  }
  Status copy(uint64_t to, uint64_t from, uint64_t bytes) override {
    std::memcpy(mapping.data() + to, mapping.data() + from, bytes);
    return {};
  }
  void *data() const override { return mapping.data(); }
  uint64_t size() const override { return mapping.size(); }

private:
  Mapping mapping;
};

class CpuStep final : public DeviceStep {
public:
  CpuStep(const void *weights, uint32_t numOutputs)
      : weights(weights), outputs(numOutputs), pointers(numOutputs) {}

  Status lendWorkspace(uint64_t bytes) override {
    return workspace.lend(bytes);
  }
  Status lendOutput(uint32_t port, uint64_t bytes, Want) override {
    return outputs[port].lend(bytes);
  }
  Status lendGreatest(int64_t rows) override {
    return columns.lend(static_cast<uint64_t>(rows) * sizeof(int32_t));
  }
  Result<int32_t> run(const tfc_entry_v0 &entry, tfc_step_v0 &step,
                      const TableSizes &sizes,
                      const std::vector<uint8_t> &wanted) override;
  std::optional<Overrun> overrun() const override;
  uint8_t *output(uint32_t port) const override { return outputs[port].data(); }
  const int32_t *greatest() const override {
    return reinterpret_cast<const int32_t *>(columns.data());
  }

private:
  const void *weights;
  LentBuffer workspace, columns; // the greatest ones
  std::vector<LentBuffer> outputs;
  std::vector<void *> pointers; // null: not wanted
};

Result<int32_t> CpuStep::run(const tfc_entry_v0 &entry, tfc_step_v0 &step,
                             const TableSizes &,
                             const std::vector<uint8_t> &wanted) {
  step.greatest = nullptr;
  for (size_t p = 0; p < outputs.size(); ++p) {
    pointers[p] = wanted[p] ? outputs[p].data() : nullptr;
    if (wanted[p] == WantedGreatest) {
      step.greatest = reinterpret_cast<int32_t *>(columns.data());
    }
  }
  step.weights = weights;
  step.workspace = workspace.data();
  step.outputs = pointers.data();
  step.device_step = &step;
  return entry.run(&step);
}

std::optional<Overrun> CpuStep::overrun() const {
  if (!workspace.isIntact()) {
    return Overrun{{}, workspace.lentBytes()};
  }
  for (uint32_t p = 0; p < outputs.size(); ++p) {
    if (pointers[p] && !outputs[p].isIntact()) {
      return Overrun{p, outputs[p].lentBytes()};
    }
  }
  return {};
}

} // namespace

Result<std::unique_ptr<DeviceRange>> CpuDevice::reserveOnHost(uint64_t bytes) {
  Result<Mapping> range = Mapping::reserve(bytes);
  if (!range) {
    return std::move(range.error());
  }
  return std::unique_ptr<DeviceRange>(new CpuRange(std::move(*range)));
}

uint64_t CpuDevice::halfOfMemory() {
  return std::min(allowedMemory(), remainingAddresses()) / 2;
}

std::unique_ptr<DeviceStep> CpuDevice::makeStep(uint32_t numOutputs) {
  return std::make_unique<CpuStep>(weights, numOutputs);
}

} // namespace tfc::rt
