// Decomposition, canonical order, composition: chapter 3.11 of the Unicode
// standard. Hangul is computed, the rest comes from tables.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/NormalForms.h"

#include "runtime/text/UnicodeTables.h"

#include <algorithm>

namespace tfc::text {

namespace {

constexpr char32_t syllables = 0xac00, leads = 0x1100, vowels = 0x1161,
                   tails = 0x11a7;
constexpr char32_t numLeads = 19, numVowels = 21, numTails = 28;
constexpr char32_t numSyllables = numLeads * numVowels * numTails;

struct Part {
  Change change;
  uint32_t order;
  size_t place = 0; // before marks were sorted
};

void decomposeInto(std::vector<Part> &parts, char32_t c, bool compatible) {
  int32_t change = 0;
  auto put = [&](char32_t part) {
    parts.push_back({{part, change}, combiningClass(part), parts.size()});
    change = 1;
  };
  if (c >= syllables && c < syllables + numSyllables) {
    char32_t index = c - syllables;
    put(leads + index / (numVowels * numTails));
    put(vowels + index % (numVowels * numTails) / numTails);
    if (index % numTails != 0) {
      put(tails + index % numTails);
    }
    return;
  }
  std::u32string_view to =
      compatible ? decomposeCompatible(c) : decomposeCanonical(c);
  if (to.empty()) {
    put(c);
  }
  for (char32_t part : to) {
    put(part);
  }
}

/// Sorts every run of marks; equal ones stay in their order.
void sortMarks(std::vector<Part> &parts) {
  auto isMark = [](const Part &part) { return part.order != 0; };
  for (auto at = parts.begin(); at != parts.end();) {
    auto begin = std::find_if(at, parts.end(), isMark);
    at = std::find_if_not(begin, parts.end(), isMark);
    std::sort(begin, at, [](const Part &a, const Part &b) {
      return a.order != b.order ? a.order < b.order : a.place < b.place;
    });
  }
}

char32_t compose(char32_t first, char32_t second) {
  if (first >= leads && first < leads + numLeads && second >= vowels &&
      second < vowels + numVowels) {
    return syllables +
           ((first - leads) * numVowels + (second - vowels)) * numTails;
  }
  bool isOpen = first >= syllables && first < syllables + numSyllables &&
                (first - syllables) % numTails == 0;
  if (isOpen && second > tails && second < tails + numTails) {
    return first + (second - tails);
  }
  return composePair(first, second);
}

/// Joins each mark, or letter, to the letter before where no mark of its order
/// or a later one stands between.
void composeParts(std::vector<Part> &parts) {
  constexpr size_t none = ~size_t(0);
  size_t size = 0, letter = none;
  bool isBlocked = false;
  uint32_t lastOrder = 0; // of the mark before, behind the letter; 0: none
  for (const Part &part : parts) {
    isBlocked = lastOrder != 0 && lastOrder >= part.order;
    if (letter != none && !isBlocked) {
      Part &to = parts[letter];
      if (char32_t whole = compose(to.change.c, part.change.c)) {
        // One character less; it stands for what both stood for.
        to.change.c = whole;
        to.change.change += part.change.change - 1;
        continue;
      }
    }
    if (part.order == 0) {
      letter = size;
    }
    lastOrder = part.order;
    parts[size++] = part;
  }
  parts.resize(size);
}

} // namespace

void normalize(TracedText &text, NormalForm form) {
  bool composes = form == NormalForm::Nfc || form == NormalForm::Nfkc;
  bool compatible = form == NormalForm::Nfkc || form == NormalForm::Nfkd;
  // Before U+00A0 nothing is ever changed; nor is, by NFC, before U+0300.
  char32_t first = form == NormalForm::Nfc ? 0x300 : 0xa0;
  if (std::all_of(text.chars.begin(), text.chars.end(),
                  [&](char32_t c) { return c < first; })) {
    return;
  }
  std::vector<Part> parts;
  parts.reserve(text.size());
  for (char32_t c : text.chars) {
    decomposeInto(parts, c, compatible);
  }
  sortMarks(parts);
  if (composes) {
    composeParts(parts);
  }
  std::vector<Change> changes;
  changes.reserve(parts.size());
  for (const Part &part : parts) {
    changes.push_back(part.change);
  }
  applyChanges(text, changes);
}

} // namespace tfc::text
