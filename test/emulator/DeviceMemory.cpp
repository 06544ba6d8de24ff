// Device addresses, and one file in memory behind them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/DeviceMemory.h"

#include "test/emulator/kernel_context.h"

#include <algorithm>
#include <fcntl.h>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>

namespace tfc::emulator {

// Addresses, most of them without memory.
static constexpr uint64_t addressBytes = uint64_t(256) << 30;
// Between two allocations: what is written too far hits nothing.
static constexpr uint64_t gapBytes = uint64_t(1) << 20;
// Behind the windows of shared and local memory.
static constexpr uint64_t firstOffset =
    EMU_LOCAL_WINDOW + EMU_WINDOW_BYTES + granularity;

bool DeviceMemory::open(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  mostBytes = bytes;
  if (alias) {
    return true;
  }
  file = memfd_create("tfc-device", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, off_t(addressBytes)) != 0) {
    return false;
  }
  void *forHost = mmap(nullptr, addressBytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  void *forKernels = mmap(nullptr, addressBytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_NORESERVE, file, 0);
  if (forHost == MAP_FAILED || forKernels == MAP_FAILED) {
    return false;
  }
  baseAddress = reinterpret_cast<uint64_t>(forHost);
  alias = static_cast<uint8_t *>(forKernels);
  return true;
}

DeviceMemory::~DeviceMemory() {
  if (alias) {
    munmap(reinterpret_cast<void *>(baseAddress), addressBytes);
    munmap(alias, addressBytes);
  }
  if (file >= 0) {
    close(file);
  }
}

bool DeviceMemory::isOwn(uint64_t address) const {
  std::lock_guard<std::mutex> lock(mutex);
  return alias && address - baseAddress < addressBytes;
}

void DeviceMemory::setLimit(uint64_t bytes) { mostBytes = bytes; }

/// Addresses that nothing has, at a multiple of the granularity; 0: none.
uint64_t DeviceMemory::findGap(uint64_t bytes) const {
  uint64_t at = baseAddress + firstOffset;
  for (const auto &[begin, region] : regions) {
    if (begin >= at && begin - at >= bytes + gapBytes) {
      break;
    }
    at = (begin + region.bytes + gapBytes + granularity - 1) / granularity *
         granularity;
  }
  return at + bytes + gapBytes <= baseAddress + addressBytes ? at : 0;
}

void DeviceMemory::fillWithPoison(uint64_t address, uint64_t bytes) {
  auto *words = reinterpret_cast<uint32_t *>(alias + (address - baseAddress));
  std::fill(words, words + (bytes + 3) / 4, poison);
}

void DeviceMemory::giveBack(uint64_t address, uint64_t bytes) {
  usedBytes -= bytes;
  uint64_t whole = (bytes + 4095) / 4096 * 4096;
  if (fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                off_t(address - baseAddress), off_t(whole)) != 0) {
    fillWithPoison(address, bytes); // it stays, but nobody reads what was there
  }
}

CudaResult DeviceMemory::allocate(uint64_t bytes, uint64_t *address) {
  std::lock_guard<std::mutex> lock(mutex);
  if (bytes == 0) {
    return CudaInvalidValue;
  }
  uint64_t at =
      bytes <= mostBytes && usedBytes <= mostBytes - bytes ? findGap(bytes) : 0;
  if (at == 0) {
    return CudaOutOfMemory;
  }
  regions[at] = {bytes, false};
  pieces[at] = {at + bytes, true, 0};
  usedBytes += bytes;
  fillWithPoison(at, bytes);
  *address = at;
  return CudaSuccess;
}

CudaResult DeviceMemory::free(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex);
  auto region = regions.find(address);
  if (region == regions.end() || region->second.isReserved) {
    return CudaInvalidValue;
  }
  giveBack(address, region->second.bytes);
  pieces.erase(address);
  regions.erase(region);
  return CudaSuccess;
}

CudaResult DeviceMemory::reserve(uint64_t bytes, uint64_t *address) {
  std::lock_guard<std::mutex> lock(mutex);
  if (bytes == 0 || bytes % granularity != 0) {
    return CudaInvalidValue;
  }
  uint64_t at = findGap(bytes);
  if (at == 0) {
    return CudaOutOfMemory;
  }
  regions[at] = {bytes, true};
  *address = at;
  return CudaSuccess;
}

