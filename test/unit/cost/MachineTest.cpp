// Rooflines beside sums made by hand.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cost/Machine.h"

#include <gtest/gtest.h>

using namespace tfc::cost;

static Machine find(llvm::StringRef name) {
  llvm::Expected<Machine> machine = findMachine(name);
  EXPECT_TRUE(static_cast<bool>(machine));
  return *machine;
}

// The worked example: scores of 4096 queries and 4096 keys, 2048 wide, in 16
// bits, on 312 TFLOP/s and 2 TB/s.
TEST(MachineTest, ScoresOfAPromptAreBoundByArithmetic) {
  Work work = productOf(4096, 4096, 2048, 2);
  EXPECT_EQ(work.operations(), 68719476736.0);
  EXPECT_EQ(work.bytes, 67108864.0);
  Roofline bound = rooflineOf(work, find("a100"), true);
  EXPECT_NEAR(bound.arithmetic * 1e6, 220.2547, 1e-4);
  EXPECT_NEAR(bound.memory * 1e6, 33.5544, 1e-4);
  EXPECT_TRUE(bound.isArithmeticBound());
  EXPECT_EQ(bound.seconds(), bound.arithmetic);
}

TEST(MachineTest, ScoresOfOneTokenAreBoundByMemory) {
  Work work = productOf(1, 4096, 2048, 2);
  EXPECT_EQ(work.operations(), 16777216.0);
  Roofline bound = rooflineOf(work, find("a100"), true);
  EXPECT_NEAR(bound.arithmetic * 1e6, 0.0538, 1e-4);
  EXPECT_NEAR(bound.memory * 1e6, 8.3948, 1e-4);
  EXPECT_FALSE(bound.isArithmeticBound());
  EXPECT_EQ(bound.seconds(), bound.memory);
}

TEST(MachineTest, ProductsOfF32AreNotOnTensorCores) {
  Work work = productOf(1024, 1024, 1024, 4);
  Machine machine = find("h100");
  EXPECT_NEAR(rooflineOf(work, machine, false).arithmetic,
              work.products / 66.9e12, 1e-12);
  // Nor is what is no product.
  Work others;
  others.others = 66.9e12;
  EXPECT_NEAR(rooflineOf(others, machine, true).arithmetic, 1, 1e-9);
}

TEST(MachineTest, ThisMachineHasPeaks) {
  Machine machine = find("cpu");
  EXPECT_GT(machine.f32, 0);
  EXPECT_GT(machine.bandwidth, 0);
  EXPECT_FALSE(machine.isDevice);
}

TEST(MachineTest, OthersAreRefused) {
  llvm::Expected<Machine> machine = findMachine("a200");
  ASSERT_FALSE(static_cast<bool>(machine));
  EXPECT_EQ(llvm::toString(machine.takeError()),
            "expected --machine a100, h100, h200, l40s, rtx4090 or cpu (this "
            "one), got a200");
}
