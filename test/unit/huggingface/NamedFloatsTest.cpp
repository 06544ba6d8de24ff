// Numbers of Python that are none of JSON.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/NamedFloats.h"

#include <gtest/gtest.h>

TEST(NamedFloats, AsPythonWritesThem) {
  using tfc::huggingface::nameFloats;
  EXPECT_EQ(nameFloats("{\"a\": [0.0, Infinity, -Infinity], \"b\": NaN}"),
            "{\"a\": [0.0, {\"__float__\": \"Infinity\"}, {\"__float__\": "
            "\"-Infinity\"}], \"b\": {\"__float__\": \"NaN\"}}");
  // In texts they are words, and a text may have no end.
  for (std::string text :
       {R"({"Infinity": "a \" NaN"})", R"("NaN \)", "", "\""}) {
    EXPECT_EQ(nameFloats(text), text);
  }
}
