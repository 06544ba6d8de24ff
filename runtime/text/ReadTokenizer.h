// Makes a tokenizer of a file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_READTOKENIZER_H
#define TFC_RUNTIME_TEXT_READTOKENIZER_H

#include "runtime/text/Tokenizer.h"

namespace tfc::text {

/// Of the text of a tokenizer.json. What the file says of truncation and
/// padding is not done: a caller asks for it. Errors: InvalidArgument and
/// Unsupported, with a JSON pointer.
rt::Result<std::unique_ptr<Tokenizer>> parseTokenizer(std::string_view text);

/// The same of a file, whose name the errors begin with. Errors also: NotFound,
/// Io.
rt::Result<std::unique_ptr<Tokenizer>> readTokenizer(const std::string &path);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_READTOKENIZER_H
