// Makes a tokenizer of GGUF's keys: tokens, their kinds, scores or merges.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/GgufTokenizer.h"

#include "runtime/src/files/gguf/GgufFile.h"
#include "runtime/text/TokenizerClass.h"
#include "runtime/text/Utf8.h"
#include "runtime/text/VocabularyFiles.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace tfc::text {

using nlohmann::json;
using Kind = SentencePieceFile::PieceKind;

namespace {

constexpr const char *keys = "tokenizer.ggml.";

template <typename... Ts>
[[noreturn]] void fail(rt::Code code, const Ts &...parts) {
  throw FileFault{rt::makeError(code, keys, parts...)};
}

/// How llama.cpp's `pre` cuts a text before merges.
struct Cut {
  const char *pre;
  /// One after the other; where the last is ByteLevel's own, GPT-2's, it is
  /// not among them.
  std::vector<const char *> patterns;
  bool endsAsGpt2;
  bool composes;      // NFC before
  bool ignoresMerges; // a word that is a token is one
  bool addsBos;       // where no key says it
  bool addsEos = false;
};

// The patterns are those of the models' own tokenizer.json.
constexpr const char *llama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| )"
    R"(?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char *qwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| )"
    R"(?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char *qwen35Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|)"
    R"(\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char *seedPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| )"
    R"(?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Words by their capitals; of GPT-4o with what English puts behind them.
constexpr const char *gpt4oPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char *tekkenPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
    R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// DeepSeek's, by three.
constexpr const char *threeDigits = R"(\p{N}{1,3})";
constexpr const char *eastAsian = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+";
constexpr const char *deepSeekPattern =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|)"
    R"([^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char *digit = R"(\p{N})";

const std::vector<Cut> &allCuts() {
  using Patterns = std::vector<const char *>;
  static const std::vector<Cut> cuts = [] {
    std::vector<Cut> all;
    auto add = [&](const Patterns &patterns, bool endsAsGpt2,
                   const std::vector<const char *> &names,
                   bool composes = false, bool ignoresMerges = false,
                   bool addsBos = false) {
      for (const char *pre : names) {
        all.push_back(
            {pre, patterns, endsAsGpt2, composes, ignoresMerges, addsBos});
      }
    };
    add({}, true, {"gpt-2", "phi-2", "olmo", "exaone4", "modern-bert", "mpt"});
    all.push_back({"roberta-bpe", {}, true, false, false, true, true});
    add({digit}, true,
        {"starcoder", "refact", "smollm", "exaone", "command-r"});
    add({llama3Pattern}, false, {"dbrx", "smaug-bpe"});
    add({llama3Pattern}, false, {"chatglm-bpe"});
    add({llama3Pattern}, false, {"glm4"}, false, /*ignoresMerges=*/true);
    add({llama3Pattern}, false, {"llama-bpe", "falcon3", "lfm2", "pixtral"},
        false, /*ignoresMerges=*/true, /*addsBos=*/true);
    add({qwen2Pattern}, false, {"qwen2", "deepseek-r1-qwen"},
        /*composes=*/true);
    add({qwen2Pattern}, false, {"hunyuan", "solar-open"});
    add({qwen35Pattern}, false, {"qwen35"}, /*composes=*/true);
    add({seedPattern}, false, {"seed-coder"});
    add({gpt4oPattern}, false, {"gpt-4o", "llama4", "minimax-m2"});
    add({tekkenPattern}, false, {"tekken"}, false, /*ignoresMerges=*/true,
        /*addsBos=*/true);
    add({threeDigits, eastAsian, deepSeekPattern}, false,
        {"deepseek-v3", "hunyuan-dense"});
    return all;
  }();
  return cuts;
}

const Cut &findCut(const std::string &pre) {
  std::set<std::string> known;
  for (const Cut &cut : allCuts()) {
    if (pre == cut.pre) {
      return cut;
    }
    known.insert(cut.pre);
  }
  std::string list;
  for (const std::string &each : known) {
    list += (list.empty() ? "" : ", ") + each;
  }
  fail(rt::Code::Unsupported, "pre: expected one of ", list, ", got ",
       rt::quoteName(pre), "; give a tokenizer.json with --tokenizer");
}

class Maker {
public:
  explicit Maker(const rt::GgufFile &file)
      : file(file), tokens(file.texts(std::string(keys) + "tokens")) {}

  TokenizerFile run() {
    std::string model = text("model");
    bool isKnown =
        model == "llama" || model == "gpt2" || model == "bert" || model == "t5";
    if (!isKnown) {
      fail(model.empty() ? rt::Code::NotFound : rt::Code::Unsupported,
           "model: expected llama, gpt2, bert or t5, got ",
           model.empty() ? "none" : rt::quoteName(model),
           "; give a tokenizer.json with --tokenizer");
    }
    if (tokens.empty()) {
      fail(rt::Code::InvalidArgument, "tokens: expected texts, got none");
    }
    for (const std::string &token : tokens) {
      if (token.empty() || !decodeUtf8(token)) {
        fail(rt::Code::InvalidArgument, "tokens: expected texts of UTF-8, got ",
             rt::quoteName(token));
      }
    }
    kinds = ofTokens("token_type");
    return model == "llama"  ? makePieces()
           : model == "gpt2" ? makeBytes()
           : model == "bert" ? makeWords()
                             : makeUnigram();
  }

private:
  const rt::GgufFile &file;
  std::vector<std::string> tokens;
  std::vector<double> kinds; // empty: all are normal

