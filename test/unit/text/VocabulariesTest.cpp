// Vocabularies in files of their own: what a folder of them becomes, and what
// is wrong with it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/CharsMap.h"
#include "runtime/text/ReadTokenizer.h"
#include "runtime/text/SentencePieceFile.h"
#include "test/unit/text/SmallModel.h"

#include <cstring>
#include <gtest/gtest.h>
#include <limits>

namespace tfc::text::test {
namespace {

using Ids = std::vector<uint32_t>;

FolderFiles filesOf(const std::string &name, const char *more = "") {
  return {{"tokenizer_config.json",
           "{\"tokenizer_class\": \"" + name + "\"" + more + "}"}};
}

FolderFiles withFile(FolderFiles files, const char *name,
                     const std::string &content) {
  files[name] = content;
  return files;
}

/// A text's ids, or what is wrong.
std::string idsOf(const FolderFiles &files, const char *text) {
  auto tokenizer = makeTokenizer(files);
  if (!tokenizer) {
    return tokenizer.error().message;
  }
  auto tokens = (*tokenizer)->encode(text, std::nullopt, {});
  if (!tokens) {
    return tokens.error().message;
  }
  std::string ids;
  for (const Token &token : *tokens) {
    ids += (ids.empty() ? "" : " ") + std::to_string(token.id);
  }
  return ids;
}

const char *const lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ntime\nTime\n"
                          "fl\n##ies\n";

TEST(Vocabularies, ReadsLines) {
  FolderFiles files =
      withFile(filesOf("BertTokenizerFast"), "vocab.txt", lines);
  EXPECT_EQ(idsOf(files, "Time flies x"), "2 5 7 8 1 3");
  files = withFile(filesOf("BertTokenizer", ", \"do_lower_case\": false"),
                   "vocab.txt", lines);
  EXPECT_EQ(idsOf(files, "Time[MASK]"), "2 6 4 3");
  // Ends of lines are none of a token; of equal lines the last counts; a new
  // token gets the next id.
  files =
      withFile(filesOf("BertTokenizer", ", \"additional_special_tokens\": "
                                        "[\"<new>\"]"),
               "vocab.txt", "[UNK]\r\n[CLS]\n[SEP]\na \nb\na\n[PAD]\n[MASK]");
  EXPECT_EQ(idsOf(files, "a b<new>"), "1 5 4 8 2");
}

TEST(Vocabularies, ChoosesTheClass) {
  FolderFiles files = withFile({}, "vocab.txt", lines);
  EXPECT_EQ(idsOf(withFile(files, "config.json", R"({"model_type": "bert"})"),
                  "time"),
            "2 5 3");
  files["tokenizer_config.json"] =
      R"({"tokenizer_class": "PreTrainedTokenizerFast"})";
  EXPECT_EQ(idsOf(withFile(files, "config.json", R"({"model_type": "bert"})"),
                  "time"),
            "2 5 3");
  EXPECT_NE(
      idsOf(withFile(files, "config.json", R"({"model_type": "ctrl"})"), "time")
          .find("tokenizer_config.json: /tokenizer_class: expected one "
                "of BertTokenizer, "),
      std::string::npos);
  EXPECT_NE(
      idsOf(withFile(filesOf("FSMTTokenizer"), "vocab.json", "{}"), "time")
          .find(", got \"FSMTTokenizer\""),
      std::string::npos);
  EXPECT_EQ(idsOf(withFile(filesOf("GPT2Tokenizer"), "vocab.txt", lines), ""),
            "expected vocab.json (of GPT2Tokenizer), or a tokenizer.json, got "
            "neither");
  EXPECT_NE(idsOf({}, "").find("expected a tokenizer (tokenizer.json, "),
            std::string::npos);
}

/// A field of a protobuf that is a text or a message of less than 128 bytes.
std::string fieldOf(char number, const std::string &bytes) {
  return std::string{char(number << 3 | 2), char(bytes.size())} + bytes;
}

/// A model of sentencepiece: pieces that are 1 worse the later they come, the
/// first of which is the unknown one.
std::string piecesOf(const std::vector<std::string> &texts, char lastKind = 1) {
  std::string file;
  for (size_t i = 0; i < texts.size(); ++i) {
    auto score = -static_cast<float>(i);
    std::string bytes(sizeof(score), '\0');
    std::memcpy(bytes.data(), &score, sizeof(score));
    char kind = i == 0 ? 2 : i + 1 == texts.size() ? lastKind : 1;
    file += fieldOf(1, fieldOf(1, texts[i]) + char(2 << 3 | 5) + bytes +
                           std::string{char(3 << 3), kind});
  }
  return file;
}

TEST(Vocabularies, GivesPiecesTheIdsOfTheVocabulary) {
  FolderFiles files = withFile(
      filesOf("MarianTokenizer"), "vocab.json",
      R"({"</s>": 0, "<unk>": 1, "b": 2, "\u2581a": 3, ">>fr<<": 4, "c": 5,
          "<pad>": 6})");
  // The vocabulary has no "\u2581"; "c" is no piece, and what is unknown.
  files["source.spm"] = piecesOf({"<unk>", "\u2581a", "\u2581", "b"});
  EXPECT_EQ(idsOf(files, ">>fr<<  a  b"), "4 3 1 2 0");
  EXPECT_EQ(idsOf(files, "ac >>fr<<"), "3 5 1 4 0");
  EXPECT_EQ(idsOf(files, " "), "0");
  files["source.spm"] = piecesOf({"<unk>", "\u2581a", "b"}, 4);
  EXPECT_EQ(idsOf(files, ""),
            "source.spm: piece 2: expected no bytes and no pieces that a user "
            "defined (of MarianTokenizer), got \"b\"");
  files["source.spm"] = "no model";
  EXPECT_EQ(idsOf(files, "").find("source.spm: expected a model of "), 0);
  files.erase("source.spm");
  EXPECT_EQ(idsOf(files, ""),
            "expected source.spm (of MarianTokenizer), or a tokenizer.json, "
            "got neither");
}

TEST(Vocabularies, PutsTheSourceLanguageInFront) {
  FolderFiles files = {
      {"tokenizer_config.json",
       R"({"tokenizer_class": "M2M100Tokenizer", "language_codes": "wmt21",
           "src_lang": "ha"})"},
      {"vocab.json",
       R"({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "\u2581a": 4})"},
      {"sentencepiece.bpe.model", piecesOf({"<unk>", "\u2581a"})}};
  EXPECT_EQ(idsOf(files, "a"), "6 4 2");
}

