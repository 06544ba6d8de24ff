// Parameters whose rows are in tensors of their own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/weights/HeadNames.h"

#include <algorithm>

namespace tfc::spec {

static constexpr std::string_view placeholder = "{h}";

bool isStoredByHead(const Parameter &parameter) {
  return std::any_of(parameter.patterns.begin(), parameter.patterns.end(),
                     [](const std::string &pattern) {
                       return pattern.find(placeholder) != pattern.npos;
                     });
}

Parameter rowsOfHead(const Parameter &parameter, int64_t head) {
  Parameter part = parameter;
  part.rows = part.storedRows = parameter.rows / parameter.heads;
  part.firstRow = 0;
  for (std::string &pattern : part.patterns) {
    size_t at = pattern.find(placeholder);
    if (at != pattern.npos) {
      pattern.replace(at, placeholder.size(), std::to_string(head));
    }
  }
  return part;
}

} // namespace tfc::spec
