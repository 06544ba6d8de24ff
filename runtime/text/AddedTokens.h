// Tokens that are found in a text before anything else is done to it, such as
// [MASK]; some of them in the text after it was normalized.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_ADDEDTOKENS_H
#define TFC_RUNTIME_TEXT_ADDEDTOKENS_H

#include "runtime/text/AhoCorasick.h"
#include "runtime/text/Normalizers.h"
#include "runtime/text/PreTokenizers.h"

#include <unordered_map>

namespace tfc::text {

struct AddedToken {
  std::string text;
  std::string shown; // as normalized, where it is looked for so
  uint32_t id = 0;
  uint32_t length = 0;     // of what is looked for, in characters
  bool singleWord = false; // not inside a word
  bool leftStrip = false, rightStrip = false; // takes the spaces beside it
  bool normalized = true; // is looked for in the normalized text
  bool special = false;
  bool onlyFirst = false; // where a text begins
  bool isSkipped = false; // without special tokens: `shown` is one's text
};

class AddedTokens {
public:
  AddedTokens() = default;
  /// `normalizer` may be null. Errors: those of the normalizer.
  static rt::Result<AddedTokens> make(std::vector<AddedToken> tokens,
                                      const Normalizer *normalizer);

  /// Cuts a text at its added tokens, and normalizes what is between them.
  /// `normalizer` may be null. With `specialAsText` special tokens are text.
  rt::Result<Pieces> split(TracedText text, const Normalizer *normalizer,
                           bool specialAsText, Budget &budget) const;

  const std::vector<AddedToken> &all() const { return tokens; }
  const AddedToken *find(uint32_t id) const {
    auto found = byId.find(id);
    return found == byId.end() ? nullptr : &tokens[found->second];
  }

private:
  void findIn(const AhoCorasick &finder, std::u32string_view text,
              uint32_t offset, bool specialAsText,
              std::vector<Piece> &out) const;
  bool isFound(const AddedToken &token, std::u32string_view text, size_t begin,
               bool specialAsText) const;

  std::vector<AddedToken> tokens;
  std::unordered_map<uint32_t, size_t> byId;
  // What finds places in `tokens`: in the text as it is; in the normalized one.
  AhoCorasick early, late;
};

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_ADDEDTOKENS_H