  std::string text(const char *key) const {
    return file.text(std::string(keys) + key).value_or("");
  }

  /// Numbers, one a token; none where there is no such key.
  std::vector<double> ofTokens(const char *key) const {
    std::vector<double> list = file.numbers(std::string(keys) + key);
    if (!list.empty() && list.size() != tokens.size()) {
      fail(rt::Code::InvalidArgument, key, ": expected ", tokens.size(),
           " numbers (one a token), got ", list.size());
    }
    return list;
  }

  Kind kindOf(size_t id) const {
    double kind = kinds.empty() ? 1 : kinds[id];
    if (!(kind >= 1 && kind <= 6) || std::floor(kind) != kind) {
      fail(rt::Code::InvalidArgument,
           "token_type: expected numbers from 1 to "
           "6, got ",
           kind, " at ", id);
    }
    return static_cast<Kind>(static_cast<int>(kind));
  }

  /// The token that a key names by its id.
  std::optional<std::string> named(const char *key) const {
    auto id = file.integer(std::string(keys) + key);
    if (!id) {
      return std::nullopt;
    }
    if (*id < 0 || *id >= static_cast<int64_t>(tokens.size())) {
      fail(rt::Code::InvalidArgument, key, ": expected an id below ",
           tokens.size(), ", got ", *id);
    }
    return tokens[static_cast<size_t>(*id)];
  }

  /// The named tokens and flags, as tokenizer_config.json says them.
  TokenizerSettings settings(bool addsBos, bool addsEos = false) const {
    json config = json::object();
    for (auto [name, key] : {std::pair{"bos_token", "bos_token_id"},
                             {"eos_token", "eos_token_id"},
                             {"unk_token", "unknown_token_id"},
                             {"pad_token", "padding_token_id"}}) {
      std::optional<std::string> token = named(key);
      config[name] = token ? json(*token) : json();
    }
    auto flag = [&](const char *name, const char *key, bool otherwise) {
      config[name] = file.boolean(std::string(keys) + key).value_or(otherwise);
    };
    flag("add_bos_token", "add_bos_token", addsBos);
    flag("add_eos_token", "add_eos_token", addsEos);
    flag("add_prefix_space", "add_space_prefix", true);
    return TokenizerSettings({{"tokenizer_config.json", config.dump()}});
  }

  /// No name stands for itself where the keys name none.
  static const TokenizerClass &classOf() {
    static const TokenizerClass of = {
        "GGUF", {}, nullptr, {"", "", "", "", "", "", ""}};
    return of;
  }

  SentencePieceFile readPieces() const {
    std::vector<double> scores = ofTokens("scores");
    if (scores.empty()) {
      fail(rt::Code::InvalidArgument, "scores: expected numbers, got none");
    }
    SentencePieceFile pieces;
    for (size_t id = 0; id < tokens.size(); ++id) {
      if (!std::isfinite(scores[id])) {
        fail(rt::Code::InvalidArgument, "scores: expected numbers, got ",
             scores[id], " at ", id);
      }
      pieces.pieces.push_back(
          {tokens[id], static_cast<float>(scores[id]), kindOf(id)});
    }
    return pieces;
  }

  TokenizerFile makePieces() {
    SentencePieceFile pieces = readPieces();
    std::vector<Vocabulary::Entry> entries;
    for (const SentencePieceFile::Piece &piece : pieces.pieces) {
      entries.push_back(
          {piece.text, static_cast<uint32_t>(entries.size()), piece.score});
    }
    // What is merged first has the greatest score.
    std::sort(entries.begin(), entries.end(), [](const auto &a, const auto &b) {
      return a.score != b.score ? a.score > b.score : a.id < b.id;
    });
    return makeLlamaOf(pieces, makeMerges(entries), settings(true), classOf());
  }

  /// sentencepiece's Unigram, as XLM-RoBERTa and T5 have it; tokens stand where
  /// the model has them.
  TokenizerFile makeUnigram() {
    if (!file.boolean(std::string(keys) + "remove_extra_whitespaces")
             .value_or(true)) {
      fail(rt::Code::Unsupported, "remove_extra_whitespaces: expected true, "
                                  "got false; give a tokenizer.json with "
                                  "--tokenizer");
    }
    SentencePieceFile pieces = readPieces();
    for (double byte :
         file.numbers(std::string(keys) + "precompiled_charsmap")) {
      pieces.charsMap += static_cast<char>(static_cast<int>(byte));
    }
    pieces.unknown =
        file.integer(std::string(keys) + "unknown_token_id").value_or(0);
    if (pieces.unknown < 0 ||
        pieces.unknown >= static_cast<int64_t>(tokens.size())) {
      fail(rt::Code::InvalidArgument, "unknown_token_id: expected an id below ",
           tokens.size(), ", got ", pieces.unknown);
    }
    bool isEncoder = file.text("general.architecture").value_or("") != "t5";
    return makeUnigramOf(pieces, settings(isEncoder, true), classOf());
  }

