// What is wrong with a tokenizer.json, and where: one clear error.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/ReadTokenizer.h"
#include "test/unit/text/SmallTokenizer.h"

#include <gtest/gtest.h>

namespace tfc::text::test {
namespace {

using nlohmann::json;

std::string faultOf(const std::string &text) {
  auto tokenizer = parseTokenizer(text);
  return tokenizer ? "" : tokenizer.error().message;
}

/// The fault of the small tokenizer with one value exchanged.
std::string faultWith(const char *pointer, const char *value) {
  json spec = smallTokenizer();
  spec[json::json_pointer(pointer)] = json::parse(value);
  return faultOf(spec.dump());
}

TEST(ReadTokenizer, ReadsWhatIsRight) {
  EXPECT_EQ(faultOf(smallTokenizer().dump()), "");
}

TEST(ReadTokenizer, SaysWhereAndWhat) {
  EXPECT_EQ(faultWith("/normalizer/type", "\"Nmt\""),
            "/normalizer/type: expected a known normalizer, got \"Nmt\"");
  EXPECT_EQ(faultWith("/pre_tokenizer/type", "\"UnicodeScripts\""),
            "/pre_tokenizer/type: expected a known pre-tokenizer, got "
            "\"UnicodeScripts\"");
  EXPECT_EQ(faultWith("/decoder/type", "\"CTC\""),
            "/decoder/type: expected a known decoder, got \"CTC\"");
  EXPECT_EQ(faultWith("/post_processor/type", "7"),
            "/post_processor/type: expected a string, got 7");
  EXPECT_EQ(faultWith("/model/type", "\"Huffman\""),
            "/model/type: expected a known model, got \"Huffman\"");
  EXPECT_EQ(faultWith("/normalizer/lowercase", "\"yes\""),
            "/normalizer/lowercase: expected true or false, got \"yes\"");
  EXPECT_EQ(faultWith("/normalizer/lower", "true"),
            "/normalizer/lower: expected a known key, got \"lower\"");
  // Nothing of a file acts on a terminal, in a pointer neither.
  EXPECT_EQ(faultWith("/normalizer/lo\x7fwer", "true"),
            "/normalizer/lo\\x7fwer: expected a known key, got "
            "\"lo\\x7fwer\"");
  EXPECT_EQ(faultWith("/version", "\"2.0\""),
            "/version: expected one of 1.0, got \"2.0\"");
  EXPECT_EQ(faultWith("/model/max_input_chars_per_word", "-1"),
            "/model/max_input_chars_per_word: expected an integer from 0 to "
            "4294967296, got -1");
  EXPECT_EQ(faultWith("/post_processor/single/1/Sequence/id", "\"B\""),
            "/post_processor/single/1/Sequence/id: expected one of A, got "
            "\"B\"");
  EXPECT_EQ(faultWith("/model", "null"),
            "/model: expected a model, got nothing");
}

TEST(ReadTokenizer, RefusesVocabulariesThatAreNone) {
  EXPECT_EQ(faultWith("/model/vocab/time", "2"),
            "/model/vocab: expected every token and every id once, got "
            "\"[SEP]\" with 2 and another");
  EXPECT_EQ(faultWith("/model/vocab/time", "-2"),
            "/model/vocab/time: expected an id, got -2");
  EXPECT_EQ(faultWith("/model/vocab/time", "4000000000"),
            "/model/vocab/time: expected an id below 16777216, got 4000000000");
  EXPECT_EQ(faultWith("/model/vocab/time", "{}"),
            "/model/vocab/time: expected an id, got an object");
  EXPECT_EQ(faultWith("/model/vocab", "[[\"a\", 0.5]]"),
            "/model/vocab: expected an object of tokens and ids");
  EXPECT_EQ(faultWith("/model/vocab", "[[\"a\", 0.5], [\"b\"]]"),
            "/model/vocab/1: expected a token and its score, got one");
  EXPECT_EQ(faultWith("/model/vocab", "null"),
            "/model/vocab: expected an object of tokens and ids");
  EXPECT_EQ(faultWith("/added_tokens/3/id", "14"),
            "/added_tokens/3/id: expected 12 (the id that tokenizers gives to "
            "\"<new>\"), got 14");
}

/// A list of scores has an id for each of its entries, and those of added
/// tokens are behind all of them.
TEST(ReadTokenizer, TextsOfScoresMayBeThereTwice) {
  const char *model = R"({"type": "Unigram", "unk_id": 0, "vocab": [["[UNK]",
      0], ["a", -1], ["a", -2]]})";
  EXPECT_EQ(faultWith("/model", model),
            "/added_tokens/1/id: expected 3 (the id that tokenizers gives to "
            "\"[CLS]\"), got 1");
}

