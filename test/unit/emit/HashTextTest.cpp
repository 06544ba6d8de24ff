// The hash of the spec: the published values of FNV-1a.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/support/HashText.h"

#include <gtest/gtest.h>

using tfc::hashText;

TEST(HashText, Fnv1a) {
  EXPECT_EQ(hashText(""), 0xcbf29ce484222325u);
  EXPECT_EQ(hashText("a"), 0xaf63dc4c8601ec8cu);
}
