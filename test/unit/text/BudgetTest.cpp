// What a file may ask of a text: hostile ones get an error, honest ones an
// answer, and the caller is asked meanwhile.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/DecodeStream.h"
#include "runtime/text/ReadTokenizer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tfc::text::test {
namespace {

using nlohmann::json;
using TokenizerPtr = std::unique_ptr<Tokenizer>;

TokenizerPtr make(const json &parts) {
  json file = {{"model",
                {{"type", "WordLevel"},
                 {"unk_token", "u"},
                 {"vocab", {{"u", 0}, {"a", 1}}}}}};
  file.update(parts);
  auto tokenizer = parseTokenizer(file.dump());
  EXPECT_TRUE(tokenizer) << tokenizer.error().message;
  return std::move(*tokenizer);
}

json split(const char *pattern) {
  return {{"type", "Split"},
          {"pattern", {{"Regex", pattern}}},
          {"behavior", "Isolated"},
          {"invert", false}};
}

json wordPiece(const json &vocabulary) {
  return {{"type", "WordPiece"},
          {"unk_token", "u"},
          {"continuing_subword_prefix", "##"},
          {"max_input_chars_per_word", 1U << 31},
          {"vocab", vocabulary}};
}

json unigram(const json &vocabulary) {
  return {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocabulary}};
}

/// The number of tokens, or the error's code below zero.
int64_t count(const TokenizerPtr &tokenizer, const std::string &text,
              StopCheck shouldStop = {}) {
  EncodeOptions options;
  options.shouldStop = std::move(shouldStop);
  auto tokens = tokenizer->encode(text, {}, options);
  return tokens ? static_cast<int64_t>(tokens->size())
                : -static_cast<int64_t>(tokens.error().code);
}

constexpr auto exhausted = -static_cast<int64_t>(rt::Code::Exhausted);
constexpr auto cancelled = -static_cast<int64_t>(rt::Code::Cancelled);

std::string repeat(const std::string &text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) {
    out += text;
  }
  return out;
}

TEST(Budget, AddedTokensTakeNoLongerForTextsThatAreAlike) {
  std::string many(1 << 20, 'a');
  auto token = [](const std::string &text) {
    return json{{"id", 2}, {"content", text}, {"special", true}};
  };
  EXPECT_EQ(count(make({{"added_tokens", {token(many.substr(0, 2000) + "b")}}}),
                  many),
            1);
  EXPECT_EQ(count(make({{"added_tokens", {token(many)}}}), many + many), 2);
}

TEST(Budget, LongWordsAreLinearAndLongPiecesEnd) {
  std::string many(1 << 20, 'a'), fewer(100000, 'a');
  std::string piece = std::string(20000, 'a') + "b";
  auto pieces = make({{"model", wordPiece({{"u", 0}, {"a", 1}, {"##a", 2}})}});
  EXPECT_EQ(count(pieces, many), 1 << 20);
  json vocabulary = {{"u", 0}, {"a", 1}, {"##a", 2}};
  vocabulary["##" + piece] = 3;
  EXPECT_EQ(count(make({{"model", wordPiece(vocabulary)}}), fewer), exhausted);
  vocabulary = json::array();
  for (const std::string &text : {std::string("u"), std::string("a"), piece}) {
    vocabulary.push_back(json::array({text, -1.5}));
  }
  pieces = make({{"model", unigram(vocabulary)}});
  EXPECT_EQ(count(pieces, fewer), exhausted);
  EXPECT_EQ(count(pieces, "aaa"), 3);
}

TEST(Budget, IsOneForAllWords) {
  // Each of them is far from the limit.
  json cuts = {{"type", "Sequence"},
               {"pretokenizers", {split(" "), split("(?:a|a)*b")}}};
  auto tokenizer = make({{"pre_tokenizer", cuts}});
  std::string word = std::string(13, 'a') + " ";
  EXPECT_GT(count(tokenizer, word), 0);
  EXPECT_EQ(count(tokenizer, repeat(word, 2000)), exhausted);
}

TEST(Budget, EndsOfRunsAreLookedForOnce) {
  std::string text = repeat(std::string(1000, ' ') + "a", 1000);
  EXPECT_EQ(count(make({{"pre_tokenizer", split("\\s+$")}}), text), 1);
  EXPECT_EQ(count(make({{"pre_tokenizer", split("x|\\s+?\\z")}}), text + " "),
            2);
  EXPECT_EQ(
      count(make({{"pre_tokenizer", split("(a+)+b")}}), std::string(5000, 'a')),
      exhausted);
}

TEST(Budget, TheCallerIsAsked) {
  std::string many(1 << 20, 'a');
  size_t asked = 0;
  auto stop = [&asked] { return ++asked == 2; };
  EXPECT_EQ(count(make({{"pre_tokenizer", split("a")}}), many, stop),
            cancelled);
  EXPECT_EQ(asked, 2U);
  // In one word, and between normalizers.
  asked = 0;
  json pairs = {
      {"type", "BPE"}, {"vocab", {{"a", 0}, {"aa", 1}}}, {"merges", {"a a"}}};
  EXPECT_EQ(count(make({{"model", pairs}}), many, stop), cancelled);
  asked = 0;
  json normalizer = {{"type", "Sequence"},
                     {"normalizers", {{{"type", "NFC"}}, {{"type", "NFD"}}}}};
  EXPECT_EQ(count(make({{"normalizer", normalizer}}), many, stop), cancelled);
  asked = 0;
  EXPECT_EQ(count(make(json::object()), "a", stop), 1);
  EXPECT_EQ(asked, 0U);
}

TEST(Budget, DecodersDoNotGrowATextForEver) {
  json grow = {{"type", "Replace"},
               {"pattern", {{"String", "a"}}},
               {"content", std::string(1000, 'a')}};
  auto tokenizer = make(
      {{"decoder", {{"type", "Sequence"}, {"decoders", {grow, grow, grow}}}}});
  auto text = tokenizer->decode({1}, false);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, rt::Code::Exhausted);
  DecodeStream stream(*tokenizer, false);
  ASSERT_FALSE(stream.push(1));
  // Token by token, too.
  tokenizer =
      make({{"decoder", {{"type", "Sequence"}, {"decoders", {grow, grow}}}}});
  DecodeStream slower(*tokenizer, false);
  bool hasEnded = false;
  for (int i = 0; i < 100 && !hasEnded; ++i) {
    hasEnded = !slower.push(1);
  }
  EXPECT_TRUE(hasEnded);
  slower.restart();
  EXPECT_EQ(slower.push(1)->size(), 1000000U);
}

} // namespace
} // namespace tfc::text::test
