// Hand-written PTX on the stand-in's device, in few words.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_KERNELS_H
#define TFC_TEST_EMULATOR_KERNELS_H

#include "test/emulator/RunGrid.h"

#include <cstring>
#include <gtest/gtest.h>

namespace tfc::emulator {

/// A module of one entry "k" with the parameters `to` and `from`, pointers that
/// %to and %from have, and registers of every width by number.
inline std::string entryOf(const std::string &body,
                           const std::string &before = "") {
  return ".version 8.0\n.target sm_80\n.address_size 64\n" + before +
         ".visible .entry k(.param .u64 .ptr .align 1 to_param,\n"
         "                  .param .u64 from_param) {\n"
         ".reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<32>;\n"
         ".reg .b64 %d<12>; .reg .b64 %to, %from;\n"
         "ld.param.u64 %to, [to_param];\nld.param.u64 %from, [from_param];\n" +
         body + "\nret;\n}\n";
}

/// A device with memory, and one launch on it.
class Device {
public:
  explicit Device(uint64_t bytes = uint64_t(1) << 30) {
    EXPECT_TRUE(memory.open(bytes));
  }

  uint64_t allocate(uint64_t bytes) {
    uint64_t address = 0;
    EXPECT_EQ(memory.allocate(bytes, &address), CudaSuccess);
    return address;
  }
  uint8_t *at(uint64_t address, uint64_t bytes = 1) {
    UsableRange range;
    EXPECT_TRUE(memory.find(address, bytes, range));
    return range.memory + (address - range.begin);
  }
  template <typename T> T read(uint64_t address) {
    T value;
    std::memcpy(&value, at(address, sizeof value), sizeof value);
    return value;
  }

  /// Launches entry k with two parameters of 64 bits.
  LaunchOutcome run(const std::string &ptx, uint64_t to, uint64_t from = 0,
                    uint32_t blocks = 1, uint32_t threads = 1) {
    Launch launch;
    launch.module = std::make_shared<CompiledModule>(ptx);
    launch.grid[0] = blocks;
    launch.block[0] = threads;
    launch.params.resize(16);
    std::memcpy(launch.params.data(), &to, 8);
    std::memcpy(launch.params.data() + 8, &from, 8);
    return runGrid(launch, memory, order);
  }

  DeviceMemory memory{0};
  RunOrder order;
};

/// What a line or more of PTX leaves in %d0, a number in; both as 64 bits.
inline uint64_t compute(const std::string &body, uint64_t in = 0) {
  Device device;
  uint64_t to = device.allocate(8), from = device.allocate(8);
  std::memcpy(device.at(from, 8), &in, 8);
  LaunchOutcome outcome =
      device.run(entryOf("mov.b64 %d0, 0;\nld.global.b64 %d1, [%from];\n"
                         "cvt.u32.u64 %r1, %d1;\n" +
                         body + "\nst.global.b64 [%to], %d0;"),
                 to, from);
  EXPECT_EQ(outcome.message, "");
  return device.read<uint64_t>(to);
}

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_KERNELS_H
