// Several faults as one, and how names and shapes from files are printed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Error.h"

#include "runtime/src/QuoteText.h"

namespace tfc::rt {

// A hostile file must not flood a terminal with one message.
static constexpr size_t maxQuotedBytes = 200;
static constexpr size_t maxShownAxes = 16;

void Faults::add(Error error) {
  if (!first) {
    first = Error{error.code, ""};
  }
  std::string_view rest = error.message;
  for (bool isLast = false; !isLast;) {
    size_t end = rest.find('\n');
    isLast = end == std::string_view::npos;
    if (numLines < maxLines) {
      first->message += numLines ? "\n" : "";
      first->message += rest.substr(0, end);
    }
    ++numLines;
    rest.remove_prefix(isLast ? rest.size() : end + 1);
  }
}

Status Faults::take() {
  if (numLines > maxLines) {
    first->message += concat("\nand ", numLines - maxLines, " more");
  }
  return first ? Status(std::move(*first)) : Status();
}

std::string quoteName(std::string_view name) {
  return quoteText(name, maxQuotedBytes);
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
