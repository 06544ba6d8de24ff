// Grids: every thread once, barriers, shared and local memory, variables.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/Kernels.h"

namespace tfc::emulator {
namespace {

const std::string number = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\n"
                           "mov.u32 %r3, %tid.x;\n"
                           "mad.lo.s32 %r4, %r1, %r2, %r3;\n"
                           "mul.wide.u32 %d1, %r4, 4;\n"
                           "add.s64 %d2, %to, %d1;\n";

TEST(Grid, RunsEveryThreadOnce) {
  Device device;
  uint64_t to = device.allocate(3 * 5 * 4);
  std::memset(device.at(to, 60), 0, 60);
  EXPECT_EQ(device
                .run(entryOf(number + "ld.global.b32 %r5, [%d2];\n"
                                      "add.s32 %r5, %r5, %r4;\n"
                                      "add.s32 %r5, %r5, 1;\n"
                                      "st.global.b32 [%d2], %r5;"),
                     to, 0, 3, 5)
                .message,
            "");
  for (uint32_t i = 0; i < 15; ++i) {
    EXPECT_EQ(device.read<uint32_t>(to + 4 * i), i + 1);
  }
}

/// Each thread writes its word of shared memory and reads its neighbour's.
std::string exchange(const std::string &between) {
  return entryOf(number +
                     "shl.b32 %r5, %r3, 2;\n"
                     "mov.b64 %d3, words;\ncvt.u64.u32 %d4, %r5;\n"
                     "add.s64 %d5, %d3, %d4;\n"
                     "st.shared.b32 [%d5], %r4;\n" +
                     between +
                     "add.s32 %r6, %r3, 1;\nrem.u32 %r6, %r6, %r2;\n"
                     "mul.wide.u32 %d6, %r6, 4;\nadd.s64 %d7, %d3, %d6;\n"
                     "ld.shared.b32 %r7, [%d7];\nst.global.b32 [%d2], %r7;",
                 ".shared .align 4 .b8 words[28];\n");
}

TEST(Grid, BarriersBringThreadsTogether) {
  Device device;
  uint64_t to = device.allocate(2 * 7 * 4);
  LaunchOutcome outcome = device.run(exchange("bar.sync 0;\n"), to, 0, 2, 7);
  EXPECT_EQ(outcome.message, "");
  for (uint32_t i = 0; i < 14; ++i) {
    EXPECT_EQ(device.read<uint32_t>(to + 4 * i), i / 7 * 7 + (i + 1) % 7);
  }
  // Without it, the neighbour has not come yet.
  EXPECT_EQ(device.run(exchange(""), to, 0, 2, 7).message, "");
  EXPECT_EQ(device.read<uint32_t>(to), poison);
}

TEST(Grid, ABarrierThatSomePassByIsAFault) {
  Device device;
  uint64_t to = device.allocate(4);
  LaunchOutcome outcome =
      device.run(entryOf("mov.u32 %r1, %tid.x;\nsetp.eq.s32 %p1, %r1, 2;\n"
                         "@%p1 bra $out;\nbar.sync 0;\n$out:"),
                 to, 0, 1, 4);
  EXPECT_EQ(outcome.result, CudaLaunchFailed);
  EXPECT_EQ(outcome.message,
            "kernel k, block 0: expected threads to wait for each other at one "
            "place, got 1 that ended (thread 2), 3 at line 13 of the PTX "
            "(thread 0 first)");
}

TEST(Grid, SharedAndLocalMemoryHaveEnds) {
  Device device;
  uint64_t to = device.allocate(4);
  std::string shared = ".shared .align 4 .b8 words[28];\n";
  auto at = [&](const std::string &offset) {
    return device
        .run(entryOf("mov.b64 %d1, words;\nst.shared.b32 [%d1+" + offset +
                         "], 1;",
                     shared),
             to)
        .result;
  };
  EXPECT_EQ(at("24"), CudaSuccess);
  EXPECT_EQ(at("28"), CudaIllegalAddress);
  EXPECT_EQ(at("26"), CudaMisalignedAddress);
  // A stack, by its own and by generic addresses.
  std::string local = ".local .align 4 .b8 depot[8];\nmov.b64 %d1, depot;\n"
                      "cvta.local.u64 %d2, %d1;\nst.local.b32 [%d1+4], 7;\n"
                      "ld.b32 %r1, [%d2+4];\nst.global.b32 [%to], %r1;\n";
  EXPECT_EQ(device.run(entryOf(local), to).message, "");
  EXPECT_EQ(device.read<uint32_t>(to), 7U);
  EXPECT_EQ(device.run(entryOf(local + "ld.b32 %r1, [%d2+8];"), to).result,
            CudaIllegalAddress);
}

TEST(Grid, DivisionByZeroIsAFault) {
  Device device;
  uint64_t to = device.allocate(4);
  LaunchOutcome outcome =
      device.run(entryOf("mov.b32 %r1, 0;\ndiv.u32 %r2, %r1, %r1;"), to);
  EXPECT_EQ(outcome.result, CudaLaunchFailed);
  EXPECT_EQ(outcome.message, "kernel k, block 0, thread 0: division by zero "
                             "(line 11 of the PTX: div.u32 %r2, %r1, %r1;)");
}

} // namespace
} // namespace tfc::emulator
