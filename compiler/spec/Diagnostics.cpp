// Formatting and ordering of diagnostics, and the search for what was meant.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/Diagnostics.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

namespace tfc::spec {

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
    text += diagnostic.pointer + ": ";
  }
  if (diagnostic.severity == Severity::Warning) {
    text += "warning: ";
  }
  text += diagnostic.message;
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

/// Length of the well-formed UTF-8 sequence at the start of `text`, 0 if none.
static size_t utf8Length(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(0);
  size_t length = lead < 0x80                   ? 1
                  : lead >= 0xC2 && lead < 0xE0 ? 2
                  : lead >= 0xE0 && lead < 0xF0 ? 3
                  : lead >= 0xF0 && lead < 0xF5 ? 4
                                                : 0;
  if (length > text.size()) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) {
      return 0;
    }
  }
  return length;
}

std::string inQuotes(std::string_view text) {
  constexpr size_t maxBytes = 60;
  std::string result = "\"";
  while (!text.empty()) {
    if (result.size() > maxBytes) {
      return result + "...\"";
    }
    size_t length = utf8Length(text);
    unsigned char c = text[0];
    if (length == 0 || c < 0x20 || c == 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\x%02x", c);
      result += escape;
      text.remove_prefix(1);
      continue;
    }
    result += text.substr(0, length);
    text.remove_prefix(length);
  }
  return result + "\"";
}

} // namespace tfc::spec
