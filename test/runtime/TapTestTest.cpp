// tfc-run --self-test: what is said of wrong values, and that they do not
// travel.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/TapTest.h"
#include "runtime/tools/ErrorPattern.h"
#include "runtime/tools/SilenceLimit.h"
#include "tfc/abi.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tfc::run {
namespace {

/// A matrix of ones, `change`d where `isWrong` says so.
std::string describe(int64_t rows, int64_t width,
                     const std::function<bool(int64_t, int64_t)> &isWrong,
                     float to = 3) {
  std::vector<float> right(size_t(rows * width), 1), got = right;
  for (int64_t i = 0; i < rows * width; ++i) {
    got[size_t(i)] = isWrong(i / width, i % width) ? to : got[size_t(i)];
  }
  return describeErrors(right.data(), got.data(), rows, width, 1e-4);
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(ErrorPattern, NothingIsWrong) {
  EXPECT_EQ(describe(3, 4, [](int64_t, int64_t) { return false; }), "");
  float nan = NAN;
  EXPECT_EQ(describeErrors(&nan, &nan, 1, 1, 0), "");
}

TEST(ErrorPattern, WhichRowsAndColumns) {
  std::string all = describe(5, 40, [](int64_t, int64_t) { return true; });
  EXPECT_EQ(all, "200 of 200 values, by 2 at most; first [0, 0]: expected 1, "
                 "got 3; all rows, all columns; 3 times what is right");
  std::string some = describe(
      40, 130, [](int64_t r, int64_t c) { return r % 8 == 3 && c >= 128; });
  EXPECT_TRUE(has(some, "; rows 3 mod 8, columns 128..129;")) << some;
  std::string fragments = describe(70, 70, [](int64_t r, int64_t c) {
    return r == 9 && (c % 16 == 2 || c % 16 == 7);
  });
  EXPECT_TRUE(has(fragments, "; rows 9, columns 2, 7 mod 16;")) << fragments;
  std::string loose = describe(
      9, 3, [](int64_t r, int64_t) { return r == 1 || r == 2 || r == 8; });
  EXPECT_TRUE(has(loose, "; rows 1, 2, 8, all columns;")) << loose;
}

TEST(ErrorPattern, NansAndWhatNobodyWrote) {
  float untouched;
  std::memcpy(&untouched, &rt::untouchedBits, sizeof untouched);
  std::string text =
      describe(2, 2, [](int64_t r, int64_t) { return r == 1; }, untouched);
  EXPECT_TRUE(has(text, "; 2 NaNs; 2 never written")) << text;
  EXPECT_FALSE(has(text, "times")) << text;
  std::string other =
      describe(2, 2, [](int64_t r, int64_t) { return r == 1; }, NAN);
  EXPECT_TRUE(has(other, "; 2 NaNs")) << other;
  EXPECT_FALSE(has(other, "written")) << other;
}

/// A value of one row.
struct Row {
  std::vector<float> data;
  rt::TappedValue value(const char *id, uint32_t dtype = TFC_DTYPE_F32) {
    return {id, 1, 1, int64_t(data.size()), dtype, data.data(), "kernel_7"};
  }
};

TEST(TapTest, NamesWhatIsWrongAndPutsItRight) {
  TapTest test(1e-4);
  auto recorder = test.recorder(), checker = test.checker();
  for (int time = 0; time < 2; ++time) {
    test.begin();
    Row a{{1, 2}}, b{{3, 4}}, wrong{{1, 5}};
    EXPECT_FALSE(recorder(a.value("a:linear")));
    EXPECT_FALSE(recorder(b.value("b:add")));
    EXPECT_EQ(test.count(), 2U);
    EXPECT_TRUE(checker(wrong.value("a:linear")));
    EXPECT_EQ(wrong.data, a.data);
    EXPECT_FALSE(checker(b.value("b:add")));
    ASSERT_EQ(test.faults().size(), 1U);
    EXPECT_TRUE(has(test.faults()[0], "a:linear, layer 1, behind kernel "
                                      "kernel_7: 1 of 2 values"));
  }
  EXPECT_EQ(test.wrongOps(), std::set<std::string>({"a:linear (kernel_7)"}));
}

TEST(TapTest, AllowsWhatATypeCannotTell) {
  TapTest test(1e-4);
  auto recorder = test.recorder(), checker = test.checker();
  Row right{{1, 4}}, near{{1, 4.02F}};
  recorder(right.value("a"));
  recorder(right.value("a"));
  EXPECT_TRUE(checker(near.value("a", TFC_DTYPE_BF16)));
  EXPECT_TRUE(test.faults().empty());
  near.data[1] = 4.02F;
  checker(near.value("a"));
  EXPECT_EQ(test.faults().size(), 1U);
}

TEST(TapTest, BothProgramsReadWhatTheOtherOneKeeps) {
  TapTest test(1e-4, TFC_DTYPE_BF16);
  auto recorder = test.recorder(), checker = test.checker();
  Row exact{{1.00390625F, 1.01171875F, 1.01F, -3e38F, 0, 1e-39F}};
  EXPECT_TRUE(recorder(exact.value("a")));
  // Of two that are equally near the even one; subnormal ones are kept.
  std::vector<float> kept = {1, 1.015625F,  1.0078125F, -0x1.c4p127F,
                             0, 0x1.6p-130F};
  EXPECT_EQ(exact.data, kept);
  Row same{kept};
  EXPECT_FALSE(checker(same.value("a", TFC_DTYPE_BF16)));
  EXPECT_TRUE(test.faults().empty());
}

TEST(TapTest, SaysWhenProgramsDoNotReportTheSame) {
  TapTest test(1e-4);
  auto recorder = test.recorder(), checker = test.checker();
  Row row{{1}};
  recorder(row.value("a"));
  EXPECT_FALSE(checker(row.value("b")));
  EXPECT_FALSE(checker(row.value("b")));
  ASSERT_EQ(test.faults().size(), 1U);
  EXPECT_TRUE(
      has(test.faults()[0], "expected a, layer 1 of 1 rows here, got "));
}

TEST(SilenceLimitDeathTest, EndsAProcessThatHearsNothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        // What is printed goes where the test looks.
        dup2(2, 1);
        SilenceLimit silence(0.05);
        silence.hear("a:linear, layer 1, kernel kernel_7");
        std::this_thread::sleep_for(std::chrono::seconds(60));
      },
      testing::ExitedWithCode(1),
      "WRONG: nothing for 0.05 s behind a:linear, layer 1, kernel kernel_7");
}

TEST(SilenceLimit, EndsWithItsUser) {
  SilenceLimit none(0), paused(1000), waiting(1000), unused(0.01);
  none.hear("a");
  paused.hear("a");
  paused.pause();
  waiting.hear("a");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

} // namespace
} // namespace tfc::run
