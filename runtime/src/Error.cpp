// How names and shapes from files are printed in messages.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Error.h"

namespace tfc::rt {

// A hostile file must not flood a terminal with one message.
static constexpr size_t maxQuotedBytes = 200;
static constexpr size_t maxShownAxes = 16;

std::string quoteName(std::string_view name) {
  static const char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : name.substr(0, maxQuotedBytes)) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  out += name.size() > maxQuotedBytes ? "...\"" : "\"";
  return out;
}

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i == maxShownAxes) {
      out += ", ...";
      break;
    }
    out += i ? ", " : "";
    out += std::to_string(shape[i]);
  }
  return out + "]";
}

} // namespace tfc::rt
