// Programs for AMX, and systems that refuse its tiles.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/TilePermission.h"

#include "runtime/src/load/X86Levels.h"

#include <gtest/gtest.h>

using namespace tfc;
using namespace tfc::rt;

namespace {

int numAsked = 0;

const std::string &grant() {
  static const std::string none;
  ++numAsked;
  return none;
}

const std::string &refuse() {
  static const std::string reason = "no room";
  ++numAsked;
  return reason;
}

/// A library of two programs for this kind of machine.
struct Library {
  Library(uint64_t first, uint64_t second, uint32_t isa = TFC_ISA_X86_64) {
    programs[0].isa = programs[1].isa = isa;
    programs[0].features = first;
    programs[1].features = second;
    table.programs = programs;
    table.n_programs = 2;
  }
  tfc_program_v0 programs[2] = {};
  tfc_module_v0 table = {};
};

constexpr uint64_t kLevel = TFC_FEATURE_X86_64_V4;
constexpr uint64_t kTiles = kLevel | TFC_FEATURE_AMX_BF16;

TEST(TilePermission, isAskedForWhereALibraryAndTheMachineHaveTiles) {
  numAsked = 0;
  Library plain(kLevel, kLevel | TFC_FEATURE_AVX512_VNNI),
      tiles(kLevel, kTiles);
  EXPECT_EQ(permittedFeatures(plain.table, kTiles, refuse), kTiles);
  EXPECT_EQ(permittedFeatures(tiles.table, kLevel, refuse), kLevel);
  // Bits of other machines mean something else.
  Library other(kLevel, kTiles, TFC_ISA_AARCH64);
  EXPECT_EQ(permittedFeatures(other.table, kTiles, refuse), kTiles);
  EXPECT_EQ(numAsked, 0);
  EXPECT_EQ(permittedFeatures(tiles.table, kTiles, grant), kTiles);
  EXPECT_EQ(numAsked, 1);
}

TEST(TilePermission, refusedLeavesTheOtherPrograms) {
  Library tiles(kLevel, kTiles);
  uint64_t machine = kTiles | TFC_FEATURE_AMX_INT8;
  EXPECT_EQ(permittedFeatures(tiles.table, machine, refuse), kLevel);
}

TEST(TilePermission, saysWhetherTheMachineOrTheSystemLacksThem) {
  uint64_t bf16 = TFC_FEATURE_AMX_BF16;
  EXPECT_EQ(describeMissing(bf16, /*present=*/kTiles),
            "the system's permission for AMX (" + tileRefusal() + ")");
  if (machineFeatures() & bf16) {
    GTEST_SKIP() << "expected a machine without AMX";
  }
  EXPECT_NE(describeMissing(bf16).find("amx-bf16"), std::string::npos);
  // What has no tiles does not get them.
  EXPECT_NE(tileRefusal(), "");
}

} // namespace
