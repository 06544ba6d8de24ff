// Numbers that JSON has no words for, and Python writes all the same.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/NamedFloats.h"

namespace tfc::huggingface {

/// Behind the string that begins at `at`, or the end of the text.
static size_t skipString(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    at += text[at] == '\\';
  }
  return at < text.size() ? at + 1 : text.size();
}

std::string nameFloats(std::string_view text) {
  std::string result;
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at = skipString(text, at);
      continue;
    }
    size_t length = 0;
    for (std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
      if (text.substr(at, word.size()) == word) {
        length = word.size();
        break;
      }
    }
    if (length == 0) {
      ++at;
      continue;
    }
    result += text.substr(done, at - done);
    result += "{\"__float__\": \"";
    result += text.substr(at, length);
    result += "\"}";
    done = at += length;
  }
  return result += text.substr(done);
}

} // namespace tfc::huggingface