CudaResult DeviceMemory::releaseReserved(uint64_t address, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  auto region = regions.find(address);
  auto piece = pieces.lower_bound(address);
  bool hasMemory = piece != pieces.end() && piece->first < address + bytes;
  if (region == regions.end() || !region->second.isReserved ||
      region->second.bytes != bytes || hasMemory) {
    return CudaInvalidValue;
  }
  regions.erase(region);
  return CudaSuccess;
}

CudaResult DeviceMemory::create(uint64_t bytes, uint64_t *handle) {
  std::lock_guard<std::mutex> lock(mutex);
  if (bytes == 0 || bytes % granularity != 0) {
    return CudaInvalidValue;
  }
  if (bytes > mostBytes || usedBytes > mostBytes - bytes) {
    return CudaOutOfMemory;
  }
  usedBytes += bytes;
  *handle = nextHandle++;
  handles[*handle] = bytes;
  return CudaSuccess;
}

/// What is mapped stays until it is unmapped.
CudaResult DeviceMemory::release(uint64_t handle) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = handles.find(handle);
  if (found == handles.end()) {
    return CudaInvalidValue;
  }
  bool isMapped =
      std::any_of(pieces.begin(), pieces.end(), [&](const auto &piece) {
        return piece.second.handle == handle;
      });
  if (!isMapped) {
    usedBytes -= found->second;
  }
  handles.erase(found);
  return CudaSuccess;
}

CudaResult DeviceMemory::map(uint64_t address, uint64_t bytes,
                             uint64_t handle) {
  std::lock_guard<std::mutex> lock(mutex);
  auto region = regions.upper_bound(address);
  auto found = handles.find(handle);
  if (region == regions.begin() || found == handles.end() ||
      found->second != bytes || address % granularity != 0) {
    return CudaInvalidValue;
  }
  --region;
  auto next = pieces.lower_bound(address);
  bool isTaken = next != pieces.end() && next->first < address + bytes;
  if (!region->second.isReserved || isTaken ||
      address + bytes > region->first + region->second.bytes) {
    return CudaInvalidValue;
  }
  pieces[address] = {address + bytes, false, handle};
  fillWithPoison(address, bytes);
  return CudaSuccess;
}

CudaResult DeviceMemory::allow(uint64_t address, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t end = address;
  for (auto piece = pieces.find(address);
       piece != pieces.end() && piece->first == end && end < address + bytes;
       ++piece) {
    piece->second.isAllowed = true;
    end = piece->second.end;
  }
  return end == address + bytes ? CudaSuccess : CudaInvalidValue;
}

CudaResult DeviceMemory::unmap(uint64_t address, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t end = address;
  for (auto piece = pieces.find(address);
       piece != pieces.end() && piece->first == end && end < address + bytes;
       piece = pieces.erase(piece)) {
    end = piece->second.end;
    giveBack(piece->first, end - piece->first);
  }
  return end == address + bytes ? CudaSuccess : CudaInvalidValue;
}

bool DeviceMemory::find(uint64_t address, uint64_t bytes,
                        UsableRange &range) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto piece = pieces.upper_bound(address);
  if (piece == pieces.begin()) {
    return false;
  }
  --piece;
  if (address >= piece->second.end || !piece->second.isAllowed) {
    return false;
  }
  // Pieces that were mapped side by side are one range.
  uint64_t begin = piece->first, end = piece->second.end;
  for (auto next = std::next(piece);
       next != pieces.end() && next->first == end && next->second.isAllowed;
       ++next) {
    end = next->second.end;
  }
  range = {begin, end, alias + (begin - baseAddress)};
  return bytes <= end - address;
}

std::string DeviceMemory::describe(uint64_t address) const {
  std::lock_guard<std::mutex> lock(mutex);
  std::ostringstream text;
  text << "address 0x" << std::hex << address << std::dec;
  if (address < baseAddress || address - baseAddress >= addressBytes) {
    text << ", which is none of the device's";
    return text.str();
  }
  auto piece = pieces.upper_bound(address);
  if (piece == pieces.begin()) {
    text << ", before any allocation";
    return text.str();
  }
  --piece;
  uint64_t bytes = piece->second.end - piece->first;
  text << ", byte " << address - piece->first << " of an allocation of "
       << bytes;
  return text.str();
}

} // namespace tfc::emulator