TEST(Vocabularies, ReadsMerges) {
  FolderFiles files =
      withFile(filesOf("GPT2Tokenizer"), "vocab.json",
               R"({"t": 0, "i": 1, "m": 2, "ti": 3, "<|endoftext|>": 4})");
  files["merges.txt"] = "#version: 0.2\nt i\n";
  EXPECT_EQ(idsOf(files, "timti<|endoftext|>"), "3 2 3 4");
  files["merges.txt"] = "#version: 0.2\nt i m\n";
  EXPECT_EQ(idsOf(files, ""),
            "merges.txt: line 2: expected two tokens with a space between "
            "them, got \"t i m\"");
  files["merges.txt"] = "t x\n";
  EXPECT_NE(idsOf(files, "").find("as a tokenizer.json: /model"),
            std::string::npos);
  files["vocab.json"] = R"({"t": "0"})";
  EXPECT_EQ(idsOf(files, ""), "vocab.json: /t: expected an id, got \"0\"");
  files["vocab.json"] = R"([{"t": 0}])";
  EXPECT_EQ(idsOf(files, ""),
            "vocab.json: /: expected an object of tokens and ids, got another "
            "value");
}

TEST(Vocabularies, SaysWhichSettingIsWrong) {
  auto with = [&](const char *more) {
    return idsOf(withFile(filesOf("BertTokenizer", more), "vocab.txt", lines),
                 "time");
  };
  EXPECT_EQ(with(", \"do_lower_case\": 3"),
            "tokenizer_config.json: /do_lower_case: expected true or false, "
            "got 3");
  EXPECT_EQ(with(", \"do_basic_tokenize\": false"),
            "tokenizer_config.json: /do_basic_tokenize: expected true, got "
            "false");
  EXPECT_EQ(with(", \"cls_token\": null"),
            "tokenizer_config.json: /cls_token: expected a token, got nothing");
  EXPECT_EQ(with(", \"added_tokens_decoder\": {\"x\": {\"content\": \"a\"}}"),
            "tokenizer_config.json: /added_tokens_decoder: expected ids as "
            "keys, got \"x\"");
  EXPECT_NE(with(", \"added_tokens_decoder\": {\"77\": {\"content\": \"a\"}}")
                .find("expected 9 (the id that tokenizers gives to \"a\"), "
                      "got 77"),
            std::string::npos);
  FolderFiles files = withFile(filesOf("BertTokenizer"), "vocab.txt", lines);
  EXPECT_EQ(idsOf(withFile(files, "special_tokens_map.json",
                           R"({"sep_token": "time"})"),
                  "x"),
            "2 1 5");
  EXPECT_EQ(idsOf(withFile(files, "added_tokens.json", R"({"<a>": 9})"), "<a>"),
            "2 9 3");
}

