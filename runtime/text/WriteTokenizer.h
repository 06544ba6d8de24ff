// A folder's tokenizer as one tokenizer.json.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_WRITETOKENIZER_H
#define TFC_RUNTIME_TEXT_WRITETOKENIZER_H

#include "runtime/text/TokenizerFile.h"

namespace tfc::text {

/// The text of a file that parseTokenizerFile reads back as this one, and that
/// `tokenizers` reads, too.
std::string printTokenizerFile(const TokenizerFile &file);

/// The tokenizer.json of a folder: its own as it is, or what its vocabulary,
/// or a GGUF file, stands for. It was read as it would be to be run. Errors:
/// those of readTokenizer.
rt::Result<std::string> makeTokenizerText(const std::string &folder);

/// The files of a folder that makeTokenizerText may read.
std::vector<std::string> listTokenizerInputs(const std::string &folder);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_WRITETOKENIZER_H
