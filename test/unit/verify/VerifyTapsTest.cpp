// Which differences between compiled code and interpreter are differences.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/verify/VerifyTaps.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tfc;

namespace {

/// Two sequences, the second after three cached tokens.
reference::Step step() {
  reference::Step step;
  step.sequences = {{0, 0, 2, 0, 2}, {5, 2, 1, 3, 4}};
  return step;
}

CompiledTap compiled(std::vector<float> data) {
  return {"a:b", 1, 3, 2, std::move(data)};
}
ReferenceTap reference(std::vector<double> data) {
  return {"a:b", 1, 3, 2, std::move(data)};
}

TEST(VerifyTaps, WithinTolerance) {
  Agreement agreement;
  auto difference =
      findDifference({compiled({1000, 0, 0, 0.05f, 0, 0})},
                     {reference({1000, 0, 0, 0, 0, 0})}, step(), agreement);
  EXPECT_EQ(difference, std::nullopt);
  EXPECT_EQ(agreement.values, 1u);
  EXPECT_EQ(agreement.ops.size(), 1u);
  EXPECT_NEAR(agreement.worst, 0.05, 1e-6);
}

TEST(VerifyTaps, NamesOpLayerPlaceAndToken) {
  Agreement agreement;
  auto difference =
      findDifference({compiled({1, 2, 3, 4, 5, 7})},
                     {reference({1, 2, 3, 4, 5, 6})}, step(), agreement);
  EXPECT_EQ(difference,
            "expected a:b, layer 1 to be 6.000000 at [2, 1] (token 3 of "
            "sequence 5) (the interpreter, within 6.00e-04), got 7.000000; "
            "max abs diff 1.00e+00");
  EXPECT_EQ(agreement.values, 0u);
}

TEST(VerifyTaps, NotANumber) {
  const float nan = std::nanf("");
  Agreement agreement;
  EXPECT_TRUE(findDifference({compiled({nan, 0, 0, 0, 0, 0})},
                             {reference({0, 0, 0, 0, 0, 0})}, step(),
                             agreement));
  EXPECT_TRUE(findDifference({compiled({0, 0, 0, 0, 0, 0})},
                             {reference({nan, 0, 0, 0, 0, 0})}, step(),
                             agreement));
  EXPECT_FALSE(findDifference({compiled({nan, INFINITY, 0, 0, 0, 0})},
                              {reference({nan, INFINITY, 0, 0, 0, 0})}, step(),
                              agreement));
}

TEST(VerifyTaps, MissingAndMisnamedValues) {
  Agreement agreement;
  ReferenceTap other = reference({1, 2, 3, 4, 5, 6});
  other.layer = -1;
  EXPECT_EQ(findDifference({compiled({1, 2, 3, 4, 5, 6})}, {other}, step(),
                           agreement),
            "expected a:b, [3, 2] (the interpreter's order), got a:b, layer 1, "
            "[3, 2]");
  EXPECT_EQ(findDifference({}, {other}, step(), agreement),
            "expected 1 values (of the interpreter), got 0");
}

} // namespace
