// The tokens of texts and pairs: templates, truncation, special tokens that are
// wanted or not.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/ParseScore.h"
#include "runtime/text/ReadTokenizer.h"
#include "test/unit/text/SmallTokenizer.h"

#include <gtest/gtest.h>

namespace tfc::text::test {
namespace {

using Ids = std::vector<uint32_t>;

class SmallTokenizer : public ::testing::Test {
protected:
  void SetUp() override {
    auto read = parseTokenizer(smallTokenizer().dump());
    ASSERT_TRUE(read) << read.error().message;
    tokenizer = std::move(*read);
  }

  /// The ids; an error has none.
  Ids ids(std::string_view text, std::optional<std::string_view> pair = {}) {
    auto tokens = tokenizer->encode(text, pair, options);
    message = tokens ? "" : tokens.error().message;
    Ids out;
    for (size_t i = 0; tokens && i < tokens->size(); ++i) {
      out.push_back((*tokens)[i].id);
    }
    return out;
  }

  std::unique_ptr<Tokenizer> tokenizer;
  EncodeOptions options;
  std::string message;
};

TEST_F(SmallTokenizer, GivesTokensTypesAndPlaces) {
  auto tokens = tokenizer->encode("Time fli\u00e9s", "an", options);
  ASSERT_TRUE(tokens);
  std::string all;
  for (const Token &token : *tokens) {
    all += rt::concat(token.id, ":", token.type, ":", token.sequence, ":",
                      token.origin.begin, "-", token.origin.end, " ");
  }
  // The accent goes; the place is that of the text with it.
  EXPECT_EQ(all, "1:0:-1:0-0 3:0:0:0-4 4:0:0:5-7 5:0:0:7-10 2:0:-1:0-0 "
                 "7:1:1:0-2 2:1:-1:0-0 ");
}

TEST_F(SmallTokenizer, KnowsWordsWithoutTokens) {
  EXPECT_EQ(ids("time zzz."), (Ids{1, 3, 0, 9, 2}));
  EXPECT_EQ(ids(std::string(21, 'e')), (Ids{1, 0, 2}));
  EXPECT_EQ(ids(""), (Ids{1, 2}));
}

TEST_F(SmallTokenizer, FindsAddedTokens) {
  EXPECT_EQ(ids("time[SEP]<NEW>an"), (Ids{1, 3, 2, 12, 7, 2}));
  options.specialAsText = true;
  EXPECT_EQ(ids("[SEP] <new>"), (Ids{1, 0, 0, 0, 12, 2}));
  options.addSpecial = false;
  EXPECT_EQ(ids("time"), (Ids{3}));
  EXPECT_EQ(ids("time", "an"), (Ids{3, 7}));
}

/// A file of one model and other parts: "id:begin-end ..." of a text.
std::string show(const nlohmann::json &parts, std::string_view text) {
  nlohmann::json file = {
      {"model",
       {{"type", "WordLevel"}, {"unk_token", "u"}, {"vocab", {{"u", 0}}}}}};
  file.update(parts);
  auto tokenizer = parseTokenizer(file.dump());
  auto tokens = tokenizer ? (*tokenizer)->encode(text, {}, {})
                          : rt::Result<Tokens>(tokenizer.error());
  std::string out = tokens ? "" : tokens.error().message;
  for (size_t i = 0; tokens && i < tokens->size(); ++i) {
    const Token &token = (*tokens)[i];
    out += rt::concat(i ? " " : "", token.id, ":", token.origin.begin, "-",
                      token.origin.end);
  }
  return out;
}

nlohmann::json added(uint32_t id, const char *text, bool left, bool right) {
  return {{"id", id},
          {"content", text},
          {"special", true},
          {"lstrip", left},
          {"rstrip", right}};
}

TEST(AddedTokens, TakeNoSpacesThatAnotherOneTook) {
  auto cut = [](const nlohmann::json &last, const char *text) {
    return show({{"added_tokens", {added(1, "<x>", false, true), last}}}, text);
  };
  nlohmann::json left = added(2, "\n\n", true, false);
  EXPECT_EQ(cut(left, "<x>\n\nab"), "1:0-5 0:5-7");
  EXPECT_EQ(cut(left, "<x>\n\n\nab"), "1:0-6 0:6-8");
  EXPECT_EQ(cut(added(2, " y", true, false), "<x> y"), "1:0-4 2:4-5");
  EXPECT_EQ(
      show({{"added_tokens", {added(1, "\n\n", true, true)}}}, "a\n\n\n\nb"),
      "0:0-1 1:1-5 0:5-6");
  // One that takes nothing beside it is there as well.
  EXPECT_EQ(cut(added(2, "\n\n", false, false), "<x>\n\n\nab"),
            "1:0-6 2:3-5 0:5-8");
}

TEST(AddedTokens, AreSkippedByWhatTheyShow) {
  nlohmann::json spaces = {{"id", 1}, {"content", "  "}, {"special", true}};
  nlohmann::json lines = {{"id", 2}, {"content", "\n\n"}, {"special", false}};
  nlohmann::json replace = {
      {"type", "Replace"}, {"pattern", {{"String", "\n"}}}, {"content", " "}};
  nlohmann::json file = {
      {"added_tokens", {spaces, lines}},
      {"normalizer", replace},
      {"model",
       {{"type", "WordLevel"}, {"unk_token", "u"}, {"vocab", {{"u", 0}}}}}};
  auto tokenizer = parseTokenizer(file.dump());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_TRUE((*tokenizer)->isSpecial(1));
  // Not special itself, but normalized it is the other one's text.
  EXPECT_TRUE((*tokenizer)->isSpecial(2));
  EXPECT_EQ(*(*tokenizer)->decode({2}, true), "");
}

TEST(Offsets, AreTrimmedByTheTextOfTheToken) {
  nlohmann::json trims = {{"type", "ByteLevel"},
                          {"add_prefix_space", false},
                          {"trim_offsets", true},
                          {"use_regex", true}};
  // By every processor that does.
  nlohmann::json both = {{"type", "Sequence"}, {"processors", {trims, trims}}};
  nlohmann::json last = {{"added_tokens", {added(1, "a  ", false, false)}}};
  last["post_processor"] = both;
  EXPECT_EQ(show(last, "ba  "), "0:0-1 1:1-1");
  last["post_processor"] = trims;
  EXPECT_EQ(show(last, "ba  "), "0:0-1 1:1-2");
  // Unknown: a token without spaces. Of Unigram it is what stands there.
  EXPECT_EQ(show({{"post_processor", trims}}, " a "), "0:0-3");
  nlohmann::json scores = {
      {"type", "Unigram"},
      {"unk_id", 0},
      {"vocab", nlohmann::json::array({nlohmann::json::array({"u", 0.0})})}};
  EXPECT_EQ(show({{"post_processor", trims}, {"model", scores}}, " a "),
            "0:1-2");
  nlohmann::json words = {{"type", "WordLevel"},
                          {"unk_token", "u"},
                          {"vocab", {{"u", 0}, {" a ", 1}}}};
  EXPECT_EQ(show({{"post_processor", trims}, {"model", words}}, " a "),
            "1:1-2");
}

TEST(Unigram, ScoresAreThoseThatTokenizersReads) {
  // Read to the nearest double, the first way is as good and comes first.
  std::string file =
      R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": [["u", -20.0],
        ["p", -7.231812103833013], ["x", -10.447511137208942],
        ["xx", -13.716149145528973]]}})";
  auto tokenizer = parseTokenizer(file);
  ASSERT_TRUE(tokenizer);
  auto tokens = (*tokenizer)->encode("pxxx", {}, {});
  ASSERT_TRUE(tokens);
  ASSERT_EQ(tokens->size(), 3U);
  EXPECT_EQ((*tokens)[1].id, 3U);
}

