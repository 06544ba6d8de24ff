// The strategy table: who gets which row, and what every row must satisfy.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/tiling/Strategy.h"

#include <gtest/gtest.h>

using namespace tfc;

namespace {

TEST(Strategy, aMicroarchitectureOfItsOwnOrThatOfTheLevel) {
  Strategy level = chooseStrategy("x86-64-v4", "");
  Strategy zen = chooseStrategy("x86-64-v4", "znver4");
  EXPECT_EQ(zen.prefetchRows, 7);
  EXPECT_EQ(level.prefetchRows, 2);
  EXPECT_EQ(chooseStrategy("x86-64-v4", "znver5").turnRows, zen.turnRows);
  EXPECT_EQ(chooseStrategy("x86-64-v4", "emeraldrapids").turnRows,
            level.turnRows);
  EXPECT_EQ(chooseStrategy("x86-64-v3", "").prefetchRows, 2);
  EXPECT_EQ(chooseStrategy("x86-64-v3", "", 16).prefetchRows, 1);
  EXPECT_EQ(chooseStrategy("x86-64-v3", "znver3").panel,
            chooseStrategy("x86-64-v3", "").panel);
}

TEST(Strategy, tilesFitTheRegistersAndItemsAreWholeTiles) {
  for (auto [program, microarchitecture] :
       {std::pair{"x86-64-v3", ""}, std::pair{"x86-64-v4", ""},
        std::pair{"x86-64-v4", "znver5"}, std::pair{"x86-64-v4+bf16", "znver4"},
        std::pair{"x86-64-v3+avxvnni", ""}, std::pair{"x86-64-v4+vnni", ""},
        std::pair{"x86-64-v4+vnni", "znver4"}, std::pair{"armv8-a", ""},
        std::pair{"x86-64-v4+amx-bf16", ""},
        std::pair{"x86-64-v4+amx-int8", ""},
        std::pair{"armv8-a", "neoverse-n1"}, std::pair{"armv8-a+dotprod", ""},
        std::pair{"armv8-a+i8mm", ""}, std::pair{"rv64gcv", ""},
        std::pair{"rv64gcv+zvl256b", ""}, std::pair{"rv64gcv+zvl512b", ""}}) {
    Strategy s = chooseStrategy(program, microarchitecture);
    // Of `lanes` floats.
    bool isLong = llvm::StringRef(program).contains("zvl") || s.lanes == 16;
    int64_t vectors = s.panel / s.lanes, registers = isLong ? 32 : 16;
    EXPECT_EQ(s.panel % s.lanes, 0) << program;
    // Sums, weights, a broadcast.
    EXPECT_LE(s.rows * vectors + vectors + 1, registers) << program;
    EXPECT_EQ(s.rowBlock % s.rows, 0) << program;
    // What the tiles read in turns can be asked for a block ahead.
    EXPECT_LE(s.blockBytes, s.nextBytes) << program;
    // The packed weights of a model serve all machines of a level.
    EXPECT_EQ(s.panel, chooseStrategy(program, "").panel) << microarchitecture;
  }
}

/// Packed files of one serve the other, and so do cases of its tests.
TEST(Strategy, riscvHasThePanelsOfX86) {
  for (auto [program, same] : {std::pair{"rv64gcv", "x86-64-v3"},
                               std::pair{"rv64gcv+zvl256b", "x86-64-v3"},
                               std::pair{"rv64gcv+zvl512b", "x86-64-v4"}}) {
    for (int64_t bits : {4, 8, 16, 32}) {
      Strategy own = chooseStrategy(program, "", bits);
      Strategy other = chooseStrategy(same, "", bits);
      EXPECT_EQ(own.panel, other.panel) << program;
      EXPECT_EQ(own.lanes, other.lanes) << program;
      EXPECT_TRUE(own.isSigned) << program;
      EXPECT_GE(own.turnRows, own.rows) << program;
      EXPECT_EQ(own.rowBlock % own.rows, 0) << program;
    }
  }
}

TEST(Strategy, quadsFitNeon) {
  for (const char *program : {"armv8-a", "armv8-a+dotprod", "armv8-a+i8mm"}) {
    for (int64_t bits : {16, 32}) {
      Strategy s = chooseStrategy(program, "", bits);
      EXPECT_TRUE(s.byLane) << program;
      // 32 registers of four floats: sums, weights, four steps of each row.
      int64_t vectors = s.panel / 4;
      EXPECT_LE(s.rows * vectors + vectors + s.rows, 32) << program;
      // A turn is four steps.
      EXPECT_GE(s.unroll, 4) << program;
      EXPECT_GE(s.turnRows, 4 * s.rows) << program;
    }
    EXPECT_FALSE(chooseStrategy(program, "", 8).byLane) << program;
  }
}

TEST(Strategy, matricesOfBytesFitNeon) {
  Strategy s = chooseStrategy("armv8-a+i8mm", "", 8);
  EXPECT_TRUE(s.matrices);
  EXPECT_FALSE(chooseStrategy("armv8-a+i8mm", "", 4).matrices);
  EXPECT_FALSE(chooseStrategy("armv8-a+dotprod", "", 8).matrices);
  // Two rows each: sums, rows, a vector of weights.
  EXPECT_EQ(s.rows % 2, 0);
  EXPECT_EQ(s.rowBlock % s.rows, 0);
  EXPECT_LE(s.rows * s.panel / 4 + s.rows / 2 + 1, 32);
  EXPECT_EQ(s.panel, chooseStrategy("armv8-a+dotprod", "", 8).panel);
}

TEST(Strategy, dotsReadTheWeightsOfTheLevelBelow) {
  Strategy dots = chooseStrategy("x86-64-v4+bf16", "", 16);
  Strategy widening = chooseStrategy("x86-64-v4", "znver4", 16);
  EXPECT_TRUE(dots.dots);
  EXPECT_FALSE(widening.dots);
  EXPECT_EQ(dots.panel, widening.panel);
  EXPECT_EQ(dots.bf16Word, widening.bf16Word);
  // Nothing is widened for the tiles behind the first one.
  EXPECT_EQ(dots.rowBlock, chooseStrategy("x86-64-v4", "znver4").rowBlock);
}

TEST(Strategy, tilesReadTheWeightsOfWords) {
  for (auto [tiles, words] :
       {std::pair{"x86-64-v4+amx-bf16", "x86-64-v4+bf16"},
        std::pair{"x86-64-v4+amx-int8", "x86-64-v4+vnni"}}) {
    Strategy own = chooseStrategy(tiles, ""), other = chooseStrategy(words, "");
    EXPECT_TRUE(own.tiles);
    EXPECT_FALSE(other.tiles);
    EXPECT_EQ(own.dots, other.dots);
    EXPECT_EQ(own.excess, other.excess);
    EXPECT_EQ(own.panel, other.panel);
    EXPECT_EQ(own.bf16Word, other.bf16Word);
    // Two rows of registers.
    EXPECT_EQ(own.rowBlock % 32, 0);
  }
}

TEST(Strategy, bytesHaveASignWhereNoUnitWantsThemWithout) {
  for (auto [program, excess] :
       {std::pair{"x86-64-v3", false}, std::pair{"x86-64-v4", false},
        std::pair{"x86-64-v3+avxvnni", true}, std::pair{"x86-64-v4+vnni", true},
        std::pair{"armv8-a", false}, std::pair{"armv8-a+dotprod", false}}) {
    EXPECT_EQ(chooseStrategy(program, "").excess, excess) << program;
  }
  EXPECT_TRUE(chooseStrategy("armv8-a", "").isSigned);
  EXPECT_TRUE(chooseStrategy("armv8-a+dotprod", "").isSigned);
  EXPECT_FALSE(chooseStrategy("x86-64-v3", "").isSigned);
}

} // namespace