TEST(SentencePiece, ReadsAModel) {
  FolderFiles files = withFile(filesOf("T5Tokenizer", ", \"extra_ids\": 2"),
                               "spiece.model", smallModel());
  EXPECT_EQ(idsOf(files, "time t<sep>x<extra_id_0>"), "3 6 7 4 2 9 1");
  files = withFile(filesOf("LlamaTokenizer", ", \"bos_token\": \"<pad>\""),
                   "tokenizer.model", smallModel(2));
  // Merges are the pairs that are pieces.
  EXPECT_EQ(idsOf(files, "t"), "0 6");
  EXPECT_EQ(idsOf(withFile(filesOf("LlamaTokenizer"), "tokenizer.model",
                           smallModel(1)),
                  ""),
            "tokenizer.model: expected a model of BPE (of LlamaTokenizer), "
            "got model type 1");
}

TEST(SentencePiece, RefusesWhatIsNone) {
  std::string good = smallModel();
  ASSERT_TRUE(readSentencePiece(good));
  // Whatever is cut off: an error with words, or a model of fewer pieces.
  for (size_t size = 0; size < good.size(); ++size) {
    auto cut = readSentencePiece(std::string_view(good).substr(0, size));
    EXPECT_TRUE(cut || !cut.error().message.empty());
  }
  auto fault = [](const std::string &bytes) {
    auto file = readSentencePiece(bytes);
    return file ? "" : file.error().message;
  };
  EXPECT_EQ(fault(""), "expected a model of sentencepiece, got another file "
                       "(a piece is missing before byte 0)");
  EXPECT_EQ(fault("{\"version\": 1}").substr(0, 53),
            "expected a model of sentencepiece, got another file (");
  EXPECT_NE(fault(good.substr(0, 3)).find("the rest of a field"),
            std::string::npos);
  for (const std::string &bad :
       {piece("", 0), piece("\xff", 0), piece(std::string(600, 'a'), 0),
        piece("a", std::numeric_limits<float>::infinity())}) {
    EXPECT_EQ(fault(good + bad).substr(0, 17), "piece 8: expected") << bad;
  }
  EXPECT_EQ(fault(good + piece("a", 0, 9)),
            "piece 8: expected a kind from 1 to 6, got 9");
  EXPECT_EQ(fault(good + field(2, field(40, uint64_t(8)))),
            "expected an unknown piece below 8, got 8");
  EXPECT_NE(fault(good + field(2, field(24, uint64_t(1))))
                .find("treat_whitespace_as_suffix"),
            std::string::npos);
  EXPECT_NE(
      fault(good + field(3, field(5, uint64_t(0)))).find("escape_whitespaces"),
      std::string::npos);
  EXPECT_NE(fault(std::string(20, '\xff')).find("the end of a number"),
            std::string::npos);
}

TEST(SentencePiece, Base64ThereAndBack) {
  std::string bytes;
  for (int size = 0; size < 70; ++size) {
    EXPECT_EQ(*decodeBase64(encodeBase64(bytes)), bytes);
    EXPECT_EQ(encodeBase64(bytes).size() % 4, 0U);
    bytes += static_cast<char>(37 * size + 200);
  }
  EXPECT_EQ(encodeBase64("tfc!"), "dGZjIQ==");
}

} // namespace
} // namespace tfc::text::test