TEST(Unigram, ReadsNumbersInOneProduct) {
  EXPECT_EQ(parseScore("-10.447511137208942"), -10447511137208942 / 1e15);
  EXPECT_EQ(parseScore("-0.0"), 0);
  EXPECT_EQ(parseScore("1.5e3"), 1500);
  EXPECT_EQ(parseScore("25E-1"), 2.5);
  EXPECT_EQ(parseScore("123456789012345678901234567890.5"),
            static_cast<double>(12345678901234567890U) * 1e10);
  EXPECT_EQ(parseScore("0.1000000000000000000000001"),
            1000000000000000000U / 1e19);
  EXPECT_EQ(parseScore("5e-320"), 5 / 1e308 / 1e12);
  EXPECT_EQ(parseScore("1e-99999999999"), 0);
}

TEST_F(SmallTokenizer, CutsWhatIsTooLong) {
  options.truncation.maxTokens = 5;
  EXPECT_EQ(ids("time flies like an arrow"), (Ids{1, 3, 4, 5, 2}));
  options.truncation.fromLeft = true;
  EXPECT_EQ(ids("time flies like an arrow"), (Ids{1, 6, 7, 8, 2}));
  options.truncation = {7, TruncateWhat::Longest, false};
  EXPECT_EQ(ids("time flies like an", "an"), (Ids{1, 3, 4, 5, 2, 7, 2}));
  EXPECT_EQ(ids("time flies", "an an an an"), (Ids{1, 3, 4, 2, 7, 7, 2}));
  options.truncation = {6, TruncateWhat::First, false};
  EXPECT_EQ(ids("time flies", "an an"), (Ids{1, 3, 2, 7, 7, 2}));
  options.truncation = {6, TruncateWhat::Second, false};
  EXPECT_EQ(ids("time like", "an an"), (Ids{1, 3, 6, 2, 7, 2}));
}

