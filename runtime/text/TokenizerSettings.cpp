// Values of a tokenizer's small files, with the file and the place where they
// are others than expected.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/TokenizerSettings.h"

#include <algorithm>

namespace tfc::text {

static const char *const configName = "tokenizer_config.json";
static const char *const mapName = "special_tokens_map.json";
static const char *const addedName = "added_tokens.json";
static const char *const modelName = "config.json";

TokenizerSettings::TokenizerSettings(const FolderFiles &files) {
  for (const char *name : {configName, mapName, addedName, modelName}) {
    auto file = files.find(name);
    if (file == files.end()) {
      continue;
    }
    auto tree = parseTokenizerFile(file->second);
    if (tree && !tree->rest.is_object()) {
      tree = rt::makeError(rt::Code::InvalidArgument,
                           "/: expected an object, got another value");
    }
    if (!tree) {
      throw FileFault{
          rt::makeError(tree.error().code, name, ": ", tree.error().message)};
    }
    trees[name] = std::move(tree->rest);
  }
}

template <typename Call>
auto TokenizerSettings::within(const char *file, const char *key,
                               Call call) const {
  static const nlohmann::json nothing = nlohmann::json::object();
  auto tree = trees.find(file);
  FileNode root(tree == trees.end() ? nothing : tree->second, "");
  try {
    return call(root.at(key));
  } catch (FileFault &fault) {
    fault.error.message = std::string(file) + ": " + fault.error.message;
    throw;
  }
}

std::string TokenizerSettings::className() const {
  return within(configName, "tokenizer_class", [](const FileNode &node) {
    std::string name = node.isNull() ? "" : node.asString();
    size_t fast = name.rfind("Fast");
    return fast != name.npos && fast + 4 == name.size() ? name.substr(0, fast)
                                                        : name;
  });
}

std::string TokenizerSettings::modelType() const {
  return within(modelName, "model_type", [](const FileNode &node) {
    return node.isNull() ? std::string() : node.asString();
  });
}

std::optional<bool> TokenizerSettings::flagOrNull(const char *key) const {
  return within(configName, key, [](const FileNode &node) {
    return node.isNull() ? std::optional<bool>() : node.asBoolean();
  });
}

bool TokenizerSettings::flag(const char *key, bool otherwise) const {
  return flagOrNull(key).value_or(otherwise);
}

uint64_t TokenizerSettings::count(const char *key, uint64_t most,
                                  uint64_t otherwise) const {
  return within(configName, key, [&](const FileNode &node) {
    return node.isNull() ? otherwise : node.asInteger(most);
  });
}

std::string TokenizerSettings::word(const char *key,
                                    const std::string &otherwise) const {
  return within(configName, key, [&](const FileNode &node) {
    return node.isNull() ? otherwise : node.asString();
  });
}

void TokenizerSettings::expectFlag(const char *key, bool only) const {
  within(configName, key, [&](const FileNode &node) {
    if (!node.isNull() && node.asBoolean() != only) {
      node.fail(rt::Code::Unsupported,
                only ? "expected true, got false" : "expected false, got true");
    }
  });
}

/// A text, or an object as transformers writes it.
static TokenSetting readToken(const FileNode &node) {
  TokenSetting token;
  if (node.isString()) {
    token.text = node.asString();
  } else {
    token.isPlain = false;
    token.text = node.string("content");
    token.leftStrip = node.boolean("lstrip", false);
    token.rightStrip = node.boolean("rstrip", false);
    token.singleWord = node.boolean("single_word", false);
    token.normalized = node.boolean("normalized", false);
    token.special = node.boolean("special", true);
  }
  if (token.text.empty()) {
    node.fail("a token");
  }
  return token;
}

std::optional<TokenSetting>
TokenizerSettings::token(const char *name, const char *otherwise) const {
  for (const char *file : {configName, mapName}) {
    auto tree = trees.find(file);
    if (tree == trees.end() || !tree->second.contains(name)) {
      continue;
    }
    return within(file, name, [](const FileNode &node) {
      std::optional<TokenSetting> token;
      if (!node.isNull()) {
        token = readToken(node);
        // What has such a name is special, whatever else is said of it.
        token->special = true;
      }
      return token;
    });
  }
  if (*otherwise == '\0') {
    return std::nullopt;
  }
  TokenSetting token;
  token.text = otherwise;
  return token;
}

/// The number that a key is.
static uint32_t readId(const FileNode &node, const std::string &key) {
  bool isNumber = !key.empty() && key.size() <= 8 &&
                  std::all_of(key.begin(), key.end(),
                              [](char c) { return c >= '0' && c <= '9'; });
  if (!isNumber) {
    node.fail(rt::Code::InvalidArgument,
              "expected ids as keys, got " + rt::quoteName(key));
  }
  return static_cast<uint32_t>(std::stoul(key));
}

std::vector<TokenSetting> TokenizerSettings::addedTokens() const {
  std::vector<TokenSetting> tokens;
  within(configName, "added_tokens_decoder", [&](const FileNode &node) {
    for (const std::string &key : node.keys()) {
      FileNode item = node.at(key.c_str());
      tokens.push_back(readToken(item));
      tokens.back().special = item.boolean("special", false);
      tokens.back().id = readId(node, key);
    }
  });
  auto added = trees.find(addedName);
  if (tokens.empty() && added != trees.end()) {
    for (const auto &[text, id] : added->second.items()) {
      within(addedName, text.c_str(), [&, &text = text](const FileNode &node) {
        TokenSetting token;
        token.text = text;
        token.special = false;
        token.normalized = true;
        token.id = static_cast<uint32_t>(node.asInteger(maxTokens - 1));
        tokens.push_back(std::move(token));
      });
    }
  }
  std::sort(
      tokens.begin(), tokens.end(),
      [](const TokenSetting &a, const TokenSetting &b) { return a.id < b.id; });
  return tokens;
}

std::vector<TokenSetting> TokenizerSettings::extraTokens() const {
  std::vector<TokenSetting> tokens;
  for (const char *file : {configName, mapName}) {
    for (const char *key :
         {"additional_special_tokens", "extra_special_tokens"}) {
      within(file, key, [&](const FileNode &node) {
        if (!node.isArray()) {
          return;
        }
        for (const FileNode &item : node.items()) {
          tokens.push_back(readToken(item));
          tokens.back().special = true;
        }
      });
    }
    if (!tokens.empty()) {
      break;
    }
  }
  return tokens;
}

} // namespace tfc::text
