// The memory of the stand-in's device. Its addresses are a range that the host
// may not touch; kernels and copies work through another mapping of the same
// pages. Fresh memory is poisoned.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_DEVICEMEMORY_H
#define TFC_TEST_EMULATOR_DEVICEMEMORY_H

#include "test/emulator/DriverTypes.h"

#include <map>
#include <mutex>
#include <string>

namespace tfc::emulator {

/// A quiet NaN as f32, a large number as i32: in every fresh word.
constexpr uint32_t poison = 0x7fc0dead;
/// What physical memory is mapped in.
constexpr uint64_t granularity = uint64_t(2) << 20;

/// Device addresses [begin, end) that may be used, and where they lie.
struct UsableRange {
  uint64_t begin = 0, end = 0;
  uint8_t *memory = nullptr;
};

/// Safe from any thread.
class DeviceMemory {
public:
  /// Of device number i, which handles of its memory have from this bit on.
  static constexpr int handleBits = 32;
  explicit DeviceMemory(int number)
      : nextHandle((uint64_t(number) << handleBits) + 1) {}
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;
  ~DeviceMemory();

  /// A device with so many bytes, once. False when the system has no addresses.
  bool open(uint64_t bytes);
  /// How many there are from now on.
  void setLimit(uint64_t bytes);
  uint64_t limit() const { return mostBytes; }
  uint64_t used() const { return usedBytes; }
  uint64_t base() const { return baseAddress; }
  /// The device address of what find said where it lies.
  uint64_t addressOf(const uint8_t *memory) const {
    return baseAddress + uint64_t(memory - alias);
  }
  /// Whether an address is among those that this device gives.
  bool isOwn(uint64_t address) const;

  CudaResult allocate(uint64_t bytes, uint64_t *address);
  CudaResult free(uint64_t address);

  // The virtual memory management: addresses, memory, and both together.
  CudaResult reserve(uint64_t bytes, uint64_t *address);
  CudaResult releaseReserved(uint64_t address, uint64_t bytes);
  CudaResult create(uint64_t bytes, uint64_t *handle);
  CudaResult release(uint64_t handle);
  CudaResult map(uint64_t address, uint64_t bytes, uint64_t handle);
  CudaResult allow(uint64_t address, uint64_t bytes);
  CudaResult unmap(uint64_t address, uint64_t bytes);

  /// The usable range that holds the bytes; false when there is none.
  bool find(uint64_t address, uint64_t bytes, UsableRange &range) const;
  /// What is around an address that is not usable, for a message.
  std::string describe(uint64_t address) const;

private:
  struct Region {
    uint64_t bytes;
    bool isReserved;
  };
  struct Piece {
    uint64_t end;
    bool isAllowed;
    uint64_t handle; // 0: of allocate
  };
  uint64_t findGap(uint64_t bytes) const;
  void fillWithPoison(uint64_t address, uint64_t bytes);
  void giveBack(uint64_t address, uint64_t bytes);

  mutable std::mutex mutex;
  int file = -1;
  uint64_t baseAddress = 0, mostBytes = 0, usedBytes = 0;
  uint64_t nextHandle;
  uint8_t *alias = nullptr;
  std::map<uint64_t, Region> regions;   // by address: taken addresses
  std::map<uint64_t, Piece> pieces;     // by address: with memory behind them
  std::map<uint64_t, uint64_t> handles; // bytes of created memory
};

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_DEVICEMEMORY_H
