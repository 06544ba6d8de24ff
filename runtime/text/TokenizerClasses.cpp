// The table of classes, and which one a folder asks for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/TokenizerClasses.h"

#include "runtime/text/TokenizerClass.h"

#include <algorithm>

namespace tfc::text {

const std::vector<const char *> tokenizerFileNames = {"tokenizer_config.json",
                                                      "special_tokens_map.json",
                                                      "added_tokens.json",
                                                      "config.json",
                                                      "vocab.txt",
                                                      "vocab.json",
                                                      "merges.txt",
                                                      "spiece.model",
                                                      "tokenizer.model",
                                                      "sentencepiece.bpe.model",
                                                      "source.spm"};

namespace {

const std::vector<TokenizerClass> &allClasses() {
  static const std::vector<TokenizerClass> classes = {
      {"BertTokenizer",
       {"bert"},
       makeBert,
       {"", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"}},
      {"DistilBertTokenizer",
       {"distilbert"},
       makeBert,
       {"", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"}},
      {"ElectraTokenizer",
       {"electra"},
       makeBert,
       {"", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"}},
      {"GPT2Tokenizer",
       {"gpt2"},
       makeGpt2,
       {"<|endoftext|>", "<|endoftext|>", "<|endoftext|>", "", "", "", ""}},
      {"RobertaTokenizer",
       {"roberta"},
       makeRoberta,
       {"<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"}},
      {"BartTokenizer",
       {"bart"},
       makeRoberta,
       {"<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"}},
      {"T5Tokenizer",
       {"t5", "mt5"},
       makeT5,
       {"", "</s>", "<unk>", "", "<pad>", "", ""}},
      {"AlbertTokenizer",
       {"albert"},
       makeAlbert,
       {"[CLS]", "[SEP]", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]"}},
      {"XLMRobertaTokenizer",
       {"xlm-roberta"},
       makeXlmRoberta,
       {"<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"}},
      {"MBartTokenizer",
       {"mbart"},
       makeMBart,
       {"<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"}},
      {"LlamaTokenizer",
       {"llama", "mistral"},
       makeLlama,
       {"<s>", "</s>", "<unk>", "", "", "", ""}},
      {"MarianTokenizer",
       {"marian"},
       makeMarian,
       {"", "</s>", "<unk>", "", "<pad>", "", ""}},
      {"M2M100Tokenizer",
       {"m2m_100"},
       makeM2m100,
       {"<s>", "</s>", "<unk>", "</s>", "<pad>", "", ""}}};
  return classes;
}

[[noreturn]] void failUnknown(const char *where, const std::string &got) {
  std::string known;
  for (const TokenizerClass &one : allClasses()) {
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  throw FileFault{
      rt::makeError(rt::Code::Unsupported, where, ": expected one of ", known,
                    ", or a tokenizer.json instead of it, got ", got)};
}

const TokenizerClass &findClass(const FolderFiles &files,
                                const TokenizerSettings &settings) {
  std::string name = settings.className(), type = settings.modelType();
  // Names of what runs a tokenizer.json: they say nothing of a vocabulary.
  if (name == "PreTrainedTokenizer" || name == "TokenizersBackend") {
    name.clear();
  }
  for (const TokenizerClass &one : allClasses()) {
    bool isIt = !name.empty()
                    ? name == one.name
                    : std::find(one.modelTypes.begin(), one.modelTypes.end(),
                                type) != one.modelTypes.end();
    if (isIt) {
      return one;
    }
  }
  const char *key = "tokenizer_config.json: /tokenizer_class";
  if (!name.empty()) {
    failUnknown(key, rt::quoteName(name));
  }
  failUnknown(key, "nothing, and the model type " + rt::quoteName(type));
}

} // namespace

rt::Result<TokenizerFile> makeTokenizerFile(const FolderFiles &files) {
  bool hasVocabulary = false;
  for (const char *name : {"vocab.txt", "vocab.json", "spiece.model",
                           "tokenizer.model", "sentencepiece.bpe.model"}) {
    hasVocabulary |= files.count(name) != 0;
  }
  if (!hasVocabulary) {
    return rt::makeError(
        rt::Code::NotFound, "expected a tokenizer (tokenizer.json, vocab.txt, ",
        "vocab.json with merges.txt, or a model of sentencepiece), got none");
  }
  try {
    TokenizerSettings settings(files);
    const TokenizerClass &of = findClass(files, settings);
    return of.make(files, settings, of);
  } catch (const FileFault &fault) {
    return fault.error;
  }
}

} // namespace tfc::text
