// What is done to a text before it is cut: the "normalizer" of a tokenizer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_NORMALIZERS_H
#define TFC_RUNTIME_TEXT_NORMALIZERS_H

#include "runtime/text/CharsMap.h"
#include "runtime/text/NormalForms.h"
#include "runtime/text/Pattern.h"

#include <memory>

namespace tfc::text {

class Normalizer {
public:
  virtual ~Normalizer() = default;
  /// Changes a text. Errors: Exhausted, Cancelled.
  virtual rt::Status apply(TracedText &text, Budget &budget) const = 0;
};

using NormalizerPtr = std::unique_ptr<Normalizer>;

struct BertOptions {
  bool cleanText = true, chinese = true, stripAccents = true, lowercase = true;
};

NormalizerPtr makeNormalForm(NormalForm form);
NormalizerPtr makeLowercase();
NormalizerPtr makeStripAccents();
NormalizerPtr makeStrip(bool left, bool right);
NormalizerPtr makePrepend(std::u32string prefix);
NormalizerPtr makeReplace(Pattern pattern, std::u32string content);
/// `takesLongest`: as sentencepiece itself.
NormalizerPtr makeCharsMap(CharsMap map, bool takesLongest = false);
NormalizerPtr makeBert(BertOptions options);
/// Every byte becomes a character, as ByteLevel has them.
NormalizerPtr makeByteLevelNormalizer();
NormalizerPtr makeSequence(std::vector<NormalizerPtr> parts);

/// Exhausted, when a text has grown beyond what is sensible.
rt::Status checkSize(size_t numCharacters);

/// What is before a text takes the origin of its first character.
void prepend(TracedText &text, std::u32string_view prefix);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_NORMALIZERS_H
