// Streams and launches.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/gpu/CudaDevice.h"

#include "runtime/gpu/CudaRange.h"
#include "runtime/gpu/CudaStep.h"

#include <algorithm>
#include <limits>

namespace tfc::rt {

CudaDevice::CudaDevice(const CudaProgram &program, const TapListener &listener)
    : loaded(program), tap(program.context(), listener),
      clock(program.context()) {
  table.struct_size = sizeof(table);
  table.n_workers = 1;
  table.ctx = this;
  table.launch = [](void *ctx, const tfc_launch_v0 *launch) {
    return static_cast<CudaDevice *>(ctx)->launch(*launch);
  };
  if (tap.isOn()) {
    table.tap = [](void *ctx, const char *id, int64_t layer, uint32_t dtype,
                   const void *data, int64_t rows, int64_t width) {
      auto &self = *static_cast<CudaDevice *>(ctx);
      self.report({id, layer, rows, width, dtype, nullptr, self.lastKernel},
                  data);
    };
  }
}

CudaDevice::~CudaDevice() {
  if (handle) {
    CudaScope scope(context());
    if (scope.status()) {
      context().functions().cuStreamDestroy(handle);
    }
  }
}

Status CudaDevice::open() {
  Status status = context().checkAlive();
  if (!status || handle) {
    return status;
  }
  CudaScope scope(context());
  if (!scope.status()) {
    return scope.status();
  }
  status = context().check(
      context().functions().cuStreamCreate(&handle, cuda::StreamNonBlocking),
      "cuStreamCreate", "for an engine");
  handle = status ? handle : nullptr;
  return status;
}

Result<std::unique_ptr<DeviceRange>> CudaDevice::reserve(uint64_t bytes) {
  return CudaRange::reserve(context(), handle, bytes);
}

/// Most of what weights and a large step leave; on a device that is too small
/// for both, the cache has half. Only addresses are taken; memory follows as it
/// is used.
Result<uint64_t> CudaDevice::defaultCacheBytes() const {
  CudaScope scope(context());
  size_t free = 0, total = 0;
  Status status = scope.status();
  if (status) {
    status =
        context().check(context().functions().cuMemGetInfo(&free, &total),
                        "cuMemGetInfo", "to say what memory a cache may have");
  }
  if (!status) {
    return std::move(status.error());
  }
  return (free - std::min<uint64_t>(stepBytes, free / 2)) / 10 * 9;
}

std::unique_ptr<DeviceStep> CudaDevice::makeStep(uint32_t numOutputs) {
  return std::make_unique<CudaStep>(*this, numOutputs);
}

/// Scratch is by work item: nobody knows which of them run side by side.
uint32_t CudaDevice::numWorkers(int64_t items) const {
  return static_cast<uint32_t>(
      std::clamp<int64_t>(items, 1, std::numeric_limits<int32_t>::max()));
}

/// The name of the last kernel says where to look, not where it happened:
/// launches are run later.
Status CudaDevice::finish() const {
  CudaScope scope(context());
  if (!scope.status()) {
    return scope.status();
  }
  return context().check(
      context().functions().cuStreamSynchronize(handle), "cuStreamSynchronize",
      lastKernel ? concat("to run a step up to kernel ", lastKernel)
                 : "to run a step");
}

Status CudaDevice::takeLaunchFault() {
  return std::exchange(launchFault, Status());
}

/// A tap returns nothing: what it failed with, the next launch returns.
void CudaDevice::report(const TappedValue &value, const void *data) {
  if (launchFault) {
    launchFault =
        tap.report(value, reinterpret_cast<cuda::Address>(data), handle);
  }
}

std::string CudaDevice::describe() const { return context().describe(); }

/// The least of a few: the first one finds memory that nobody has touched.
Result<double> CudaDevice::measureCopies(uint64_t bytes) {
  constexpr int repeats = 5;
  CudaDeviceBuffer from(context()), to(context());
  CudaTimer timer(context());
  timer.set(Timing::Step);
  Status status = open();
  status = status ? from.require(bytes) : std::move(status);
  status = status ? to.require(bytes) : std::move(status);
  CudaScope scope(context());
  status = status ? scope.status() : std::move(status);
  double least = 0;
  for (int i = 0; status && i < repeats; ++i) {
    status = i == 0 ? context().check(context().functions().cuMemsetD32Async(
                                          from.address(), 0, bytes / 4, handle),
                                      "cuMemsetD32Async", "to fill memory")
                    : Status();
    status = status ? timer.begin(handle) : std::move(status);
    if (status) {
      status = context().check(context().functions().cuMemcpyDtoDAsync(
                                   to.address(), from.address(), bytes, handle),
                               "cuMemcpyDtoDAsync", "to measure copies");
    }
    status = status ? timer.end(handle) : std::move(status);
    // Also after a fault: the buffers go.
    Status finished = finish();
    if (status) {
      status = std::move(finished);
    }
    auto times =
        status ? timer.read()
               : Result<std::optional<StepTimes>>(std::move(status.error()));
    if (!times) {
      return std::move(times.error());
    }
    least = i == 0 ? (*times)->seconds : std::min(least, (*times)->seconds);
  }
  if (!status) {
    return std::move(status.error());
  }
  return least > 0 ? 2.0 * double(bytes) / least : 0.0;
}

int32_t CudaDevice::launch(const tfc_launch_v0 &given) {
  if (!launchFault) {
    return TFC_STATUS_DEVICE;
  }
  const tfc_program_v0 &program = loaded.table();
  constexpr size_t flagsEnd = offsetof(tfc_launch_v0, flags) + sizeof(uint64_t);
  if (given.struct_size < offsetof(tfc_launch_v0, flags) ||
      given.kernel >= program.n_kernels) {
    launchFault = makeError(Code::Internal, "expected a kernel below ",
                            program.n_kernels, ", got ", given.kernel);
    return TFC_STATUS_DEVICE;
  }
  const tfc_kernel_v0 &kernel = program.kernels[given.kernel];
  cuda::LaunchAttribute overlaps = {cuda::launchOverlaps, 0, {1}};
  bool doesOverlap =
      given.struct_size >= flagsEnd && given.flags & TFC_LAUNCH_OVERLAPS;
  cuda::LaunchConfig config = {
      {given.grid[0], given.grid[1], given.grid[2]},
      {kernel.block[0], kernel.block[1], kernel.block[2]},
      kernel.shared_bytes,
      handle,
      doesOverlap ? &overlaps : nullptr,
      doesOverlap ? 1U : 0U};
  // Drivers take the array as their own; nobody writes to it.
  auto *args = const_cast<void **>(given.args);
  launchFault = context().check(
      context().functions().cuLaunchKernelEx(
          &config, loaded.kernel(given.kernel), args, nullptr),
      "cuLaunchKernelEx",
      concat("to launch kernel ", kernel.name, " on ", given.grid[0], " x ",
             given.grid[1], " x ", given.grid[2], " blocks"));
  lastKernel = kernel.name;
  if (launchFault) {
    launchFault = clock.markKernel(handle, kernel.name);
  }
  return launchFault ? TFC_STATUS_DONE : TFC_STATUS_DEVICE;
}

} // namespace tfc::rt
