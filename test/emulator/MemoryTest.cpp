// Memory of the device: who may touch what, and what is said otherwise.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/Kernels.h"

namespace tfc::emulator {
namespace {

void expectContains(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Memory, KernelsStayWithinAnAllocation) {
  Device device;
  uint64_t to = device.allocate(20);
  std::string store = entryOf("st.global.b32 [%to+16], 5;");
  EXPECT_EQ(device.run(store, to).result, CudaSuccess);
  EXPECT_EQ(device.read<uint32_t>(to + 16), 5U);
  LaunchOutcome past = device.run(entryOf("st.global.b32 [%to+20], 5;"), to);
  EXPECT_EQ(past.result, CudaIllegalAddress);
  expectContains(past.message, "kernel k, block 0, thread 0: access of 4 bytes "
                               "at address 0x");
  expectContains(past.message, "byte 20 of an allocation of 20 (line 10 of the "
                               "PTX: st.global.b32 [%to+20], 5;)");
  // The last bytes of a wide access, and generic addresses.
  EXPECT_EQ(device.run(entryOf("ld.v2.b32 {%r1, %r2}, [%to+16];"), to).result,
            CudaIllegalAddress);
  EXPECT_EQ(device.run(entryOf("ld.b32 %r1, [%to+-4];"), to).result,
            CudaIllegalAddress);
  // The host's own memory is none of the device's.
  int mine = 0;
  expectContains(device.run(store, reinterpret_cast<uint64_t>(&mine)).message,
                 "which is none of the device's");
}

TEST(Memory, AccessesAreAligned) {
  Device device;
  uint64_t to = device.allocate(64);
  LaunchOutcome odd = device.run(entryOf("st.global.b32 [%to+2], 5;"), to);
  EXPECT_EQ(odd.result, CudaMisalignedAddress);
  EXPECT_EQ(device
                .run(entryOf("ld.global.v4.b32 {%r1, %r2, %r3, %r4}, "
                             "[%to+8];"),
                     to)
                .result,
            CudaMisalignedAddress);
}

TEST(Memory, FreshMemoryIsPoisoned) {
  Device device;
  uint64_t to = device.allocate(8), from = device.allocate(8);
  std::string copy = entryOf("ld.global.b32 %r1, [%from];\n"
                             "st.global.b32 [%to], %r1;");
  EXPECT_EQ(device.run(copy, to, from).result, CudaSuccess);
  EXPECT_EQ(device.read<uint32_t>(to), poison);
  // Also what was used and given back; and registers that nobody wrote.
  std::memset(device.at(from, 8), 1, 8);
  EXPECT_EQ(device.memory.free(from), CudaSuccess);
  EXPECT_EQ(device.run(copy, to, from).result, CudaIllegalAddress);
  from = device.allocate(8);
  EXPECT_EQ(device.read<uint32_t>(from), poison);
  EXPECT_EQ(device.run(entryOf("st.global.b32 [%to], %r7;"), to).result,
            CudaSuccess);
  EXPECT_EQ(device.read<uint32_t>(to), poison);
}

TEST(MemoryDeathTest, HostsDoNotFollowDeviceAddresses) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  Device device;
  uint64_t to = device.allocate(8);
  EXPECT_DEATH(*reinterpret_cast<volatile int *>(to) = 1, "");
}

TEST(Memory, EndsWhereTheDeviceDoes) {
  Device device(1000);
  uint64_t first = device.allocate(600), second = 0;
  EXPECT_EQ(device.memory.allocate(600, &second), CudaOutOfMemory);
  EXPECT_EQ(device.memory.free(first + 1), CudaInvalidValue);
  EXPECT_EQ(device.memory.free(first), CudaSuccess);
  EXPECT_EQ(device.memory.free(first), CudaInvalidValue);
  EXPECT_EQ(device.memory.allocate(600, &second), CudaSuccess);
}

/// Addresses without memory are none; pieces side by side are one range, once
/// they have been opened.
TEST(Memory, AddressesAndMemoryComeApart) {
  Device device;
  DeviceMemory &memory = device.memory;
  uint64_t base = 0, one = 0, two = 0;
  EXPECT_EQ(memory.reserve(100, &base), CudaInvalidValue);
  ASSERT_EQ(memory.reserve(4 * granularity, &base), CudaSuccess);
  std::string store =
      entryOf("st.global.b32 [%to], 1;\nst.global.b32 [%from], 2;");
  auto run = [&] { return device.run(store, base, base + granularity).result; };
  EXPECT_EQ(run(), CudaIllegalAddress);
  ASSERT_EQ(memory.create(granularity, &one), CudaSuccess);
  ASSERT_EQ(memory.map(base, granularity, one), CudaSuccess);
  EXPECT_EQ(memory.map(base, granularity, one), CudaInvalidValue);
  EXPECT_EQ(run(), CudaIllegalAddress) << "not opened";
  ASSERT_EQ(memory.allow(base, granularity), CudaSuccess);
  EXPECT_EQ(run(), CudaIllegalAddress) << "one piece";
  ASSERT_EQ(memory.create(granularity, &two), CudaSuccess);
  ASSERT_EQ(memory.map(base + granularity, granularity, two), CudaSuccess);
  ASSERT_EQ(memory.allow(base + granularity, granularity), CudaSuccess);
  EXPECT_EQ(run(), CudaSuccess);
  UsableRange range;
  EXPECT_TRUE(memory.find(base + granularity - 4, 8, range));
  EXPECT_FALSE(memory.find(base + 2 * granularity - 4, 8, range));
  EXPECT_EQ(memory.release(one), CudaSuccess);
  EXPECT_EQ(memory.release(two), CudaSuccess);
  EXPECT_EQ(memory.used(), 2 * granularity);
  EXPECT_EQ(memory.releaseReserved(base, 4 * granularity), CudaInvalidValue);
  EXPECT_EQ(memory.unmap(base, 2 * granularity), CudaSuccess);
  EXPECT_EQ(memory.used(), 0U);
  EXPECT_EQ(memory.releaseReserved(base, 4 * granularity), CudaSuccess);
}

} // namespace
} // namespace tfc::emulator
