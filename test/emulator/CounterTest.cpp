// What kernels ask of memory, counted by hand.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/Kernels.h"

#include <fstream>
#include <sstream>

namespace tfc::emulator {
namespace {

/// Of a launch of two warps whose threads have their numbers in %r1 and the
/// beginning of 64 KiB in %to.
KernelCounts count(const std::string &body, const std::string &memory = "",
                   unsigned blocks = 1, uint64_t wave = 1) {
  Device device;
  Counters counters;
  device.order.counters = &counters;
  device.order.wave = wave;
  uint64_t to = device.allocate(1 << 16);
  LaunchOutcome outcome = device.run(
      entryOf("mov.u32 %r1, %tid.x;\n" + body, memory), to, 0, blocks, 64);
  EXPECT_EQ(outcome.message, "");
  std::string path = testing::TempDir() + "counters.json";
  EXPECT_TRUE(counters.write(path));
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  KernelCounts found;
  auto read = [&](const char *name) {
    std::string key = std::string("\"") + name + "\": ";
    size_t at = text.str().find(key);
    EXPECT_NE(at, std::string::npos) << name;
    return std::strtoull(text.str().c_str() + at + key.size(), nullptr, 10);
  };
  found.launches = read("launches");
  found.threads = read("threads");
  found.requests = read("requests");
  found.sectors = read("sectors");
  found.idealSectors = read("ideal_sectors");
  found.memoryBytes = read("memory_bytes");
  found.waveBytes = read("wave_bytes");
  found.sharedRequests = read("shared_requests");
  found.sharedPasses = read("shared_passes");
  found.idealPasses = read("ideal_passes");
  found.tensorOperations = read("tensor_operations");
  return found;
}

/// Thread i reads the word at i * stride bytes.
std::string strided(int stride) {
  return "mul.wide.u32 %d1, %r1, " + std::to_string(stride) +
         ";\nadd.s64 %d2, %to, %d1;\nld.global.b32 %r5, [%d2];";
}

TEST(Counters, SectorsOfARequest) {
  KernelCounts dense = count(strided(4));
  EXPECT_EQ(dense.launches, 1U);
  EXPECT_EQ(dense.threads, 64U);
  EXPECT_EQ(dense.requests, 2U);
  EXPECT_EQ(dense.sectors, 8U);
  EXPECT_EQ(dense.idealSectors, 8U);
  EXPECT_EQ(dense.memoryBytes, 256U);
  KernelCounts apart = count(strided(64));
  EXPECT_EQ(apart.requests, 2U);
  EXPECT_EQ(apart.sectors, 64U);
  EXPECT_EQ(apart.idealSectors, 8U);
  EXPECT_EQ(apart.memoryBytes, 2048U);
  // All lanes the same word; both warps find it in memory once.
  KernelCounts one = count(strided(0));
  EXPECT_EQ(one.sectors, 2U);
  EXPECT_EQ(one.memoryBytes, 32U);
}

/// What blocks side by side read, each wave once; the last one may be short.
TEST(Counters, WavesOfBlocks) {
  EXPECT_EQ(count(strided(4), "", 5, 1).waveBytes, 5U * 256);
  EXPECT_EQ(count(strided(4), "", 5, 2).waveBytes, 3U * 256);
  EXPECT_EQ(count(strided(4), "", 5, 5).waveBytes, 256U);
  EXPECT_EQ(count(strided(4), "", 5, 2).memoryBytes, 256U);
}

// A loop's trips are requests of their own.
TEST(Counters, ALineThatRunsAgain) {
  KernelCounts twice = count("mov.b32 %r2, 0;\n$again:\n" + strided(4) +
                             "\nadd.s32 %r2, %r2, 1;\n"
                             "setp.lt.s32 %p1, %r2, 2;\n@%p1 bra $again;");
  EXPECT_EQ(twice.requests, 4U);
  EXPECT_EQ(twice.sectors, 16U);
  EXPECT_EQ(twice.memoryBytes, 256U);
}

/// Thread i stores a word at i * stride bytes of shared memory.
KernelCounts countShared(int stride) {
  return count("mov.u64 %d1, words;\nmul.wide.u32 %d2, %r1, " +
                   std::to_string(stride) +
                   ";\nadd.s64 %d3, %d1, %d2;\nst.shared.b32 [%d3], %r1;",
               ".shared .align 16 .b8 words[16384];\n");
}

TEST(Counters, ConflictsOfBanks) {
  KernelCounts dense = countShared(4);
  EXPECT_EQ(dense.sharedRequests, 2U);
  EXPECT_EQ(dense.sharedPasses, 2U);
  EXPECT_EQ(dense.idealPasses, 2U);
  EXPECT_EQ(dense.requests, 0U);
  EXPECT_EQ(countShared(8).sharedPasses, 4U);
  EXPECT_EQ(countShared(128).sharedPasses, 64U);
  EXPECT_EQ(countShared(132).sharedPasses, 2U);
}

// 16 bytes a lane: four passes of eight lanes each.
TEST(Counters, WideWordsOfSharedMemory) {
  KernelCounts wide = count(
      "mov.u64 %d1, words;\nmul.wide.u32 %d2, %r1, 16;\nadd.s64 %d3, %d1, %d2;"
      "\nst.shared.v4.b32 [%d3], {%r1, %r1, %r1, %r1};",
      ".shared .align 16 .b8 words[16384];\n");
  EXPECT_EQ(wide.sharedRequests, 2U);
  EXPECT_EQ(wide.sharedPasses, 8U);
  EXPECT_EQ(wide.idealPasses, 8U);
}

// A multiply-add is two: 16 x 8 sums of 16 terms, of each of two warps.
TEST(Counters, OperationsOfTensorCores) {
  std::string body;
  for (int i = 0; i < 10; ++i) {
    body += "mov.b32 %r" + std::to_string(i + 2) + ", 0;\n";
  }
  KernelCounts counts =
      count(body + "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                   "{%r20, %r21, %r22, %r23}, {%r2, %r3, %r4, %r5}, "
                   "{%r6, %r7}, {%r8, %r9, %r10, %r11};");
  EXPECT_EQ(counts.tensorOperations, 2U * 2 * 16 * 8 * 16);
}

} // namespace
} // namespace tfc::emulator
