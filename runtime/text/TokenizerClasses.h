// What transformers' tokenizer classes make of vocabularies that stand in files
// of their own: the tokenizer.json that they would write.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_TOKENIZERCLASSES_H
#define TFC_RUNTIME_TEXT_TOKENIZERCLASSES_H

#include "runtime/text/TokenizerSettings.h"

namespace tfc::text {

/// The files that a folder's tokenizer may be made of, but for tokenizer.json.
/// sentencepiece's model has one of several names.
extern const std::vector<const char *> tokenizerFileNames;

/// Makes the tokenizer that the files stand for: by tokenizer_class, else by
/// config.json's model_type, else by what files there are. Errors:
/// InvalidArgument and Unsupported, beginning with a file's name; NotFound,
/// when no vocabulary is there, or not that of the class.
rt::Result<TokenizerFile> makeTokenizerFile(const FolderFiles &files);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_TOKENIZERCLASSES_H
