// Named tokens, files and templates of tokenizer classes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/TokenizerClass.h"

namespace tfc::text {

static const char *const namesOfTokens[NumNamed] = {
    "bos_token", "eos_token", "unk_token", "sep_token",
    "pad_token", "cls_token", "mask_token"};

NamedTokens::NamedTokens(const TokenizerSettings &settings,
                         const TokenizerClass &of) {
  for (size_t i = 0; i < NumNamed; ++i) {
    all[i] = settings.token(namesOfTokens[i], of.tokens[i]);
  }
}

std::string NamedTokens::text(Named name) const {
  if (!all[name]) {
    throw FileFault{
        rt::makeError(rt::Code::InvalidArgument, "tokenizer_config.json: /",
                      namesOfTokens[name], ": expected a token, got nothing")};
  }
  return all[name]->text;
}

void NamedTokens::stripBeforeMask() {
  if (all[Mask] && all[Mask]->isPlain) {
    all[Mask]->leftStrip = true;
  }
}

void NamedTokens::addTo(TokenizerMaker &maker) const {
  for (const std::optional<TokenSetting> &token : all) {
    if (token) {
      maker.add(*token);
    }
  }
}

const std::string &takeFile(const FolderFiles &files, const char *name,
                            const TokenizerClass &of) {
  auto file = files.find(name);
  if (file == files.end()) {
    throw FileFault{rt::makeError(rt::Code::NotFound, "expected ", name,
                                  " (of ", of.name,
                                  "), or a tokenizer.json, got neither")};
  }
  return file->second;
}

void addAll(TokenizerMaker &maker, const std::vector<TokenSetting> &tokens) {
  for (const TokenSetting &token : tokens) {
    maker.add(token);
  }
}

nlohmann::json plainTemplate(const TokenizerMaker &maker,
                             const NamedTokens &named, bool addsBos,
                             bool addsEos) {
  std::vector<TemplateItem> single, pair;
  auto put = [&](std::vector<TemplateItem> &to, const char *text,
                 uint32_t type) {
    if (addsBos) {
      to.push_back({named.text(Bos), type});
    }
    to.push_back({text, type});
    if (addsEos) {
      to.push_back({named.text(Eos), type});
    }
  };
  put(single, "$A", 0);
  put(pair, "$A", 0);
  put(pair, "$B", 1);
  return maker.makeTemplate(single, pair);
}

nlohmann::json bertTemplate(const TokenizerMaker &maker,
                            const NamedTokens &named) {
  std::string cls = named.text(Cls), sep = named.text(Sep);
  return maker.makeTemplate(
      {{cls, 0}, {"$A", 0}, {sep, 0}},
      {{cls, 0}, {"$A", 0}, {sep, 0}, {"$B", 1}, {sep, 1}});
}

} // namespace tfc::text
