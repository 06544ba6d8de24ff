// Parameters whose rows are tensors of their own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/HeadNames.h"

#include <algorithm>

namespace tfc::spec {

static constexpr std::string_view placeholder = "{h}";

bool isStoredByHead(const Parameter &parameter) {
  return std::any_of(parameter.patterns.begin(), parameter.patterns.end(),
                     [](const std::string &pattern) {
                       return pattern.find(placeholder) != pattern.npos;
                     });
}

Parameter rowOfHead(const Parameter &parameter, int64_t head) {
  Parameter row = parameter;
  row.rows = row.storedRows = 1;
  row.firstRow = 0;
  for (std::string &pattern : row.patterns) {
    size_t at = pattern.find(placeholder);
    if (at != pattern.npos) {
      pattern.replace(at, placeholder.size(), std::to_string(head));
    }
  }
  return row;
}

} // namespace tfc::spec
