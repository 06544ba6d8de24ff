// A test over specs with faults: two good specs, edits that break them, and
// the diagnostics that must come.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_UNIT_SPEC_MALFORMEDSPEC_H
#define TFC_TEST_UNIT_SPEC_MALFORMEDSPEC_H

#include "test/unit/spec/GoodSpecs.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

struct Case {
  const char *name, *spec;
  /// Each replaces the first place of its first text, which must exist.
  std::vector<std::pair<std::string, std::string>> edits;
  /// One line a diagnostic.
  std::string expected;
};

inline std::string nameOf(const testing::TestParamInfo<Case> &info) {
  return info.param.name;
}

class MalformedSpec : public testing::TestWithParam<Case> {};
#endif // TFC_TEST_UNIT_SPEC_MALFORMEDSPEC_H
