// How a word becomes tokens: the "model" of a tokenizer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_TOKENMODEL_H
#define TFC_RUNTIME_TEXT_TOKENMODEL_H

#include "runtime/text/Budget.h"
#include "runtime/text/Vocabulary.h"

#include <memory>

namespace tfc::text {

/// A token of a word: characters [begin, end) of it.
struct WordToken {
  uint32_t id = 0;
  uint32_t begin = 0, end = 0;
};

class TokenModel {
public:
  explicit TokenModel(Vocabulary vocabulary) : words(std::move(vocabulary)) {}
  virtual ~TokenModel() = default;

  const Vocabulary &vocabulary() const { return words; }

  /// Appends the tokens of a word that is not empty. Errors: InvalidArgument,
  /// when no token fits and the file names no unknown one; those of the budget.
  virtual rt::Status encode(std::u32string_view word,
                            std::vector<WordToken> &out,
                            Budget &budget) const = 0;

  /// Whether a token's text is that of its word, not the vocabulary's.
  virtual bool isShownAsWord(uint32_t id) const { return false; }

protected:
  Vocabulary words;
};

using TokenModelPtr = std::unique_ptr<TokenModel>;

/// A word is a token or unknown.
TokenModelPtr makeWordLevel(Vocabulary vocabulary, std::string unknown);

struct WordPieceOptions {
  std::string unknown = "[UNK]", prefix = "##";
  uint64_t maxCharacters = 100;
};
TokenModelPtr makeWordPiece(Vocabulary vocabulary, WordPieceOptions options);

struct BpeOptions {
  std::string unknown; // empty: none
  std::string prefix;  // of what continues a word
  std::string suffix;  // of what ends it
  bool hasUnknown = false, fusesUnknown = false;
  bool fallsBackToBytes = false, ignoresMerges = false;
};
/// Two tokens that become one, the earlier in the list the sooner.
using Merge = std::pair<std::string, std::string>;
/// Errors: InvalidArgument, for merges of what is no token.
rt::Result<TokenModelPtr> makeBpe(Vocabulary vocabulary,
                                  const std::vector<Merge> &merges,
                                  BpeOptions options);

/// `unknown` may be none. With `roundsSums` sums of scores are rounded to f32,
/// as sentencepiece does itself.
TokenModelPtr makeUnigram(Vocabulary vocabulary, uint32_t unknown,
                          bool fallsBackToBytes, bool roundsSums = false);

/// The tokens of `pieces`, each with the id that its text has in `vocabulary`,
/// or with `unknown`. They have no tokens for bytes.
TokenModelPtr makeRenumbered(Vocabulary vocabulary, uint32_t unknown,
                             TokenModelPtr pieces);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_TOKENMODEL_H
