// Our exp, tanh, erf, rsqrt, sin and cos against the C++ library in double
// precision, over all floats: NaN, infinities and subnormal numbers too.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/kernel/CompiledFunction.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

using namespace tfc;

namespace {
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Function {
  const char *op;
  double (*reference)(double);
  double ulps;     // the error allowed, in units in the last place
  double largest;  // bound of the results
  double smallest; // correct results below become 0
  double range;    // of finite arguments, to both sides
};

double rsqrt(double x) { return 1 / std::sqrt(x); }

const Function kFunctions[] = {
    {"math.exp", std::exp, 0.9, kInfinity, 0x1.6a09e7p-126, kInfinity},
    {"math.tanh", std::tanh, 4.7, 1, 0, kInfinity},
    {"math.erf", std::erf, 4.7, 1, 0, kInfinity},
    {"math.rsqrt", rsqrt, 1.5, kInfinity, 0, kInfinity},
    {"math.sin", std::sin, 1.6, 1, 0, 0x1p17},
    {"math.cos", std::cos, 1.6, 1, 0, 0x1p17},
};

/// The distance of floats around `x`.
double ulp(double x) {
  int exponent = x == 0 ? -126 : std::ilogb(x);
  return std::ldexp(1, std::clamp(exponent, -126, 127) - 23);
}

/// |result - correct| in units in the last place; infinity counts as the first
/// power of two that is not a float.
double measureError(float result, double correct) {
  auto limit = [](double x) { return std::clamp(x, -0x1p128, 0x1p128); };
  return std::abs(limit(result) - limit(correct)) / ulp(correct);
}

/// Calls visit(x, f(x)) for floats of every exponent and both signs; closer
/// together where the functions are neither linear nor constant. With
/// TFC_EXHAUSTIVE set, for every float.
template <typename Visit>
void forFloats(const CompiledFunction &f, const Visit &visit) {
  const bool all = std::getenv("TFC_EXHAUSTIVE");
  std::vector<float> from(CompiledFunction::kCount), to(from.size());
  uint64_t next = 0;
  while (next < uint64_t(1) << 32) {
    for (float &x : from) {
      x = llvm::bit_cast<float>(uint32_t(next));
      float size = std::abs(x);
      next += all ? 1 : size > 0x1p-12 && size < 0x1p18 ? 61 : 2039;
    }
    f(from.data(), to.data());
    for (size_t i = 0; i < from.size(); ++i) {
      visit(from[i], to[i]);
    }
  }
}

class ExpandMathTest : public testing::TestWithParam<Function> {
protected:
  void SetUp() override {
    if (!hostRuns("x86-64-v3")) {
      GTEST_SKIP() << "expected a CPU of x86-64-v3 (AVX2), got less";
    }
  }
};

TEST_P(ExpandMathTest, IsAccurateOverAllFloats) {
  const Function &function = GetParam();
  CompiledFunction f(function.op, "vector<16xf32>", 16, "x86-64-v3",
                     Polynomials::Own);
  ASSERT_TRUE(f);
  double worst = 0;
  float where = 0;
  int faults = 0;
  forFloats(f, [&](float x, float y) {
    if (std::isfinite(x) && std::abs(x) > function.range) {
      return;
    }
    double correct = function.reference(x);
    if (std::isnan(correct)) {
      faults += !std::isnan(y);
    } else if (std::abs(correct) < function.smallest) {
      faults += y != 0;
    } else {
      // Whether 0 keeps its sign: see kSpecials.
      faults += !(std::abs(y) <= function.largest) ||
                (std::signbit(y) != std::signbit(correct) && correct != 0);
      double error = measureError(y, correct);
      if (!(error <= worst)) {
        worst = error;
        where = x;
      }
    }
  });
  llvm::outs() << llvm::format("%s: at most %.3f ulp, at %a\n", function.op,
                               worst, where);
  EXPECT_EQ(faults, 0);
  EXPECT_LE(worst, function.ulps);
}

TEST_P(ExpandMathTest, HasTheSameBitsInEveryVector) {
  const Function &function = GetParam();
  std::vector<float> from(CompiledFunction::kCount);
  for (size_t i = 0; i < from.size(); ++i) {
    from[i] = llvm::bit_cast<float>(uint32_t(i * 0x9e3779b1u));
  }
  CompiledFunction scalar(function.op, "f32", 1, "x86-64-v3", Polynomials::Own);
  ASSERT_TRUE(scalar);
  std::vector<float> expected(from.size()), got(from.size());
  scalar(from.data(), expected.data());
  for (const char *cpu : {"x86-64-v3", "x86-64-v4"}) {
    for (int lanes : {1, 2, 8, 16, 32}) {
      if (!hostRuns(cpu)) {
        continue;
      }
      CompiledFunction f(function.op,
                         "vector<" + std::to_string(lanes) + "xf32>", lanes,
                         cpu, Polynomials::Own);
      ASSERT_TRUE(f);
      f(from.data(), got.data());
      for (size_t i = 0; i < from.size(); ++i) {
        ASSERT_EQ(llvm::bit_cast<uint32_t>(got[i]),
                  llvm::bit_cast<uint32_t>(expected[i]))
            << cpu << ", " << lanes << " lanes, at " << from[i];
      }
    }
  }
}

/// Of numbers above 0 alone; near 1, where the logarithm is small, by what is
/// added to it.
TEST(ExpandLogTest, IsAccurateAboveZero) {
  if (!hostRuns("x86-64-v3")) {
    GTEST_SKIP() << "expected a CPU of x86-64-v3 (AVX2), got less";
  }
  CompiledFunction f("math.log", "vector<16xf32>", 16, "x86-64-v3",
                     Polynomials::Own);
  ASSERT_TRUE(f);
  double worst = 0;
  forFloats(f, [&](float x, float y) {
    if (std::isnormal(x) && x > 0) {
      double error = std::abs(y - std::log(double(x)));
      worst = std::max(worst, std::min(error / 1e-7, error / ulp(y) / 2));
    }
    if (x == 1) {
      EXPECT_EQ(y, 0);
    }
  });
  EXPECT_LE(worst, 1);
}

/// A value and the exact result expected of it.
struct Special {
  const char *op;
  float x, y;
};

const Special kSpecials[] = {
    {"math.exp", 0, 1},
    {"math.exp", -0.0f, 1},
    {"math.exp", kInfinity, kInfinity},
    {"math.exp", -kInfinity, 0},
    {"math.exp", -1e30f, 0},
    {"math.exp", 0x1.62e430p6f, kInfinity}, // the first that overflows
    {"math.tanh", -0.0f, -0.0f},
    {"math.tanh", 0x1p-149f, 0x1p-149f},
    {"math.tanh", kInfinity, 1},
    {"math.tanh", -kInfinity, -1},
    {"math.erf", -0.0f, -0.0f},
    {"math.erf", 0x1p-149f, 0x1p-149f},
    {"math.erf", kInfinity, 1},
    {"math.erf", -kInfinity, -1},
    {"math.rsqrt", 0, kInfinity},
    {"math.rsqrt", -0.0f, -kInfinity},
    {"math.rsqrt", 0x1p-148f, 0x1p74f},
    {"math.rsqrt", kInfinity, 0},
    {"math.sin", -0.0f, 0},
    {"math.sin", 0x1p-149f, 0x1p-149f},
    {"math.cos", 0, 1},
    {"math.cos", 0x1p-149f, 1},
};

TEST_P(ExpandMathTest, HasExactLimits) {
  const Function &function = GetParam();
  CompiledFunction f(function.op, "vector<16xf32>", 16, "x86-64-v3",
                     Polynomials::Own);
  ASSERT_TRUE(f);
  auto at = [&](float x) {
    std::vector<float> from(CompiledFunction::kCount, x), to(from.size());
    f(from.data(), to.data());
    return to.front();
  };
  for (const Special &special : kSpecials) {
    if (llvm::StringRef(special.op) == function.op) {
      float y = at(special.x);
      EXPECT_EQ(y, special.y) << special.x;
      EXPECT_EQ(std::signbit(y), std::signbit(special.y)) << special.x;
    }
  }
  // Quiet and of either sign, with and without bits of its own.
  for (uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7fc00001u, 0xffffffffu}) {
    EXPECT_TRUE(std::isnan(at(llvm::bit_cast<float>(bits)))) << bits;
  }
}

INSTANTIATE_TEST_SUITE_P(Own, ExpandMathTest, testing::ValuesIn(kFunctions),
                         [](const auto &info) {
                           return std::string(info.param.op + 5);
                         });
} // namespace
