// A tokenizer: what Hugging Face's `tokenizers` does with the same file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_TOKENIZER_H
#define TFC_RUNTIME_TEXT_TOKENIZER_H

#include "runtime/text/AddedTokens.h"
#include "runtime/text/Decoders.h"
#include "runtime/text/Encoding.h"
#include "runtime/text/TokenModel.h"

namespace tfc::text {

struct EncodeOptions {
  bool addSpecial = true;
  bool specialAsText = false; // what looks like a special token is text
  Truncation truncation;
  StopCheck shouldStop; // may be empty
};

/// The parts of a tokenizer, as its file has them.
struct TokenizerParts {
  NormalizerPtr normalizer;     // may be null
  PreTokenizerPtr preTokenizer; // may be null
  TokenModelPtr model;
  PostProcessor postProcessor;
  std::vector<DecoderPtr> decoders;
  bool hasDecoder = false; // without one, tokens are divided by spaces
  AddedTokens added;
};

/// Immutable: any number of threads may use it.
class Tokenizer {
public:
  explicit Tokenizer(TokenizerParts parts);

  /// The tokens of a text, or of a text and its pair. Errors: InvalidArgument
  /// (no UTF-8, a limit too low, a character without tokens), Exhausted,
  /// Cancelled.
  rt::Result<Tokens> encode(std::string_view text,
                            std::optional<std::string_view> pair,
                            const EncodeOptions &options) const;

  /// The text of tokens; ids without a token are passed over. Errors:
  /// Exhausted.
  rt::Result<std::string> decode(const std::vector<uint32_t> &ids,
                                 bool skipSpecial) const;

  /// The text of a token, or null.
  const std::string *token(uint32_t id) const;
  /// The id of a token's text, or none.
  uint32_t find(std::string_view text) const;
  /// Whether text without special tokens is without this one: when what it
  /// shows is the text of one, as in `tokenizers`.
  bool isSpecial(uint32_t id) const;
  /// One more than the greatest id.
  uint32_t limit() const;
  size_t countSpecial(bool isPair) const {
    return parts.postProcessor.countSpecial(isPair);
  }
  const std::vector<DecoderPtr> &decoders() const { return parts.decoders; }
  bool hasDecoder() const { return parts.hasDecoder; }

private:
  /// Spaces that a token's text begins and ends with, which are not in its
  /// place where offsets are trimmed.
  struct Spaces {
    uint32_t left = 0, right = 0;
  };

  rt::Result<Pieces> cut(std::string_view text, const EncodeOptions &options,
                         Budget &budget) const;
  rt::Result<Tokens> encodeOne(std::string_view text,
                               const EncodeOptions &options,
                               Budget &budget) const;
  static Spaces countSpaces(std::u32string_view text);
  Spaces spacesOf(const WordToken &token, std::u32string_view word,
                  bool isAdded) const;

  TokenizerParts parts;
  std::vector<Spaces> spaces; // by id; empty where nobody asks
};

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_TOKENIZER_H
