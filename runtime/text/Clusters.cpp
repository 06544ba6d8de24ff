// Extended grapheme clusters, by the rules of Unicode's annex 29.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/Clusters.h"

#include "runtime/text/CharacterSet.h"

namespace tfc::text {

namespace {

struct Sets {
  const CharacterSet &extend = namedSet("cluster.extend");
  const CharacterSet &prepend = namedSet("cluster.prepend");
  const CharacterSet &control = namedSet("cluster.control");
  const CharacterSet &pictographic = namedSet("cluster.pictographic");
};

constexpr char32_t joiner = 0x200d;

bool isLead(char32_t c) {
  return (c >= 0x1100 && c < 0x1160) || (c >= 0xa960 && c < 0xa97d);
}
bool isVowel(char32_t c) {
  return (c >= 0x1160 && c < 0x11a8) || (c >= 0xd7b0 && c < 0xd7c7);
}
bool isTail(char32_t c) {
  return (c >= 0x11a8 && c < 0x1200) || (c >= 0xd7cb && c < 0xd7fc);
}
bool isSyllable(char32_t c) { return c >= 0xac00 && c < 0xd7a4; }

/// Whether Hangul goes on from `before` to `c`.
bool joinsHangul(char32_t before, char32_t c) {
  bool isOpen = isSyllable(before) && (before - 0xac00) % 28 == 0;
  if (isLead(before)) {
    return isLead(c) || isVowel(c) || isSyllable(c);
  }
  if (isVowel(before) || isOpen) {
    return isVowel(c) || isTail(c);
  }
  return (isTail(before) || isSyllable(before)) && isTail(c);
}

} // namespace

size_t endOfCluster(std::u32string_view text, size_t begin) {
  static const Sets sets;
  size_t at = begin;
  if (sets.control.has(text[at])) {
    bool isPair =
        text[at] == U'\r' && at + 1 < text.size() && text[at + 1] == U'\n';
    return at + (isPair ? 2 : 1);
  }
  while (sets.prepend.has(text[at]) && at + 1 < text.size() &&
         !sets.control.has(text[at + 1])) {
    ++at;
  }
  bool isPicture = sets.pictographic.has(text[at]);
  for (++at; at < text.size(); ++at) {
    char32_t c = text[at];
    bool joins =
        sets.extend.has(c) || joinsHangul(text[at - 1], c) ||
        (isPicture && text[at - 1] == joiner && sets.pictographic.has(c));
    if (!joins) {
      break;
    }
  }
  return at;
}

} // namespace tfc::text
