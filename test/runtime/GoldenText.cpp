// Reads golden cases.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/GoldenText.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace tfc::rt::test {

std::vector<GoldenCase> readGoldenCases(const std::string &file) {
  std::vector<GoldenCase> cases;
  std::ifstream stream(std::string(GOLDEN_FOLDER) + "/" + file);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "case") {
      words >> cases.emplace_back().name;
      continue;
    }
    std::vector<std::string> &values = cases.at(cases.size() - 1).values[key];
    for (std::string word; words >> word;) {
      values.push_back(word);
    }
  }
  EXPECT_FALSE(cases.empty()) << file;
  return cases;
}

} // namespace tfc::rt::test
