// How a text is cut into words: the "pre_tokenizer" of a tokenizer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_PRETOKENIZERS_H
#define TFC_RUNTIME_TEXT_PRETOKENIZERS_H

#include "runtime/text/Pattern.h"
#include "runtime/text/TracedText.h"

#include <functional>
#include <memory>

namespace tfc::text {

/// Characters [begin, end) of a text, never none of them. `token` is the id of
/// an added token that they are, or -1; such a piece is not cut any more.
struct Piece {
  uint32_t begin = 0, end = 0;
  int64_t token = -1;
};

struct Pieces {
  TracedText text;
  std::vector<Piece> pieces;
};

class PreTokenizer {
public:
  virtual ~PreTokenizer() = default;
  /// Cuts the pieces, and may change their text. Errors: Exhausted, Cancelled.
  virtual rt::Status apply(Pieces &pieces, Budget &budget) const = 0;
};

using PreTokenizerPtr = std::unique_ptr<PreTokenizer>;

/// What becomes of what a pattern matches.
enum class Behavior {
  Removed,
  Isolated,
  MergedWithPrevious,
  MergedWithNext,
  Contiguous
};

/// A character that separates is a match of its own.
using IsSeparator = std::function<bool(char32_t)>;

enum class Prepend { Always, First, Never };

PreTokenizerPtr makeSplit(Pattern pattern, Behavior behavior, bool inverted);
PreTokenizerPtr makeSplitAt(IsSeparator isSeparator, Behavior behavior);
/// Words of letters and digits, and what stands between them and spaces.
PreTokenizerPtr makeWords();
/// With `cuts` the text is cut by GPT-2's pattern.
PreTokenizerPtr makeByteLevel(bool addPrefixSpace, bool cuts);
PreTokenizerPtr makeMetaspace(char32_t replacement, Prepend prepend, bool cuts);
PreTokenizerPtr makeSequence(std::vector<PreTokenizerPtr> parts);

/// The matches of a behavior as pieces, in the places of `matches`; none are
/// empty.
void cut(std::vector<Match> matches, Behavior behavior, uint32_t offset,
         std::vector<Piece> &out);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_PRETOKENIZERS_H
