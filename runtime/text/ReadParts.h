// The readers of a tokenizer's parts. They throw FileFault.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_READPARTS_H
#define TFC_RUNTIME_TEXT_READPARTS_H

#include "runtime/text/FileNode.h"
#include "runtime/text/Tokenizer.h"

namespace tfc::text {

/// A null node is no normalizer, as a null pointer; so with pre-tokenizers.
/// `isOfPieces`: maps of characters do what they do in sentencepiece.
NormalizerPtr readNormalizer(const FileNode &node, bool isOfPieces = false);
PreTokenizerPtr readPreTokenizer(const FileNode &node);
/// Adds to what was read before it.
void readPostProcessor(const FileNode &node, PostProcessor &to);
/// The stages of a decoder, in their order.
void readDecoder(const FileNode &node, std::vector<DecoderPtr> &to);
/// Takes vocabulary and merges out of the file.
TokenModelPtr readModel(const FileNode &node, TokenizerFile &file);
std::vector<AddedToken> readAddedTokens(const FileNode &node,
                                        const Vocabulary &vocabulary);

/// {"String": "x"} or {"Regex": "x"}.
Pattern readPattern(const FileNode &node);
std::u32string readCharacters(const FileNode &node, const char *key);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_READPARTS_H
