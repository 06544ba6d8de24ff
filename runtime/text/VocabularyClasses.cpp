// The classes of vocab.txt, and of vocab.json with merges.txt, as transformers
// 5 has them (models/*/tokenization_*.py).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/TokenizerClass.h"
#include "runtime/text/VocabularyFiles.h"

namespace tfc::text {

using nlohmann::json;

template <typename T> static T unwrapFile(rt::Result<T> result) {
  if (!result) {
    throw FileFault{std::move(result.error())};
  }
  return std::move(*result);
}

TokenizerFile makeBert(const FolderFiles &files,
                       const TokenizerSettings &settings,
                       const TokenizerClass &of) {
  settings.expectFlag("do_basic_tokenize", true);
  TokenizerMaker maker(
      unwrapFile(readVocabularyLines(takeFile(files, "vocab.txt", of))));
  NamedTokens named(settings, of);
  addAll(maker, settings.addedTokens());
  named.addTo(maker);
  addAll(maker, settings.extraTokens());
  std::optional<bool> accents = settings.flagOrNull("strip_accents");
  json &tree = maker.tree();
  tree["normalizer"] = {
      {"type", "BertNormalizer"},
      {"clean_text", true},
      {"handle_chinese_chars", settings.flag("tokenize_chinese_chars", true)},
      {"strip_accents", accents ? json(*accents) : json()},
      {"lowercase", settings.flag("do_lower_case", true)}};
  tree["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  tree["post_processor"] = bertTemplate(maker, named);
  tree["decoder"] = {
      {"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  tree["model"] = {{"type", "WordPiece"},
                   {"unk_token", named.text(Unk)},
                   {"continuing_subword_prefix", "##"},
                   {"max_input_chars_per_word", 100U}};
  return std::move(maker).finish();
}

static TokenizerMaker startByteLevel(const FolderFiles &files,
                                     const TokenizerSettings &settings,
                                     const TokenizerClass &of,
                                     const NamedTokens &named) {
  TokenizerMaker maker(unwrapFile(readVocabularyAndMerges(
      takeFile(files, "vocab.json", of), takeFile(files, "merges.txt", of))));
  addAll(maker, settings.addedTokens());
  named.addTo(maker);
  addAll(maker, settings.extraTokens());
  maker.tree()["pre_tokenizer"] = {
      {"type", "ByteLevel"},
      {"add_prefix_space", settings.flag("add_prefix_space", false)}};
  maker.tree()["pre_tokenizer"]["trim_offsets"] = true;
  // tokenizers reads no decoder without them, and does nothing with them.
  maker.tree()["decoder"] = {{"type", "ByteLevel"},
                             {"add_prefix_space", true},
                             {"trim_offsets", true},
                             {"use_regex", true}};
  maker.tree()["model"] = {{"type", "BPE"}};
  return maker;
}

TokenizerFile makeGpt2(const FolderFiles &files,
                       const TokenizerSettings &settings,
                       const TokenizerClass &of) {
  NamedTokens named(settings, of);
  TokenizerMaker maker = startByteLevel(files, settings, of, named);
  maker.tree()["post_processor"] =
      plainTemplate(maker, named, settings.flag("add_bos_token", false),
                    settings.flag("add_eos_token", false));
  return std::move(maker).finish();
}

TokenizerFile makeRoberta(const FolderFiles &files,
                          const TokenizerSettings &settings,
                          const TokenizerClass &of) {
  NamedTokens named(settings, of);
  TokenizerMaker maker = startByteLevel(files, settings, of, named);
  auto withId = [&](Named name) {
    std::string text = named.text(name);
    return json::array({text, maker.idOf(text)});
  };
  maker.tree()["post_processor"] = {
      {"type", "RobertaProcessing"},
      {"sep", withId(Sep)},
      {"cls", withId(Cls)},
      {"trim_offsets", settings.flag("trim_offsets", true)},
      {"add_prefix_space", settings.flag("add_prefix_space", false)}};
  return std::move(maker).finish();
}

} // namespace tfc::text
