// Reads the double array of Darts, and walks through it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/CharsMap.h"

#include "runtime/text/Clusters.h"
#include "runtime/text/Utf8.h"

#include <cstring>

namespace tfc::text {

namespace {

// A unit of the array: the byte that leads to it, how far its children are, and
// whether a text ends here.
uint32_t labelOf(uint32_t unit) { return unit & (1U << 31 | 0xff); }
uint32_t offsetOf(uint32_t unit) { return (unit >> 10) << ((unit >> 6) & 8); }
bool endsText(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t valueOf(uint32_t unit) { return unit & 0x7fffffff; }

/// How many bytes a cluster has, as far as it matters.
size_t bytesOf(std::u32string_view text) {
  size_t bytes = 0;
  for (char32_t c : text) {
    bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/// Adds what became of `count` characters. Where they became fewer, the last
/// one stands for the rest; where they became none, the one before them does.
void addReplaced(std::vector<Change> &changes, size_t count,
                 std::u32string_view to) {
  for (size_t i = 0; i < to.size(); ++i) {
    changes.push_back({to[i], i >= count ? 1 : 0});
  }
  if (to.size() < count && !changes.empty()) {
    changes.back().change -= static_cast<int32_t>(count - to.size());
  }
}

} // namespace

rt::Result<CharsMap> CharsMap::read(std::string_view bytes) {
  CharsMap map;
  uint32_t size = 0;
  if (bytes.size() >= sizeof(size)) {
    std::memcpy(&size, bytes.data(), sizeof(size));
    bytes.remove_prefix(sizeof(size));
  }
  if (size == 0 || size % sizeof(uint32_t) != 0 || size > bytes.size()) {
    return rt::makeError(rt::Code::InvalidArgument,
                         "expected a map of characters with an array of a ",
                         "multiple of 4 bytes, got ", size, " of ",
                         bytes.size(), " bytes");
  }
  map.units.resize(size / sizeof(uint32_t));
  std::memcpy(map.units.data(), bytes.data(), size);
  bytes.remove_prefix(size);
  // Texts that are not UTF-8 are nobody's.
  auto texts = decodeUtf8(bytes);
  if (!texts) {
    return rt::makeError(
        rt::Code::InvalidArgument,
        "the texts of the map of characters: ", texts.error().message);
  }
  map.texts = bytes;
  return map;
}

std::u32string CharsMap::textAt(size_t unit) const {
  size_t begin = unit < units.size() ? valueOf(units[unit]) : texts.size();
  return begin < texts.size() ? decodeChecked(texts.c_str() + begin)
                              : std::u32string();
}

size_t CharsMap::findLongest(std::u32string_view text,
                             std::u32string &to) const {
  size_t at = offsetOf(units[0]), length = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    for (unsigned char byte : encodeUtf8(text.substr(i, 1))) {
      at ^= byte;
      if (byte == 0 || at >= units.size() || labelOf(units[at]) != byte) {
        return length;
      }
      uint32_t unit = units[at];
      at ^= offsetOf(unit);
      if (endsText(unit)) {
        length = i + 1;
        to = textAt(at);
      }
    }
  }
  return length;
}

bool CharsMap::find(std::u32string_view text, std::u32string &to) const {
  std::string bytes = encodeUtf8(text);
  size_t at = offsetOf(units[0]);
  for (unsigned char byte : bytes) {
    at ^= byte;
    if (byte == 0 || at >= units.size() || labelOf(units[at]) != byte) {
      return false;
    }
    uint32_t unit = units[at];
    at ^= offsetOf(unit);
    if (endsText(unit)) {
      to = textAt(at);
      return true;
    }
  }
  return false;
}

static rt::Error tooLong() {
  return rt::makeError(rt::Code::Exhausted,
                       "expected a map of characters that makes a text of at "
                       "most ",
                       maxCharacters, " characters, got more");
}

rt::Status CharsMap::applyLongest(TracedText &text) const {
  std::vector<Change> changes;
  changes.reserve(text.size());
  std::u32string to;
  for (size_t at = 0; at < text.chars.size();) {
    if (changes.size() > maxCharacters) {
      return tooLong();
    }
    size_t length = findLongest(std::u32string_view(text.chars).substr(at), to);
    if (length == 0) {
      changes.push_back({text.chars[at++], 0});
      continue;
    }
    addReplaced(changes, length, to);
    at += length;
  }
  applyChanges(text, changes);
  return {};
}

rt::Status CharsMap::apply(TracedText &text) const {
  constexpr size_t longCluster = 6;
  std::vector<Change> changes;
  changes.reserve(text.size());
  bool isChanged = false;
  std::u32string_view chars = text.chars;
  std::u32string to;
  for (size_t begin = 0, end = 0; begin < chars.size(); begin = end) {
    end = endOfCluster(chars, begin);
    if (changes.size() > maxCharacters) {
      return tooLong();
    }
    std::u32string_view cluster = chars.substr(begin, end - begin);
    if (bytesOf(cluster) < longCluster && find(cluster, to)) {
      addReplaced(changes, cluster.size(), to);
      isChanged = true;
      continue;
    }
    for (size_t i = 0; i < cluster.size(); ++i) {
      if (cluster.size() > 1 && find(cluster.substr(i, 1), to)) {
        addReplaced(changes, 1, to);
        isChanged = true;
      } else {
        changes.push_back({cluster[i], 0});
      }
    }
  }
  if (isChanged) {
    applyChanges(text, changes);
  }
  return {};
}

std::string encodeBase64(std::string_view bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstu"
                               "vwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    std::string_view group = bytes.substr(at, 3);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) {
      uint32_t byte =
          i < group.size() ? static_cast<unsigned char>(group[i]) : 0;
      bits = bits << 8 | byte;
    }
    for (size_t i = 0; i < 4; ++i) {
      text += i <= group.size() ? digits[bits >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

rt::Result<std::string> decodeBase64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int count = 0;
  while (!text.empty() && text.back() == '=') {
    text.remove_suffix(1);
  }
  for (char c : text) {
    int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                : c >= 'a' && c <= 'z' ? c - 'a' + 26
                : c >= '0' && c <= '9' ? c - '0' + 52
                : c == '+'             ? 62
                : c == '/'             ? 63
                                       : -1;
    if (value < 0) {
      return rt::makeError(rt::Code::InvalidArgument, "expected base64, got ",
                           rt::quoteName(std::string_view(&c, 1)), " in it");
    }
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xff);
    }
  }
  return bytes;
}

} // namespace tfc::text
