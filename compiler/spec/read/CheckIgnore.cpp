// A tensor is read or ignored, never both.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/SpecReader.h"
#include "compiler/spec/weights/ResolveWeights.h"
#include "compiler/spec/weights/StoredParts.h"

#include <algorithm>
#include <string_view>

namespace tfc::spec {

bool matchesGlob(std::string_view name, std::string_view glob) {
  size_t n = 0, g = 0, star = glob.npos, resume = 0;
  while (n < name.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = n;
    } else if (g < glob.size() && glob[g] == name[n]) {
      ++g;
      ++n;
    } else if (star != glob.npos) {
      g = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') {
    ++g;
  }
  return g == glob.size();
}

static std::string replaced(std::string text, const std::string &from,
                            const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos;
       at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// The first names of what a parameter is stored in.
static std::vector<std::string> namesOf(const Parameter &parameter) {
  std::vector<std::string> names;
  std::vector<Parameter> parts = partsOf(parameter);
  if (parts.empty()) {
    parts.push_back(parameter);
  }
  for (const Parameter &part : parts) {
    if (!part.patterns.empty()) {
      int64_t first = std::max<int64_t>(part.firstLayer, 0);
      std::string name =
          replaced(part.patterns.front(), "{i}", std::to_string(first));
      names.push_back(replaced(name, "{e}", "0"));
    }
  }
  return names;
}

/// The first name that a glob matches; "" where it matches none.
static std::string findMatch(const std::string &glob,
                             const Parameter &parameter,
                             const std::vector<std::string> &prefixes) {
  for (const std::string &name : namesOf(parameter)) {
    for (const std::string &prefix : prefixes) {
      if (matchesGlob(replaced(name, "{p}", prefix), glob)) {
        return name;
      }
    }
  }
  return "";
}

void checkIgnore(const Json &ignore, const ModelSpec &model,
                 Diagnostics &diagnostics) {
  for (const Json &glob : ignore.items) {
    for (const Parameter &parameter : model.parameters) {
      std::string name = findMatch(glob.text, parameter, model.prefixes);
      if (!name.empty()) {
        report(diagnostics, glob.place, BadIgnore,
               "expected no tensor that is read (" + parameter.name +
                   " is in " + inQuotes(name) + "), got " + describe(glob));
        break;
      }
    }
  }
}

} // namespace tfc::spec
