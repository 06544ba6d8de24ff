// Texts as the tools see them: a tokenizer behind the C API, and the tokens of
// one text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_TEXTTOKENS_H
#define TFC_RUNTIME_TOOLS_TEXTTOKENS_H

#include "runtime/src/Error.h"
#include "tfc/text.h"

#include <memory>

namespace tfc::run {

/// An error of the C API as a status.
rt::Status takeError(tfc_error *error);

struct TextInput {
  std::string text;
  std::optional<std::string> pair;
};

/// The tokens of a text; places are bytes.
struct TextTokens {
  std::vector<int64_t> ids, types, begins, ends;
  std::vector<int32_t> sequences;
};

using TokenizerPtr = std::unique_ptr<tfc_tokenizer, void (*)(tfc_tokenizer *)>;

/// Errors: those of tfc_tokenizer_load.
rt::Result<TokenizerPtr> loadTokenizer(const std::string &path);

/// Errors: Incompatible, when the tokenizer is not one of a model with so many
/// tokens.
rt::Status checkTokenizer(const tfc_tokenizer *tokenizer,
                          const std::string &path, int64_t numTokens);

/// Errors: Incompatible, when a token of a model that guesses, whose tokenizer
/// lies at `path`, is not the other one's.
rt::Status checkSameTokens(const tfc_tokenizer *tokenizer,
                           const tfc_tokenizer *draft, const std::string &path);

/// `most`: the model's positions, 0: no limit. Errors: those of
/// tfc_tokenizer_encode; InvalidArgument when there are no tokens, or more than
/// `most` and `truncate` is not given.
rt::Result<TextTokens> encodeText(const tfc_tokenizer *tokenizer,
                                  const TextInput &input, int64_t most,
                                  bool truncate);

/// Shows the text of tokens as they come.
class TextShower {
public:
  static rt::Result<TextShower> make(const tfc_tokenizer *tokenizer);
  rt::Result<std::string> push(int64_t token);
  rt::Result<std::string> finish();

private:
  using Stream = std::unique_ptr<tfc_text_stream, void (*)(tfc_text_stream *)>;
  explicit TextShower(Stream stream) : stream(std::move(stream)) {}
  Stream stream;
};

} // namespace tfc::run

#endif // TFC_RUNTIME_TOOLS_TEXTTOKENS_H
