// Accesses that nothing orders, of threads, of blocks and of streams.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/Kernels.h"

namespace tfc::emulator {
namespace {

const std::string number = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\n"
                           "mov.u32 %r3, %tid.x;\n"
                           "mad.lo.s32 %r4, %r1, %r2, %r3;\n";

/// Runs with somebody who looks for races.
LaunchOutcome watch(const std::string &ptx, uint32_t blocks, uint32_t threads,
                    uint64_t bytes = 256) {
  Device device;
  Races races;
  device.order.races = &races;
  device.order.work = races.begin(nullptr, 0);
  uint64_t to = device.allocate(bytes);
  return device.run(ptx, to, 0, blocks, threads);
}

TEST(Race, StoresOfTwoBlocksToOneWord) {
  std::string store = entryOf(number + "st.global.b32 [%to], %r4;");
  EXPECT_EQ(watch(store, 1, 1).message, "");
  LaunchOutcome outcome = watch(store, 2, 1);
  EXPECT_EQ(outcome.result, CudaLaunchFailed);
  EXPECT_NE(outcome.message.find(
                "kernel k, block 1, thread 0: race: store that is not ordered "
                "after a store by block 0 at line 14 of the PTX"),
            std::string::npos)
      << outcome.message;
}

TEST(Race, NeighboursOfSixteenBitsAreTwoPlaces) {
  std::string address = number + "mul.wide.u32 %d1, %r4, 2;\n"
                                 "add.s64 %d2, %to, %d1;\n";
  EXPECT_EQ(watch(entryOf(address + "cvt.u16.u32 %h1, %r4;\n"
                                    "st.global.b16 [%d2], %h1;"),
                  2, 8)
                .message,
            "");
  // A word that covers the neighbour's half is another matter.
  EXPECT_NE(watch(entryOf(address + "and.b64 %d2, %d2, -4;\n"
                                    "st.global.b32 [%d2], %r4;"),
                  1, 8)
                .message,
            "");
}

TEST(Race, ManyMayRead) {
  std::string read = number + "ld.global.b32 %r5, [%to+128];\n";
  EXPECT_EQ(watch(entryOf(read), 3, 40).message, "");
  // Nobody may write then, not even the last of them.
  LaunchOutcome outcome =
      watch(entryOf(read + "setp.ne.s32 %p1, %r3, 39;\n@%p1 bra $out;\n"
                           "st.global.b32 [%to+128], %r5;\n$out:"),
            1, 40);
  EXPECT_NE(outcome.message.find("not ordered after loads, one by thread"),
            std::string::npos)
      << outcome.message;
}

TEST(Race, ABarrierOrdersABlockAndNoOther) {
  std::string turn = number + "setp.eq.s32 %p1, %r3, 0;\n"
                              "@%p1 st.global.b32 [%to], %r4;\n"
                              "bar.sync 0;\nld.global.b32 %r5, [%to];\n";
  EXPECT_EQ(watch(entryOf(turn), 1, 64).message, "");
  EXPECT_NE(watch(entryOf(turn), 2, 64).message, "");
}

TEST(Race, ABarrierOfAWarpOrdersTheWarp) {
  std::string turn = ".shared .align 4 .b8 word[4];\n";
  std::string body = number + "setp.eq.s32 %p1, %r3, 0;\n"
                              "@%p1 st.shared.b32 [word], %r4;\n";
  std::string read = "ld.shared.b32 %r5, [word];\n";
  EXPECT_EQ(
      watch(entryOf(body + "bar.warp.sync -1;\n" + read, turn), 1, 32).message,
      "");
  EXPECT_NE(
      watch(entryOf(body + "bar.warp.sync -1;\n" + read, turn), 1, 64).message,
      "");
  // An exchange of values orders no memory.
  EXPECT_NE(
      watch(entryOf(body + "shfl.sync.bfly.b32 %r6, %r3, 1, 31, -1;\n" + read,
                    turn),
            1, 32)
          .message,
      "");
}

// Two streams write one word: in order only if the host waited between.
TEST(Race, StreamsAreOrderedByTheHost) {
  for (bool waits : {true, false}) {
    Races races;
    int first = 0, second = 0; // two streams
    Accessor by;
    by.work = races.begin(&first, races.tick());
    EXPECT_EQ(races.noteGlobal(4096, 4, true, by), "");
    // Asked for before or after the first was done.
    uint64_t early = races.tick();
    races.finish(&first);
    uint64_t late = races.tick();
    by.work = races.begin(&second, waits ? late : early);
    std::string found = races.noteGlobal(4096, 4, false, by);
    EXPECT_EQ(found.empty(), waits) << found;
    // New memory has no past.
    races.forget(4096, 4);
    EXPECT_EQ(races.noteGlobal(4096, 4, true, by), "");
  }
}

TEST(Race, DeadlocksSayWhoWaitsWhere) {
  LaunchOutcome outcome =
      watch(entryOf("mov.u32 %r1, %tid.x;\nsetp.eq.s32 %p1, %r1, 5;\n"
                    "@%p1 bra $other;\nbar.sync 0;\nbra.uni $out;\n"
                    "$other:\nbar.sync 1;\n$out:"),
            1, 40);
  EXPECT_EQ(
      outcome.message,
      "kernel k, block 0: expected threads to wait for each other at one "
      "place, got 39 at line 13 of the PTX (thread 0 first), 1 at line 16 "
      "of the PTX (thread 5)");
  outcome = watch(entryOf("mov.u32 %r1, %tid.x;\nsetp.eq.s32 %p1, %r1, 5;\n"
                          "@%p1 bra $out;\n"
                          "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\n$out:"),
                  1, 32);
  EXPECT_EQ(outcome.message,
            "kernel k, block 0: expected threads to wait for each other at one "
            "place, got 1 that ended (thread 5), 31 at line 13 of the PTX "
            "(thread 0 first)");
}

} // namespace
} // namespace tfc::emulator
