// Virtual memory management: addresses are reserved, memory is created and
// mapped into them as it is needed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/gpu/CudaRange.h"

#include <algorithm>

namespace tfc::rt {

// In how many steps memory comes to a range, at most.
static constexpr uint64_t piecesOfARange = 64;

static uint64_t roundUp(uint64_t bytes, uint64_t granularity) {
  return (bytes + granularity - 1) / granularity * granularity;
}

Result<std::unique_ptr<DeviceRange>>
CudaRange::reserve(const CudaContext &context, cuda::StreamHandle stream,
                   uint64_t bytes) {
  std::unique_ptr<CudaRange> range(new CudaRange(context, stream));
  range->properties.type = cuda::allocationPinned;
  range->properties.location = {cuda::locationDevice, context.device()};
  CudaScope scope(context);
  size_t granularity = 0;
  Status status = scope.status();
  if (status) {
    status = context.check(
        context.functions().cuMemGetAllocationGranularity(
            &granularity, &range->properties, cuda::granularityMinimum),
        "cuMemGetAllocationGranularity", "to say what memory comes in");
  }
  if (!status) {
    return std::move(status.error());
  }
  uint64_t whole = roundUp(bytes, granularity);
  status = context.check(
      context.functions().cuMemAddressReserve(&range->base, whole, 0, 0, 0),
      "cuMemAddressReserve", concat("to give ", whole, " bytes of addresses"));
  if (!status) {
    range->base = 0;
    return std::move(status.error());
  }
  range->granularity = granularity;
  range->usable = bytes;
  range->reserved = whole;
  return std::unique_ptr<DeviceRange>(std::move(range));
}

CudaRange::~CudaRange() {
  if (!base) {
    return;
  }
  CudaScope scope(context);
  if (!scope.status()) {
    return;
  }
  // A copy may be under way. What fails here has failed before.
  context.functions().cuStreamSynchronize(stream);
  if (mapped) {
    context.functions().cuMemUnmap(base, mapped);
  }
  context.functions().cuMemAddressFree(base, reserved);
}

Status CudaRange::addMemory(uint64_t bytes) {
  const cuda::Functions &functions = context.functions();
  cuda::Handle handle = 0;
  Status status = context.check(
      functions.cuMemCreate(&handle, bytes, &properties, 0), "cuMemCreate",
      concat("to give ", bytes, " bytes for a cache"));
  if (!status) {
    return status;
  }
  status = context.check(functions.cuMemMap(base + mapped, bytes, 0, handle, 0),
                         "cuMemMap", "to map memory of a cache");
  // What is mapped stays until it is unmapped.
  functions.cuMemRelease(handle);
  if (!status) {
    return status;
  }
  cuda::AccessDescription access{properties.location, cuda::accessReadWrite};
  status =
      context.check(functions.cuMemSetAccess(base + mapped, bytes, &access, 1),
                    "cuMemSetAccess", "to open memory of a cache");
  if (!status) {
    functions.cuMemUnmap(base + mapped, bytes);
    return status;
  }
  mapped += bytes;
  return {};
}

/// Ahead of what is needed: mapping memory takes a millisecond, in the middle
/// of a step, and all sequences that began together would pay for it in the
/// same.
Status CudaRange::commit(uint64_t, uint64_t end) {
  uint64_t needed = roundUp(end, granularity);
  CudaScope scope(context);
  if (!scope.status() || needed <= mapped) {
    return scope.status();
  }
  uint64_t more = roundUp(reserved / piecesOfARange, granularity);
  uint64_t ahead = std::min(std::max(needed, mapped + more), reserved);
  Status status = addMemory(ahead - mapped);
  return !status && status.error().code == Code::Exhausted && ahead > needed
             ? addMemory(needed - mapped)
             : std::move(status);
}

Status CudaRange::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  CudaScope scope(context);
  if (!scope.status()) {
    return scope.status();
  }
  return context.check(context.functions().cuMemcpyDtoDAsync(
                           base + to, base + from, bytes, stream),
                       "cuMemcpyDtoDAsync", "to copy a block of a cache");
}

} // namespace tfc::rt
