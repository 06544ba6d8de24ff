// UTF-8, by the table of well-formed sequences of the Unicode standard.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/Utf8.h"

#include "runtime/src/QuoteText.h"

namespace tfc::text {

rt::Result<std::u32string> decodeUtf8(std::string_view bytes) {
  std::u32string text;
  text.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    unsigned char lead = static_cast<unsigned char>(bytes[at]);
    if (lead < 0x80) {
      text += lead;
      ++at;
      continue;
    }
    Utf8Character character = firstCharacter(bytes.substr(at));
    if (character.length == 0) {
      return rt::makeError(rt::Code::InvalidArgument,
                           "expected UTF-8, got the byte ", unsigned(lead),
                           " at byte ", at);
    }
    text += character.point;
    at += character.length;
  }
  return text;
}

std::u32string decodeChecked(std::string_view bytes) {
  std::u32string text;
  text.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    Utf8Character character = firstCharacter(bytes.substr(at));
    text += character.length ? char32_t(character.point) : U'\ufffd';
    at += character.length ? character.length : 1;
  }
  return text;
}

std::string encodeUtf8(std::u32string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char32_t c : text) {
    appendUtf8(out, c);
  }
  return out;
}

namespace {

/// How many bytes at the front could be, or begin, a character, and how many
/// the whole character has; 0 of both when none begins with this byte.
struct Beginning {
  size_t good = 0, whole = 0;
};

Beginning readBeginning(std::string_view bytes) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  unsigned lead = byte(0);
  Beginning found;
  found.whole = lead < 0x80                   ? 1
                : lead >= 0xc2 && lead < 0xe0 ? 2
                : lead >= 0xe0 && lead < 0xf0 ? 3
                : lead >= 0xf0 && lead < 0xf5 ? 4
                                              : 0;
  if (found.whole == 0) {
    return found;
  }
  // The second byte of some leads has a narrower range.
  unsigned least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  for (found.good = 1; found.good < found.whole; ++found.good) {
    if (found.good == bytes.size() || byte(found.good) < least ||
        byte(found.good) > most) {
      break;
    }
    least = 0x80;
    most = 0xbf;
  }
  return found;
}

} // namespace

size_t appendLossy(std::string_view bytes, bool isWhole, std::string &out) {
  size_t at = 0;
  while (at < bytes.size()) {
    Beginning found = readBeginning(bytes.substr(at));
    bool isComplete = found.whole != 0 && found.good == found.whole;
    if (!isComplete && !isWhole && found.good != 0 &&
        at + found.good == bytes.size()) {
      break;
    }
    if (isComplete) {
      out.append(bytes, at, found.whole);
    } else {
      out += "\xef\xbf\xbd";
    }
    at += found.good ? found.good : 1;
  }
  return at;
}

} // namespace tfc::text
