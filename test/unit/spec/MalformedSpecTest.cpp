// The test that the cases of the other files go through.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/spec/MalformedSpec.h"
#include "compiler/spec/read/ReadSpec.h"

TEST_P(MalformedSpec, HasExactlyThisDiagnostic) {
  std::string text = GetParam().spec;
  for (const auto &[from, to] : GetParam().edits) {
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
  }
  tfc::spec::Diagnostics diagnostics;
  EXPECT_FALSE(tfc::spec::readSpecText("s.json", text, "", diagnostics));
  std::string lines;
  for (const tfc::spec::Diagnostic &diagnostic : diagnostics) {
    lines += tfc::spec::formatDiagnostic(diagnostic) + "\n";
  }
  EXPECT_EQ(lines, GetParam().expected);
}
