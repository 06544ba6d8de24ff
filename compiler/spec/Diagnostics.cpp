// Formatting and ordering of diagnostics, and the search for what was meant.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/Diagnostics.h"

#include "runtime/src/QuoteText.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

namespace tfc::spec {

/// `text` as what is quoted is, but whole and without quotes. Keys and names
/// are the user's: neither a pointer nor a message that repeats them acts on a
/// terminal. What is escaped already stays as it is.
static std::string escape(const std::string &text) {
  std::string quoted = quoteText(text, text.size() * 4 + 1);
  return quoted.substr(1, quoted.size() - 2);
}

std::string formatDiagnostic(const Diagnostic &diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.line > 0) {
    text += ":" + std::to_string(diagnostic.line) + ":" +
            std::to_string(diagnostic.column);
  }
  if (!diagnostic.file.empty()) {
    text += ": ";
  }
  if (!diagnostic.pointer.empty()) {
    text += escape(diagnostic.pointer) + ": ";
  }
  if (diagnostic.severity == Severity::Warning) {
    text += "warning: ";
  }
  text += escape(diagnostic.message);
  if (diagnostic.code > 0) {
    char code[24];
    std::snprintf(code, sizeof(code), " [TFC%03d]", diagnostic.code);
    text += code;
  }
  return text;
}

bool hasError(const Diagnostics &diagnostics) {
  return std::any_of(
      diagnostics.begin(), diagnostics.end(),
      [](const Diagnostic &d) { return d.severity == Severity::Error; });
}

void sortDiagnostics(Diagnostics &diagnostics) {
  auto key = [](const Diagnostic &d) {
    return std::tie(d.file, d.line, d.column, d.pointer, d.code, d.message);
  };
  std::sort(diagnostics.begin(), diagnostics.end(),
            [&](const Diagnostic &a, const Diagnostic &b) {
              return key(a) < key(b);
            });
  diagnostics.erase(std::unique(diagnostics.begin(), diagnostics.end(),
                                [&](const Diagnostic &a, const Diagnostic &b) {
                                  return key(a) == key(b);
                                }),
                    diagnostics.end());
}

/// Edits (insert, delete, replace, swap of neighbours) from a to b.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1,
                                     std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      size_t same = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + same});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

std::string nearestWord(std::string_view word,
                        const std::vector<std::string> &words) {
  // A third of the word may be wrong; a longer word than any name is no typo.
  if (word.size() > 80) {
    return "";
  }
  size_t limit = std::max<size_t>(1, word.size() / 3);
  std::string best;
  for (const std::string &candidate : words) {
    size_t longer = std::max(candidate.size(), word.size());
    size_t shorter = std::min(candidate.size(), word.size());
    if (longer - shorter > limit) {
      continue;
    }
    size_t distance = editDistance(word, candidate);
    if (distance <= limit && distance < longer) {
      limit = distance == 0 ? 0 : distance - 1;
      best = candidate;
    }
    if (limit == 0) {
      break;
    }
  }
  return best;
}

std::string inQuotes(std::string_view text) {
  constexpr size_t maxBytes = 60;
  return quoteText(text, maxBytes);
}

std::string listNames(const std::vector<std::string> &names) {
  constexpr size_t most = 20;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), most); ++i) {
    std::string quoted = inQuotes(names[i]);
    text += (i == 0 ? "" : ", ") + quoted.substr(1, quoted.size() - 2);
  }
  return names.empty() ? "none"
         : names.size() > most
             ? text + " and " + std::to_string(names.size() - most) + " more"
             : text;
}

} // namespace tfc::spec
