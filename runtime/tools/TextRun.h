// tfc-run on texts: what a model says to them, on standard output.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_TEXTRUN_H
#define TFC_RUNTIME_TOOLS_TEXTRUN_H

#include "runtime/tools/CommandLine.h"
#include "runtime/tools/ModelNotes.h"
#include "runtime/tools/TextTokens.h"

namespace tfc::run {

class TextRun {
public:
  /// Reads the tokenizer, and what the model's folder says of its answers; so
  /// what is wrong with them is said before a model is loaded.
  static rt::Result<TextRun> open(const CommandLine &line);

  /// Whether the tokenizer is one of a model whose tokens are below
  /// `numTokens`. Errors: Incompatible.
  rt::Status checkTokens(int64_t numTokens) const;

  /// Answers the texts of the command line, or the lines of standard input.
  /// `draft` guesses what is generated; null: nobody.
  rt::Status answer(const tfc_model *model, const tfc_model *draft);

private:
  explicit TextRun(const CommandLine &line) : line(line) {}

  rt::Status readTexts(size_t most, std::vector<TextInput> &texts);
  rt::Status answerBatch(const std::vector<TextInput> &texts);
  rt::Status generate(const TextInput &text);
  rt::Result<TextTokens> encode(const TextInput &text) const;
  bool has(const char *input) const;
  bool isEnd(int64_t token) const;
  void print(const std::string &text) const;

  const CommandLine &line;
  TokenizerPtr tokenizer{nullptr, tfc_tokenizer_free};
  TokenizerPtr outputTokenizer{nullptr, tfc_tokenizer_free}; // null: the same
  ModelNotes notes;
  const tfc_model *model = nullptr, *draft = nullptr;
  tfc_model_info info{};
  size_t nextText = 0;
};

} // namespace tfc::run

#endif // TFC_RUNTIME_TOOLS_TEXTRUN_H