TEST_F(SmallTokenizer, RefusesLimitsThatCannotHold) {
  options.truncation.maxTokens = 1;
  EXPECT_EQ(ids("time"), Ids());
  EXPECT_EQ(message,
            "expected a limit of 2 tokens or more (there are 2 special "
            "ones, and 0 that are not to be cut), got 1");
  options.truncation = {4, TruncateWhat::First, false};
  EXPECT_EQ(ids("time", "an an"), Ids());
  EXPECT_NE(message, "");
  options.truncation = {2, TruncateWhat::Second, false};
  EXPECT_EQ(ids("time like"), Ids());
  EXPECT_NE(message.find("second text"), std::string::npos) << message;
}

TEST_F(SmallTokenizer, RefusesWhatIsNoText) {
  EXPECT_EQ(ids("time \xff"), Ids());
  EXPECT_EQ(message, "expected UTF-8, got the byte 255 at byte 5");
  EXPECT_EQ(ids("time", "\xc3"), Ids());
  EXPECT_NE(message, "");
}

TEST_F(SmallTokenizer, KnowsItsTokens) {
  EXPECT_EQ(tokenizer->limit(), 13U);
  EXPECT_EQ(*tokenizer->token(5), "##ies");
  EXPECT_EQ(*tokenizer->token(12), "<new>");
  EXPECT_EQ(tokenizer->token(13), nullptr);
  EXPECT_EQ(tokenizer->find("arrow"), 8U);
  EXPECT_EQ(tokenizer->find("<new>"), 12U);
  EXPECT_EQ(tokenizer->find("none"), Vocabulary::none);
  EXPECT_TRUE(tokenizer->isSpecial(1));
  EXPECT_FALSE(tokenizer->isSpecial(12));
  EXPECT_EQ(*tokenizer->decode({1, 3, 4, 5, 9, 99, 2}, true), "time flies.");
  EXPECT_EQ(*tokenizer->decode({1, 3}, false), "[CLS] time");
}

} // namespace
} // namespace tfc::text::test
