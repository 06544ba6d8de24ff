// Parameters whose rows are in tensors of their own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/weights/StoredParts.h"

#include <algorithm>

namespace tfc::spec {

static constexpr std::string_view placeholder = "{h}";

/// Whether {h} is in the parameter's names: each head's rows are stored alone.
static bool isStoredByHead(const Parameter &parameter) {
  return std::any_of(parameter.patterns.begin(), parameter.patterns.end(),
                     [](const std::string &pattern) {
                       return pattern.find(placeholder) != pattern.npos;
                     });
}

static Parameter rowsOfHead(const Parameter &parameter, int64_t head) {
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

std::vector<Parameter> partsOf(const Parameter &parameter) {
  std::vector<Parameter> parts;
  for (const StoredPart &stored : parameter.parts) {
    Parameter part = parameter;
    part.parts.clear();
    // A table of weights wants names: zeros have one that no file has.
    part.patterns = stored.patterns.empty()
                        ? std::vector<std::string>{parameter.name + ".zeros"}
                        : stored.patterns;
    part.rows = stored.rows;
    part.firstRow = stored.firstRow;
    part.storedRows = stored.storedRows;
    part.fillZeros = stored.patterns.empty();
    parts.push_back(std::move(part));
  }
  if (isStoredByHead(parameter)) {
    for (int64_t head = 0; head < parameter.heads; ++head) {
      parts.push_back(rowsOfHead(parameter, head));
    }
  }
  return parts;
}

} // namespace tfc::spec
