// Golden cases in a text file: a line "case NAME", then lines "KEY VALUE...".
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_RUNTIME_GOLDENTEXT_H
#define TFC_TEST_RUNTIME_GOLDENTEXT_H

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace tfc::rt::test {

struct GoldenCase {
  std::string name;
  std::map<std::string, std::vector<std::string>> values;

  std::string text(const std::string &key) const {
    auto found = values.find(key);
    return found == values.end() ? "" : found->second.front();
  }
  bool has(const std::string &key) const { return values.count(key) != 0; }
  /// The value, or `otherwise` where the case has none.
  double number(const std::string &key, double otherwise) const {
    return has(key) ? std::strtod(text(key).c_str(), nullptr) : otherwise;
  }
  int64_t integer(const std::string &key, int64_t otherwise) const {
    return has(key) ? std::stoll(text(key)) : otherwise;
  }
  template <typename T> std::vector<T> list(const std::string &key) const {
    std::vector<T> numbers;
    for (const std::string &word : values.at(key)) {
      numbers.push_back(static_cast<T>(std::strtod(word.c_str(), nullptr)));
    }
    return numbers;
  }
};

/// The cases of a file in test/runtime/golden; fails the test when there are
/// none.
std::vector<GoldenCase> readGoldenCases(const std::string &file);

} // namespace tfc::rt::test

#endif // TFC_TEST_RUNTIME_GOLDENTEXT_H
