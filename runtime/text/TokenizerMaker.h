// A tokenizer.json in the making: vocabulary first, then added tokens, then the
// parts that name tokens by their ids.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_TOKENIZERMAKER_H
#define TFC_RUNTIME_TEXT_TOKENIZERMAKER_H

#include "runtime/text/TokenizerSettings.h"

namespace tfc::text {

/// A part of a template: a token's text, or "$A" or "$B"; and its type.
struct TemplateItem {
  std::string text;
  uint32_t type = 0;
};

class TokenizerMaker {
public:
  /// `vocabulary` has its entries, and its merges where there are some.
  explicit TokenizerMaker(TokenizerFile vocabulary);

  /// The tree of the file, without what follows.
  nlohmann::json &tree() { return file.rest; }
  /// Adds a token, which gets the id that `tokenizers` gives to it: that of the
  /// vocabulary, or the next one. One that was added before stays as it is, but
  /// becomes special if this one is.
  void add(const TokenSetting &token);
  /// Of the vocabulary or an added token. Throws FileFault when there is none.
  uint32_t idOf(const std::string &text) const;
  /// Of the vocabulary and the added tokens, by their ids.
  std::vector<std::string> texts() const;
  /// A TemplateProcessing for a text and for a pair.
  nlohmann::json makeTemplate(const std::vector<TemplateItem> &single,
                              const std::vector<TemplateItem> &pair) const;

  TokenizerFile finish() &&;

private:
  TokenizerFile file;
  std::unordered_map<std::string, uint32_t> ids;  // of all tokens
  std::unordered_map<std::string, size_t> places; // in added
  std::vector<TokenSetting> added;
  uint32_t next = 0;
};

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_TOKENIZERMAKER_H