TEST(ReadTokenizer, RefusesMergesOfWhatIsNoToken) {
  auto bpe = [](const char *merges) {
    return faultWith("/model", (R"({"type": "BPE", "vocab": {"a": 0, "b": 1,
        "ab": 2, "[UNK]": 3, "[CLS]": 4, "[SEP]": 5}, "merges": )" +
                                std::string(merges) + "}")
                                   .c_str());
  };
  // The added tokens have other ids here, which is the next fault.
  EXPECT_EQ(bpe("[[\"a\", \"b\"]]").substr(0, 14), "/added_tokens/");
  EXPECT_EQ(bpe("[\"a b\"]").substr(0, 14), "/added_tokens/");
  EXPECT_EQ(bpe("[[\"a\", \"c\"]]"),
            "/model: merge 0: expected tokens of the vocabulary, got \"c\"");
  EXPECT_EQ(bpe("[\"b a\"]"),
            "/model: merge 0: expected tokens of the vocabulary, got \"ba\"");
  EXPECT_EQ(bpe("[\"ab\"]"),
            "/model/merges/0: expected two tokens with a space "
            "between them, got \"ab\"");
  EXPECT_EQ(bpe("[[\"a\"]]"), "/model/merges/0: expected two tokens, got 1");
  EXPECT_EQ(bpe("[[\"a\", 1]]"), "/model/merges/0: expected tokens, got 1");
  EXPECT_EQ(bpe("null"),
            "/model/merges: expected a list of merges, got nothing");
}

TEST(ReadTokenizer, RefusesPatternsByTheirPlace) {
  EXPECT_EQ(
      faultWith("/pre_tokenizer",
                R"({"type": "Split", "pattern": {"Regex": "a("},
                          "behavior": "Isolated", "invert": false})"),
      "/pre_tokenizer/pattern/Regex: character 2 of the pattern: expected "
      "a closing parenthesis");
  EXPECT_EQ(faultWith("/pre_tokenizer",
                      R"({"type": "Split", "pattern": {"String": ""},
                          "behavior": "Isolated", "invert": false})"),
            "/pre_tokenizer/pattern/String: expected a text that is not empty, "
            "got \"\"");
  EXPECT_EQ(faultWith("/normalizer", R"({"type": "Precompiled",
                          "precompiled_charsmap": "AAAA"})"),
            "/normalizer/precompiled_charsmap: expected a map of characters "
            "with an array of a multiple of 4 bytes, got 0 of 3 bytes");
  EXPECT_NE(faultWith("/normalizer", R"({"type": "Precompiled",
                          "precompiled_charsmap": "A*A"})")
                .find("base64"),
            std::string::npos);
}

TEST(ReadTokenizer, RefusesJsonThatIsNone) {
  EXPECT_EQ(faultOf("{"), "expected JSON, got a syntax error at byte 2");
  EXPECT_EQ(faultOf("[]"), "/: expected an object, got an array");
  EXPECT_EQ(faultOf(R"({"version": "1.0", "version": "1.0"})"),
            "/version: expected one value, got two");
  std::string deep;
  for (int i = 0; i < 10000; ++i) {
    deep += "{\"a\":";
  }
  EXPECT_NE(faultOf(deep).find("expected at most 40 levels"),
            std::string::npos);
}

TEST(ReadTokenizer, NamesTheFile) {
  auto missing = readTokenizer("/nowhere/tokenizer.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, rt::Code::NotFound);
  auto folder = readTokenizer("/proc");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().message.substr(0, 6), "/proc:");
}

} // namespace
} // namespace tfc::text::test