  /// WordPiece, as BERT has it. What begins a word has a mark in the file, and
  /// what continues one has none.
  TokenizerFile makeWords() {
    static const TokenizerClass bert = {
        "GGUF",
        {},
        nullptr,
        {"", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"}};
    constexpr std::string_view mark = "\u2581";
    std::string lines;
    for (size_t id = 0; id < tokens.size(); ++id) {
      std::string_view token = tokens[id];
      Kind kind = kindOf(id);
      bool isWhole = kind == Kind::Control || kind == Kind::Unknown ||
                     (token.front() == '[' && token.back() == ']');
      if (token.substr(0, mark.size()) == mark && token.size() > mark.size()) {
        token.remove_prefix(mark.size());
      } else if (!isWhole) {
        lines += "##";
      }
      if (token.find('\n') != token.npos) {
        fail(rt::Code::InvalidArgument,
             "tokens: expected texts without an end of a line, got ",
             rt::quoteName(token));
      }
      lines.append(token).append("\n");
    }
    json config = json::object();
    for (auto [name, key] : {std::pair{"unk_token", "unknown_token_id"},
                             {"sep_token", "seperator_token_id"},
                             {"pad_token", "padding_token_id"},
                             {"cls_token", "cls_token_id"},
                             {"mask_token", "mask_token_id"}}) {
      if (std::optional<std::string> token = named(key)) {
        config[name] = *token;
      }
    }
    for (auto [name, key] : {std::pair{"do_lower_case", "normalizer.lowercase"},
                             {"strip_accents", "normalizer.strip_accents"}}) {
      if (auto flag = file.boolean(std::string(keys) + key)) {
        config[name] = *flag;
      }
    }
    FolderFiles files = {{"vocab.txt", std::move(lines)}};
    return makeBert(
        files, TokenizerSettings({{"tokenizer_config.json", config.dump()}}),
        bert);
  }

  TokenizerFile makeBytes() {
    const Cut &cut = findCut(text("pre"));
    TokenizerFile start;
    start.hasVocabulary = start.hasMerges = true;
    for (size_t id = 0; id < tokens.size(); ++id) {
      start.vocabulary.push_back({tokens[id], static_cast<uint32_t>(id), 0});
    }
    for (const std::string &merge : file.texts(std::string(keys) + "merges")) {
      size_t space = merge.find(' ', 1);
      if (space == merge.npos || space + 1 == merge.size()) {
        fail(rt::Code::InvalidArgument,
             "merges: expected two tokens with a "
             "space between, got ",
             rt::quoteName(merge));
      }
      start.merges.emplace_back(merge.substr(0, space),
                                merge.substr(space + 1));
    }
    TokenizerSettings given = settings(cut.addsBos, cut.addsEos);
    NamedTokens named(given, classOf());
    TokenizerMaker maker(std::move(start));
    addSpecial(maker);
    named.addTo(maker);
    fillTree(maker.tree(), cut);
    maker.tree()["post_processor"] =
        plainTemplate(maker, named, given.flag("add_bos_token", false),
                      given.flag("add_eos_token", false));
    return std::move(maker).finish();
  }

  void addSpecial(TokenizerMaker &maker) const {
    for (size_t id = 0; id < tokens.size(); ++id) {
      Kind kind = kindOf(id);
      if (kind == Kind::Control || kind == Kind::UserDefined) {
        TokenSetting token;
        token.text = tokens[id];
        token.special = kind == Kind::Control;
        maker.add(token);
      }
    }
  }

  static void fillTree(json &tree, const Cut &cut) {
    json level = {{"type", "ByteLevel"},
                  {"add_prefix_space", false},
                  {"trim_offsets", true},
                  {"use_regex", cut.endsAsGpt2}};
    if (cut.composes) {
      tree["normalizer"] = {{"type", "NFC"}};
    }
    tree["pre_tokenizer"] = level;
    if (!cut.patterns.empty()) {
      json all = json::array();
      for (const char *pattern : cut.patterns) {
        all.push_back({{"type", "Split"},
                       {"pattern", {{"Regex", pattern}}},
                       {"behavior", "Isolated"},
                       {"invert", false}});
      }
      all.push_back(level);
      tree["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", all}};
    }
    tree["decoder"] = {{"type", "ByteLevel"},
                       {"add_prefix_space", true},
                       {"trim_offsets", true},
                       {"use_regex", true}};
    tree["model"] = {{"type", "BPE"}, {"ignore_merges", cut.ignoresMerges}};
  }
};

} // namespace

rt::Result<TokenizerFile> makeGgufTokenizer(const std::string &path) {
  auto file = rt::GgufFile::open(path);
  if (!file) {
    return std::move(file.error());
  }
  try {
    return Maker(**file).run();
  } catch (const FileFault &fault) {
    return fault.error;
  }
}

} // namespace tfc::text
