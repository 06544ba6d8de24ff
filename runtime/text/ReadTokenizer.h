// Makes a tokenizer of a file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_READTOKENIZER_H
#define TFC_RUNTIME_TEXT_READTOKENIZER_H

#include "runtime/text/Tokenizer.h"
#include "runtime/text/TokenizerSettings.h"

namespace tfc::text {

/// Of the text of a tokenizer.json. What the file says of truncation and
/// padding is not done: a caller asks for it. Errors: InvalidArgument and
/// Unsupported, with a JSON pointer.
rt::Result<std::unique_ptr<Tokenizer>> parseTokenizer(std::string_view text);

/// Of a folder's other files, without a tokenizer.json: a vocabulary, and what
/// tokenizer_config.json says of it. Errors: those of makeTokenizerFile.
rt::Result<std::unique_ptr<Tokenizer>> makeTokenizer(const FolderFiles &files);

/// Whether the tokenizer of `path` is that inside of a GGUF file: no
/// tokenizer.json lies beside its folder's parts.
bool isGgufAlone(const std::string &path);

/// Of a tokenizer.json, of a folder that has one or else the other files, or of
/// a GGUF file (or the folder of one without a tokenizer.json).
/// Errors begin with the path; also NotFound, Io.
rt::Result<std::unique_ptr<Tokenizer>> readTokenizer(const std::string &path);

/// The bytes of one of a tokenizer's files, which are limited to what the
/// largest ones need, and more. Errors name it: NotFound, Io, InvalidArgument.
rt::Result<std::string> readTokenizerBytes(const std::string &path);

/// The files of a folder that a tokenizer may be made of, but for
/// tokenizer.json. The same errors.
rt::Result<FolderFiles> readFolderFiles(const std::string &folder);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_READTOKENIZER_H
