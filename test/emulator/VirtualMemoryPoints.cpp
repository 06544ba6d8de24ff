// Entry points: addresses and memory apart (virtual memory management). They
// name their device, and so need no context.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/EntryPoints.h"
#include "test/emulator/FakeDevice.h"

namespace tfc::emulator {

namespace {

FakeDevice &device() { return FakeDevice::instance(); }

bool isOfDevice(const AllocationProperties &properties) {
  return properties.type == 1 && properties.location.type == 1 &&
         properties.location.id == 0;
}

int cuMemGetAllocationGranularity(size_t *bytes,
                                  const AllocationProperties *properties, int) {
  *bytes = granularity;
  CudaResult result = device().begin("cuMemGetAllocationGranularity");
  return result                    ? result
         : isOfDevice(*properties) ? CudaSuccess
                                   : CudaInvalidValue;
}

int cuMemAddressReserve(uint64_t *address, size_t bytes, size_t, uint64_t,
                        unsigned long long) {
  CudaResult result = device().begin("cuMemAddressReserve", CudaOutOfMemory);
  return result ? result : device().memory.reserve(bytes, address);
}

int cuMemAddressFree(uint64_t address, size_t bytes) {
  return device().memory.releaseReserved(address, bytes);
}

int cuMemCreate(uint64_t *handle, size_t bytes,
                const AllocationProperties *properties, unsigned long long) {
  CudaResult result = device().begin("cuMemCreate", CudaOutOfMemory);
  return result                    ? result
         : isOfDevice(*properties) ? device().memory.create(bytes, handle)
                                   : CudaInvalidValue;
}

int cuMemRelease(uint64_t handle) { return device().memory.release(handle); }

int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle,
             unsigned long long) {
  CudaResult result = device().begin("cuMemMap");
  if (result || offset != 0) {
    return result ? result : CudaInvalidValue;
  }
  device().forgetAccesses(address, bytes);
  return device().memory.map(address, bytes, handle);
}

int cuMemSetAccess(uint64_t address, size_t bytes,
                   const AccessDescription *access, size_t count) {
  CudaResult result = device().begin("cuMemSetAccess");
  bool isWhole = count == 1 && access->location.type == 1 &&
                 access->location.id == 0 && access->flags == 3;
  return result    ? result
         : isWhole ? device().memory.allow(address, bytes)
                   : CudaInvalidValue;
}

int cuMemUnmap(uint64_t address, size_t bytes) {
  return device().memory.unmap(address, bytes);
}

} // namespace

void *findVirtualMemoryPoint(const std::string &name) {
  static const EntryPoint points[] = {
      {"cuMemGetAllocationGranularity", pointer(cuMemGetAllocationGranularity)},
      {"cuMemAddressReserve", pointer(cuMemAddressReserve)},
      {"cuMemAddressFree", pointer(cuMemAddressFree)},
      {"cuMemCreate", pointer(cuMemCreate)},
      {"cuMemRelease", pointer(cuMemRelease)},
      {"cuMemMap", pointer(cuMemMap)},
      {"cuMemSetAccess", pointer(cuMemSetAccess)},
      {"cuMemUnmap", pointer(cuMemUnmap)},
  };
  return findPoint(points, name);
}

} // namespace tfc::emulator
