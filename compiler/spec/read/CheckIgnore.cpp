// A tensor is read or ignored, never both.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/SpecReader.h"
#include "compiler/spec/weights/ResolveWeights.h"

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

void checkIgnore(const Json &ignore, const ModelSpec &model,
                 Diagnostics &diagnostics) {
  for (const Json &glob : ignore.items) {
    for (const Parameter &parameter : model.parameters) {
      int64_t first = std::max<int64_t>(parameter.firstLayer, 0);
      std::string name =
          replaced(parameter.patterns.front(), "{i}", std::to_string(first));
      name = replaced(replaced(name, "{h}", "0"), "{e}", "0");
      bool matches = std::any_of(
          model.prefixes.begin(), model.prefixes.end(),
          [&](const std::string &prefix) {
            return matchesGlob(replaced(name, "{p}", prefix), glob.text);
          });
      if (matches) {
        report(diagnostics, glob.place, BadIgnore,
               "expected no tensor that is read (" + parameter.name +
                   " is in " + inQuotes(name) + "), got " + describe(glob));
        break;
      }
    }
  }
}

} // namespace tfc::spec
