// The tokens of a text, and how those of one or two texts are put together: the
// "post_processor" of a tokenizer, and truncation.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_ENCODING_H
#define TFC_RUNTIME_TEXT_ENCODING_H

#include "runtime/src/Error.h"
#include "runtime/text/TracedText.h"

#include <optional>

namespace tfc::text {

struct Token {
  uint32_t id = 0;
  uint32_t type = 0;
  Span origin;           // characters of its text
  int32_t sequence = -1; // 0: of the text, 1: of its pair, -1: of neither
  /// How many spaces the token begins and ends with.
  uint32_t leftSpaces = 0, rightSpaces = 0;
};

using Tokens = std::vector<Token>;

/// A part of what is put together: a text's tokens, or ids.
struct TemplatePart {
  int32_t sequence = -1; // 0 or 1: the tokens of a text; -1: `ids`
  uint32_t type = 0;
  std::vector<uint32_t> ids;
};

struct PostProcessor {
  /// Without templates the texts follow each other; a pair has type 1.
  bool hasTemplate = false;
  std::vector<TemplatePart> single, pair;
  /// Types without special tokens: the template's, or as without one.
  bool keepsTypes = false;
  /// How often offsets leave out the spaces that a token begins and ends with,
  /// once for every processor that does; whether the one that was put before a
  /// text stays.
  std::vector<bool> trims;

  /// How many special tokens it adds.
  size_t countSpecial(bool isPair) const;
  Tokens apply(Tokens first, std::optional<Tokens> second,
               bool addSpecial) const;
};

enum class TruncateWhat { Longest, First, Second };

struct Truncation {
  uint64_t maxTokens = 0; // with special ones; 0: no limit
  TruncateWhat what = TruncateWhat::Longest;
  bool fromLeft = false; // the beginning goes, not the end
};

/// Cuts tokens so that they and `special` ones are no more than asked for.
/// Errors: InvalidArgument, when that cannot be.
rt::Status truncate(const Truncation &how, size_t special, Tokens &first,
                    std::optional<Tokens> &second);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_ENCODING_H
