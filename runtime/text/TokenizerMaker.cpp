// Puts the parts of a tokenizer.json together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/TokenizerMaker.h"

#include <algorithm>

namespace tfc::text {

using nlohmann::json;

TokenizerMaker::TokenizerMaker(TokenizerFile vocabulary)
    : file(std::move(vocabulary)) {
  for (const Vocabulary::Entry &entry : file.vocabulary) {
    ids[entry.text] = entry.id;
  }
  next = static_cast<uint32_t>(ids.size());
  file.rest = {{"version", "1.0"}};
}

void TokenizerMaker::add(const TokenSetting &token) {
  auto [place, isNew] = places.emplace(token.text, added.size());
  if (!isNew) {
    added[place->second].special |= token.special;
    return;
  }
  uint32_t id = ids.emplace(token.text, next).first->second;
  next = std::max(next, id + 1);
  added.push_back(token);
  // Another id than the one that the file says is an error of its reader.
  added.back().id = token.id.value_or(id);
}

uint32_t TokenizerMaker::idOf(const std::string &text) const {
  auto found = ids.find(text);
  if (found == ids.end()) {
    throw FileFault{rt::makeError(rt::Code::InvalidArgument,
                                  "expected the token ", rt::quoteName(text),
                                  " in the vocabulary, got none")};
  }
  return found->second;
}

std::vector<std::string> TokenizerMaker::texts() const {
  std::vector<std::pair<uint32_t, std::string>> ordered;
  for (const auto &[text, id] : ids) {
    ordered.emplace_back(id, text);
  }
  std::sort(ordered.begin(), ordered.end());
  std::vector<std::string> texts;
  for (auto &[id, text] : ordered) {
    texts.push_back(std::move(text));
  }
  return texts;
}

json TokenizerMaker::makeTemplate(const std::vector<TemplateItem> &single,
                                  const std::vector<TemplateItem> &pair) const {
  json tokens = json::object();
  auto make = [&](const std::vector<TemplateItem> &items) {
    json parts = json::array();
    for (const TemplateItem &item : items) {
      bool isSequence = item.text == "$A" || item.text == "$B";
      json inner = {{"id", isSequence ? item.text.substr(1) : item.text},
                    {"type_id", item.type}};
      parts.push_back(
          {{isSequence ? "Sequence" : "SpecialToken", std::move(inner)}});
      if (!isSequence) {
        tokens[item.text] = {{"id", item.text},
                             {"ids", json::array({idOf(item.text)})},
                             {"tokens", json::array({item.text})}};
      }
    }
    return parts;
  };
  json made = {{"type", "TemplateProcessing"}};
  made["single"] = make(single);
  made["pair"] = make(pair);
  made["special_tokens"] = std::move(tokens);
  return made;
}

TokenizerFile TokenizerMaker::finish() && {
  // tokenizers writes them by their ids, and reads them in this order.
  std::sort(
      added.begin(), added.end(),
      [](const TokenSetting &a, const TokenSetting &b) { return a.id < b.id; });
  json list = json::array();
  for (const TokenSetting &token : added) {
    list.push_back({{"id", *token.id},
                    {"content", token.text},
                    {"single_word", token.singleWord},
                    {"lstrip", token.leftStrip},
                    {"rstrip", token.rightStrip},
                    {"normalized", token.normalized},
                    {"special", token.special}});
  }
  file.rest["added_tokens"] = std::move(list);
  return std::move(file);
}

} // namespace tfc::text
