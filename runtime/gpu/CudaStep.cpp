// Tables up, launches, outputs down.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/gpu/CudaStep.h"

#include "runtime/gpu/StepTables.h"

namespace tfc::rt {

CudaStep::CudaStep(CudaDevice &device, uint32_t numOutputs)
    : device(device), workspace(device.context()), tables(device.context()),
      staging(device.context()), columns(device.context()),
      graphs(device.context()), outputPointers(numOutputs) {
  for (uint32_t p = 0; p < numOutputs; ++p) {
    outputs.emplace_back(device.context());
  }
}

Status CudaStep::lendWorkspace(uint64_t bytes) {
  Status status = workspace.require(bytes);
  if (!status || !device.isTapped()) {
    return status;
  }
  CudaScope scope(device.context());
  if (!scope.status()) {
    return scope.status();
  }
  return device.context().check(
      device.context().functions().cuMemsetD32Async(
          workspace.address(), untouchedBits, bytes / 4, device.stream()),
      "cuMemsetD32Async", "to mark a workspace");
}

Status CudaStep::lendOutput(uint32_t port, uint64_t bytes, Want how) {
  Output &output = outputs[port];
  output.bytes = bytes;
  Status status = output.device.require(bytes);
  return status && how == WantedRows ? output.host.require(bytes) : status;
}

Status CudaStep::lendGreatest(int64_t rows) {
  columns.bytes = static_cast<uint64_t>(rows) * sizeof(int32_t);
  Status status = columns.device.require(columns.bytes);
  return status ? columns.host.require(columns.bytes) : status;
}

Result<int32_t> CudaStep::run(const tfc_entry_v0 &entry, tfc_step_v0 &step,
                              const TableSizes &sizes,
                              const std::vector<uint8_t> &wanted) {
  Status status = device.context().checkAlive();
  if (!status) {
    return std::move(status.error());
  }
  step.greatest = nullptr;
  for (size_t p = 0; p < outputs.size(); ++p) {
    outputPointers[p] = wanted[p] ? outputs[p].device.data() : nullptr;
    if (wanted[p] == WantedGreatest) {
      step.greatest = static_cast<int32_t *>(columns.device.data());
    }
  }
  step.weights = device.program().weights();
  step.workspace = workspace.data();
  step.outputs = outputPointers.data();
  CudaScope scope(device.context());
  status = scope.status();
  if (!status) {
    return std::move(status.error());
  }
  Result<int32_t> code = TFC_STATUS_DONE;
  status = upload(entry, step, sizes);
  if (status) {
    code = launchAll(entry, step);
    status = code && *code == TFC_STATUS_DONE ? download(wanted) : Status();
  }
  // Also after a fault: the tables must not be read when they are next written.
  Status finished = device.finish();
  if (!status || !code) {
    return status ? std::move(code) : std::move(status.error());
  }
  auto times =
      finished ? device.timer().read()
               : Result<std::optional<StepTimes>>(std::move(finished.error()));
  if (!times) {
    return std::move(times.error());
  }
  lastTimes = std::move(*times);
  return code;
}

Status CudaStep::upload(const tfc_entry_v0 &entry, tfc_step_v0 &step,
                        const TableSizes &sizes) {
  StepTables layout(entry, step, sizes);
  Status status = staging.require(layout.bytes());
  if (status) {
    status = tables.require(layout.bytes());
  }
  if (!status) {
    return status;
  }
  layout.write(step, inputPointers, staging.data(), tables.data());
  const CudaContext &context = device.context();
  return context.check(
      context.functions().cuMemcpyHtoDAsync(tables.address(), staging.data(),
                                            layout.bytes(), device.stream()),
      "cuMemcpyHtoDAsync", "to upload the tables of a step");
}

Result<int32_t> CudaStep::launchAll(const tfc_entry_v0 &entry,
                                    tfc_step_v0 &step) {
  Status begun = device.timer().begin(device.stream());
  if (!begun) {
    return std::move(begun.error());
  }
  // Nobody looks between its kernels; each sequence has a token, as in the next
  // step, too.
  bool mayComeAgain = device.context().hasGraphs() && !device.isTapped() &&
                      !device.timer().isOn() &&
                      step.n_tokens == step.n_sequences;
  auto launch = [&] { return entry.run(&step); };
  Result<int32_t> code = TFC_STATUS_DONE;
  if (mayComeAgain) {
    listWords(entry, step, words);
    code = graphs.run(words, device.stream(), launch);
  } else {
    code = launch();
  }
  Status fault = device.takeLaunchFault();
  if (fault && code) {
    fault = device.timer().end(device.stream());
  }
  if (!fault) {
    return std::move(fault.error());
  }
  return code;
}

Status CudaStep::download(const Output &output, const std::string &what) {
  if (output.bytes == 0) {
    return {};
  }
  const CudaContext &context = device.context();
  return context.check(context.functions().cuMemcpyDtoHAsync(
                           output.host.data(), output.device.address(),
                           output.bytes, device.stream()),
                       "cuMemcpyDtoHAsync", concat("to download ", what));
}

Status CudaStep::download(const std::vector<uint8_t> &wanted) {
  Status status;
  for (size_t p = 0; status && p < outputs.size(); ++p) {
    if (wanted[p] == WantedRows) {
      status = download(outputs[p], concat("output ", p));
    } else if (wanted[p] == WantedGreatest) {
      status = download(columns, concat("the greatest columns of output ", p));
    }
  }
  return status;
}

} // namespace tfc::rt
