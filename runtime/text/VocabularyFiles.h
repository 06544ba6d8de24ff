// The vocabularies that stand in files of their own, as they were before
// tokenizer.json: their entries and merges.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_VOCABULARYFILES_H
#define TFC_RUNTIME_TEXT_VOCABULARYFILES_H

#include "runtime/text/SentencePieceFile.h"
#include "runtime/text/TokenizerFile.h"

namespace tfc::text {

/// vocab.txt: a token a line, without the spaces behind it; its id is the
/// line's number. Of equal lines the last counts. Errors: InvalidArgument.
rt::Result<TokenizerFile> readVocabularyLines(std::string_view text);

/// vocab.json, an object of tokens and ids, and merges.txt, two tokens a line
/// behind a line "#version: ...", if there is one. Errors: InvalidArgument,
/// Unsupported; `vocab.json: ` or `merges.txt: ` is their beginning.
rt::Result<TokenizerFile> readVocabularyAndMerges(std::string_view vocabulary,
                                                  std::string_view merges);

/// The merges of sentencepiece's BPE, whose file has none: all pairs of tokens
/// that are a token, in the order of what they become.
std::vector<Merge> makeMerges(const std::vector<Vocabulary::Entry> &entries);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_VOCABULARYFILES_H
