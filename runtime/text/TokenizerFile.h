// tokenizer.json as it is read: its vocabulary and merges, which are long, in
// lists, the rest as a tree of values.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_TOKENIZERFILE_H
#define TFC_RUNTIME_TEXT_TOKENIZERFILE_H

#include "runtime/text/TokenModel.h"

#include <nlohmann/json.hpp>

namespace tfc::text {

struct TokenizerFile {
  nlohmann::json rest; // without what is below
  bool hasVocabulary = false, hasMerges = false;
  bool isScored = false; // a list of tokens and scores, not an object of ids
  std::vector<Vocabulary::Entry> vocabulary;
  std::vector<Merge> merges;
  /// What words are cut into, where that has other ids than the vocabulary; cut
  /// by merges, or by scores. No tokenizer.json has such.
  std::vector<Vocabulary::Entry> pieces;
  bool mergesPieces = false;
};

/// Reads the text of a file. Errors: InvalidArgument, with the byte or the JSON
/// pointer where it is wrong: a depth or a number of values beyond all use, a
/// key twice, a vocabulary that is none.
rt::Result<TokenizerFile> parseTokenizerFile(std::string_view text);

/// Reads an object of tokens and ids alone, as vocab.json is. The same errors.
rt::Result<TokenizerFile> parseVocabulary(std::string_view text);

/// "/model/vocab/a~1b": a key behind a pointer, for a message: what acts on a
/// terminal is escaped, and a long key cut.
std::string joinPointer(std::string_view pointer, std::string_view key);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_TOKENIZERFILE_H
