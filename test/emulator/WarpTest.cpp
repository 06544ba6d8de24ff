// Lanes that exchange values, votes, and copies in the background.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/Kernels.h"

namespace tfc::emulator {
namespace {

/// What each of the threads of a block stores of %r5; %r1 is its number.
std::vector<uint32_t> runThreads(const std::string &body, uint32_t threads,
                                 uint64_t seed = 0) {
  Device device;
  device.order.seed = seed;
  uint64_t to = device.allocate(uint64_t(threads) * 4);
  LaunchOutcome outcome =
      device.run(entryOf("mov.u32 %r1, %tid.x;\n" + body +
                         "\nmul.wide.u32 %d1, %r1, 4;\nadd.s64 %d2, %to, %d1;\n"
                         "st.global.b32 [%d2], %r5;"),
                 to, 0, 1, threads);
  EXPECT_EQ(outcome.message, "");
  std::vector<uint32_t> result;
  for (uint32_t i = 0; i < threads; ++i) {
    result.push_back(device.read<uint32_t>(to + 4 * uint64_t(i)));
  }
  return result;
}

TEST(Warp, ShufflesOfEachKind) {
  for (uint64_t seed : {0, 1, 2}) {
    auto bfly = runThreads("shfl.sync.bfly.b32 %r5, %r1, 5, 31, -1;", 64, seed);
    auto down = runThreads("shfl.sync.down.b32 %r5, %r1, 3, 31, -1;", 64, seed);
    auto up = runThreads("shfl.sync.up.b32 %r5, %r1, 3, 0, -1;", 64, seed);
    auto index = runThreads("shfl.sync.idx.b32 %r5, %r1, 9, 31, -1;", 64, seed);
    for (uint32_t i = 0; i < 64; ++i) {
      uint32_t lane = i % 32;
      EXPECT_EQ(bfly[i], i ^ 5);
      EXPECT_EQ(down[i], lane + 3 < 32 ? i + 3 : i);
      EXPECT_EQ(up[i], lane >= 3 ? i - 3 : i);
      EXPECT_EQ(index[i], i / 32 * 32 + 9);
    }
  }
}

// Segments of eight lanes: c has the mask 24 and the clamp 31.
TEST(Warp, ShufflesStayInTheirSegment) {
  auto down = runThreads("shfl.sync.down.b32 %r5|%p1, %r1, 2, 6175, -1;\n"
                         "@!%p1 mov.b32 %r5, 99;",
                         32);
  auto index = runThreads("shfl.sync.idx.b32 %r5, %r1, 3, 6175, -1;", 32);
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(down[i], i % 8 + 2 < 8 ? i + 2 : 99U);
    EXPECT_EQ(index[i], i / 8 * 8 + 3);
  }
}

TEST(Warp, SomeLanesAlone) {
  // The lower half of the warp; the upper does nothing of the kind.
  auto half = runThreads("mov.b32 %r5, 0;\nsetp.ge.s32 %p1, %r1, 16;\n"
                         "@%p1 bra $on;\n"
                         "shfl.sync.bfly.b32 %r5, %r1, 8, 31, 65535;\n$on:",
                         32);
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(half[i], i < 16 ? i ^ 8 : 0U);
  }
}

TEST(Warp, Votes) {
  auto lanes = runThreads("setp.gt.s32 %p1, %r1, 29;\n"
                          "vote.sync.ballot.b32 %r5, %p1, -1;",
                          32);
  EXPECT_EQ(lanes[0], 0xc0000000U);
  auto any = runThreads("setp.gt.s32 %p1, %r1, 29;\n"
                        "vote.sync.any.pred %p2, %p1, -1;\n"
                        "vote.sync.all.pred %p3, %p1, -1;\n"
                        "selp.b32 %r5, 1, 0, %p2;\n"
                        "@%p3 mov.b32 %r5, 7;",
                        32);
  EXPECT_EQ(any[3], 1U);
}

/// Copies `bytes` of 16 from %from to shared memory, and one word of it on.
std::string copyOnce(const std::string &fill, const std::string &after) {
  return entryOf("cp.async.cg.shared.global [tile], [%from], 16" + fill +
                     ";\n" + after +
                     "ld.shared.b32 %r1, [tile+8];\nst.global.b32 [%to], %r1;",
                 ".shared .align 16 .b8 tile[16];\n");
}

TEST(Warp, CopiesLandWhenTheyAreWaitedFor) {
  Device device;
  uint64_t to = device.allocate(4), from = device.allocate(16);
  uint32_t value = 4711;
  std::memcpy(device.at(from + 8, 4), &value, 4);
  std::string wait = "cp.async.commit_group;\ncp.async.wait_group 0;\n";
  EXPECT_EQ(device.run(copyOnce("", wait), to, from).message, "");
  EXPECT_EQ(device.read<uint32_t>(to), 4711U);
  // Not a byte more than the source has; the rest is zero.
  std::memcpy(device.at(from, 4), &value, 4);
  EXPECT_EQ(device.run(copyOnce(", 4", wait), to, from).message, "");
  EXPECT_EQ(device.read<uint32_t>(to), 0U);
  // One group may be under way, and is not there.
  LaunchOutcome outcome = device.run(
      copyOnce("", "cp.async.commit_group;\ncp.async.wait_group 1;\n"), to,
      from);
  EXPECT_EQ(outcome.message,
            "kernel k, block 0, thread 0: copy that nobody waited for (line 11 "
            "of the PTX: cp.async.cg.shared.global [tile], [%from], 16;)");
  EXPECT_EQ(device.read<uint32_t>(to), 0xffffffffU);
}

TEST(Warp, OrdersOfBlocksFollowFromTheSeed) {
  // The last block to come leaves its number.
  auto last = [](uint64_t seed) {
    Device device;
    device.order.seed = seed;
    uint64_t to = device.allocate(4);
    EXPECT_EQ(device
                  .run(entryOf("mov.u32 %r1, %ctaid.x;\n"
                               "st.global.b32 [%to], %r1;"),
                       to, 0, 1000)
                  .message,
              "");
    return device.read<uint32_t>(to);
  };
  EXPECT_EQ(last(0), 999U);
  EXPECT_EQ(last(5), last(5));
  EXPECT_TRUE(last(5) != 999 || last(6) != 999);
}

} // namespace
} // namespace tfc::emulator
