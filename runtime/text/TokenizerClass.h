// A tokenizer class of transformers: its named tokens, and what its makers have
// in common. Whatever is wrong is thrown as FileFault.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_TOKENIZERCLASS_H
#define TFC_RUNTIME_TEXT_TOKENIZERCLASS_H

#include "runtime/text/SentencePieceFile.h"
#include "runtime/text/TokenizerMaker.h"

namespace tfc::text {

/// In the order in which transformers adds them.
enum Named { Bos, Eos, Unk, Sep, Pad, Cls, Mask, NumNamed };

struct TokenizerClass;
using MakeTokenizer = TokenizerFile(const FolderFiles &files,
                                    const TokenizerSettings &settings,
                                    const TokenizerClass &of);

struct TokenizerClass {
  const char *name;
  std::vector<const char *> modelTypes;
  MakeTokenizer *make;
  const char *tokens[NumNamed]; // where the files say nothing; "": none
};

/// The named tokens of a class, as its files have them.
class NamedTokens {
public:
  NamedTokens(const TokenizerSettings &settings, const TokenizerClass &of);
  std::string text(Named name) const;
  /// Lets the mask take the spaces before it, where nothing else is said of it.
  void stripBeforeMask();
  void addTo(TokenizerMaker &maker) const;

private:
  std::optional<TokenSetting> all[NumNamed];
};

/// A file that the class needs.
const std::string &takeFile(const FolderFiles &files, const char *name,
                            const TokenizerClass &of);
void addAll(TokenizerMaker &maker, const std::vector<TokenSetting> &tokens);

/// Texts as they are, with begin and end around each where that is asked for.
nlohmann::json plainTemplate(const TokenizerMaker &maker,
                             const NamedTokens &named, bool addsBos,
                             bool addsEos);

/// [CLS] A [SEP] B [SEP], the second text of type 1.
nlohmann::json bertTemplate(const TokenizerMaker &maker,
                            const NamedTokens &named);

/// The makers: of vocab.txt; of vocab.json and merges.txt; of sentencepiece's
/// model.
MakeTokenizer makeBert;
MakeTokenizer makeGpt2, makeRoberta;
MakeTokenizer makeT5, makeAlbert, makeXlmRoberta, makeMBart, makeLlama;
/// Of its model with a vocab.json.
MakeTokenizer makeMarian, makeM2m100;
/// Unigram of pieces that stand elsewhere, each at its id.
TokenizerFile makeUnigramOf(const SentencePieceFile &file,
                            const TokenizerSettings &settings,
                            const TokenizerClass &of);
/// LLaMA's of pieces and merges that stand elsewhere.
TokenizerFile makeLlamaOf(const SentencePieceFile &file,
                          std::vector<Merge> merges,
                          const TokenizerSettings &settings,
                          const TokenizerClass &of);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_TOKENIZERCLASS_H
