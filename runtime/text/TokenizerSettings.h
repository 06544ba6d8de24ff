// What a folder's small files say of its tokenizer: tokenizer_config.json,
// special_tokens_map.json, added_tokens.json and the model type of config.json.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_TOKENIZERSETTINGS_H
#define TFC_RUNTIME_TEXT_TOKENIZERSETTINGS_H

#include "runtime/text/FileNode.h"

#include <map>

namespace tfc::text {

/// The bytes of a folder's files, by their names.
using FolderFiles = std::map<std::string, std::string>;

/// A token that is looked for in a text before anything else is done to it; the
/// members are those of tokenizer.json.
struct TokenSetting {
  std::string text;
  bool leftStrip = false, rightStrip = false, singleWord = false;
  bool normalized = false, special = true;
  std::optional<uint32_t> id; // where the file says which
  bool isPlain = true;        // nothing but the text was said of it
};

/// The members throw FileFault, whose message begins with the file's name.
class TokenizerSettings {
public:
  /// Files that are not there say nothing.
  explicit TokenizerSettings(const FolderFiles &files);

  /// tokenizer_class without "Fast", or ""; config.json's model_type, or "".
  std::string className() const;
  std::string modelType() const;

  /// Of tokenizer_config.json; null is `otherwise`.
  bool flag(const char *key, bool otherwise) const;
  std::optional<bool> flagOrNull(const char *key) const;
  uint64_t count(const char *key, uint64_t most, uint64_t otherwise) const;
  std::string word(const char *key, const std::string &otherwise) const;
  /// Refuses a key that would change results, unless it has this value.
  void expectFlag(const char *key, bool only) const;

  /// "unk_token" and the like; nothing where the file says null, `otherwise`,
  /// if that is not empty, where it says nothing.
  std::optional<TokenSetting> token(const char *name,
                                    const char *otherwise) const;
  /// Tokens with their ids, by these: added_tokens_decoder, added_tokens.json.
  std::vector<TokenSetting> addedTokens() const;
  /// additional_special_tokens, extra_special_tokens.
  std::vector<TokenSetting> extraTokens() const;

private:
  /// Calls with a value of a file; what it throws gets the file's name.
  template <typename Call>
  auto within(const char *file, const char *key, Call call) const;

  std::map<std::string, nlohmann::json> trees;
};

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_TOKENIZERSETTINGS_H
