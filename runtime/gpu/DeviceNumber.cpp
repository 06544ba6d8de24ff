// Reads "cuda:1" and TFC_DEVICE.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/gpu/DeviceNumber.h"

#include <charconv>
#include <cstdlib>

namespace tfc::rt {

/// All of a text as a number of a device; none where it is not one.
static std::optional<int> numberOf(std::string_view text) {
  int number = 0;
  auto [end, fault] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  bool isNumber =
      fault == std::errc() && end == text.data() + text.size() && number >= 0;
  return isNumber ? std::optional(number) : std::nullopt;
}

Result<NamedProgram> readDeviceNumber(const std::string &name) {
  constexpr std::string_view prefix = "cuda:";
  if (name.compare(0, prefix.size(), prefix) == 0) {
    auto number = numberOf(std::string_view(name).substr(prefix.size()));
    if (!number) {
      return makeError(Code::InvalidArgument, "program ", quoteName(name),
                       ": expected the number of a device behind cuda:, as in "
                       "cuda:1");
    }
    return NamedProgram{"cuda", *number};
  }
  const char *given = std::getenv("TFC_DEVICE");
  if (!given || !*given) {
    return NamedProgram{name, 0};
  }
  auto number = numberOf(given);
  if (!number) {
    return makeError(Code::InvalidArgument,
                     "TFC_DEVICE: expected the number of a device, got ",
                     quoteName(given));
  }
  return NamedProgram{name, *number};
}

} // namespace tfc::rt
