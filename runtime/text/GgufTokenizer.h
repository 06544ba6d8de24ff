// The tokenizer in the metadata of a GGUF file, as a tokenizer.json.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_GGUFTOKENIZER_H
#define TFC_RUNTIME_TEXT_GGUFTOKENIZER_H

#include "runtime/text/TokenizerFile.h"

namespace tfc::text {

/// Reads tokenizer.ggml.* of the file at `path`: model "llama" (sentencepiece's
/// BPE, by the scores) and "gpt2" (bytes and merges, cut as `pre` says).
/// Errors: those of GgufFile::open, which name the file, and without its name
/// NotFound, Unsupported and InvalidArgument for what its keys say.
rt::Result<TokenizerFile> makeGgufTokenizer(const std::string &path);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_GGUFTOKENIZER_H
