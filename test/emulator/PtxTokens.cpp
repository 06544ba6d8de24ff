// Walks over a PTX text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/PtxTokens.h"

#include "test/emulator/ReadPtx.h"

#include <algorithm>
#include <cctype>

namespace tfc::emulator {

/// Comments become blanks, so that lines stay where they are.
static std::string blankComments(std::string text) {
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    bool isLine = text.compare(i, 2, "//") == 0;
    if (!isLine && text.compare(i, 2, "/*") != 0) {
      continue;
    }
    size_t end = text.find(isLine ? "\n" : "*/", i);
    end = end == std::string::npos ? text.size() : end + (isLine ? 0 : 2);
    for (; i < end; ++i) {
      text[i] = text[i] == '\n' ? '\n' : ' ';
    }
    --i;
  }
  return text;
}

PtxTokens::PtxTokens(const std::string &given) : text(blankComments(given)) {}

char PtxTokens::peek() {
  while (at < text.size() && std::isspace(uint8_t(text[at]))) {
    ++at;
  }
  return at < text.size() ? text[at] : '\0';
}

bool PtxTokens::atEnd() { return peek() == '\0'; }

bool PtxTokens::take(const std::string &what) {
  peek();
  if (text.compare(at, what.size(), what) != 0) {
    return false;
  }
  at += what.size();
  return true;
}

void PtxTokens::expect(const std::string &what) {
  if (!take(what)) {
    fail("expected " + what + ", got " + trim(until("\n")));
  }
}

std::string PtxTokens::word() {
  peek();
  size_t begin = at;
  auto isWord = [](char c) {
    return std::isalnum(uint8_t(c)) ||
           std::string("_$.%<>").find(c) != std::string::npos;
  };
  while (at < text.size() && isWord(text[at])) {
    ++at;
  }
  if (at == begin) {
    fail("expected a word, got " + trim(until("\n")));
  }
  return text.substr(begin, at - begin);
}

std::string PtxTokens::until(const std::string &ends) {
  size_t begin = at;
  at = std::min(text.find_first_of(ends, at), text.size());
  return text.substr(begin, at - begin);
}

int PtxTokens::line() const {
  return 1 + int(std::count(text.begin(), text.begin() + long(at), '\n'));
}

void PtxTokens::fail(const std::string &message) const {
  throw PtxError("line " + std::to_string(line()) + ": " + message);
}

std::string trim(const std::string &text) {
  size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) {
    return "";
  }
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

} // namespace tfc::emulator
