// printf into a string.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/FormatText.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace tfc::tools {

std::string formatText(const char *pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  char buffer[512];
  int length = vsnprintf(buffer, sizeof(buffer), pattern, arguments);
  va_end(arguments);
  return std::string(buffer, std::clamp<size_t>(static_cast<size_t>(length), 0,
                                                sizeof(buffer) - 1));
}

} // namespace tfc::tools
