// Entry points: addresses and memory apart (virtual memory management). They
// name their device, or an address or a handle that is one's, and so need no
// context; addresses that are reserved are the current context's device's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/EntryPoints.h"
#include "test/emulator/FakeDevice.h"

namespace tfc::emulator {

namespace {

FakeDriver &driver() { return FakeDriver::instance(); }

/// Null where they are of no device.
FakeDevice *deviceOf(const AllocationProperties &properties) {
  return properties.type == 1 && properties.location.type == 1
             ? driver().device(properties.location.id)
             : nullptr;
}

int cuMemGetAllocationGranularity(size_t *bytes,
                                  const AllocationProperties *properties, int) {
  *bytes = granularity;
  FakeDevice *device = deviceOf(*properties);
  return device ? device->begin("cuMemGetAllocationGranularity")
                : CudaInvalidValue;
}

int cuMemAddressReserve(uint64_t *address, size_t bytes, size_t, uint64_t,
                        unsigned long long) {
  FakeDevice &device = driver().current();
  CudaResult result = device.begin("cuMemAddressReserve", CudaOutOfMemory);
  return result ? result : device.memory.reserve(bytes, address);
}

int cuMemAddressFree(uint64_t address, size_t bytes) {
  FakeDevice *device = driver().ownerOf(address);
  return device ? device->memory.releaseReserved(address, bytes)
                : CudaInvalidValue;
}

int cuMemCreate(uint64_t *handle, size_t bytes,
                const AllocationProperties *properties, unsigned long long) {
  FakeDevice *device = deviceOf(*properties);
  CudaResult result =
      device ? device->begin("cuMemCreate", CudaOutOfMemory) : CudaInvalidValue;
  result = result ? result : device->refuseInCapture();
  return result ? result : device->memory.create(bytes, handle);
}

int cuMemRelease(uint64_t handle) {
  FakeDevice *device = driver().ownerOfHandle(handle);
  return device ? device->memory.release(handle) : CudaInvalidValue;
}

/// Memory of one device behind addresses of another is not modelled.
int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle,
             unsigned long long) {
  FakeDevice *device = driver().ownerOf(address);
  if (!device || device != driver().ownerOfHandle(handle)) {
    return CudaInvalidValue;
  }
  CudaResult result = device->begin("cuMemMap");
  if (result || offset != 0) {
    return result ? result : CudaInvalidValue;
  }
  device->forgetAccesses(address, bytes);
  return device->memory.map(address, bytes, handle);
}

int cuMemSetAccess(uint64_t address, size_t bytes,
                   const AccessDescription *access, size_t count) {
  FakeDevice *device = driver().ownerOf(address);
  if (!device) {
    return CudaInvalidValue;
  }
  CudaResult result = device->begin("cuMemSetAccess");
  bool isWhole = count == 1 && access->location.type == 1 &&
                 access->location.id == device->number() && access->flags == 3;
  return result    ? result
         : isWhole ? device->memory.allow(address, bytes)
                   : CudaInvalidValue;
}

int cuMemUnmap(uint64_t address, size_t bytes) {
  FakeDevice *device = driver().ownerOf(address);
  return device ? device->memory.unmap(address, bytes) : CudaInvalidValue;
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
