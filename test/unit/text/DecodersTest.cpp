// Tokens become text as they come: when what is shown, and that nothing is lost
// or shown twice.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/DecodeStream.h"
#include "runtime/text/ReadTokenizer.h"

#include <gtest/gtest.h>

namespace tfc::text::test {
namespace {

using Texts = std::vector<std::string>;

/// What a decoder shows with each token, and at the end.
Texts show(const DecoderPtr &decoder, const Texts &tokens,
           bool isWhole = false) {
  DecoderStagePtr stage = decoder->start(isWhole);
  Texts shown;
  auto sink = [&](const TextPart &part) { shown.back() += part.text; };
  for (const std::string &token : tokens) {
    shown.emplace_back();
    stage->push({token}, sink);
  }
  shown.emplace_back();
  stage->finish(sink);
  return shown;
}

TEST(Decoders, ByteLevelWaitsForWholeCharacters) {
  // The bytes of U+4E2D, of which the vocabulary shows others.
  EXPECT_EQ(show(makeByteLevelDecoder(), {"a", "\u00e4", "\u00b8", "\u0143b"}),
            (Texts{"a", "", "",
                   "\xe4\xb8\xad"
                   "b",
                   ""}));
  // What can be no character is not waited for.
  EXPECT_EQ(show(makeByteLevelDecoder(), {"\u00ff", "\u00e4"}),
            (Texts{"\xef\xbf\xbd", "", "\xef\xbf\xbd"}));
  // A token that is no bytes is text.
  EXPECT_EQ(show(makeByteLevelDecoder(), {"\u4e2d a"}),
            (Texts{"\xe4\xb8\xad a", ""}));
}

TEST(Decoders, BytesThatAreNoTextAreReplacedEach) {
  EXPECT_EQ(show(makeByteFallbackDecoder(), {"<0xC3>", "<0xA9>", "a"}),
            (Texts{"", "\xc3\xa9", "a", ""}));
  Texts wrong = {"<0x41>", "<0xFF>", "a"};
  EXPECT_EQ(show(makeByteFallbackDecoder(), wrong, true),
            (Texts{"", "",
                   "\xef\xbf\xbd\xef\xbf\xbd"
                   "a",
                   ""}));
  // A stream has shown the first already.
  EXPECT_EQ(show(makeByteFallbackDecoder(), wrong),
            (Texts{"A", "\xef\xbf\xbd", "a", ""}));
  // All that stand beside a wrong one, before it and behind.
  Texts more = {"<0xE2>", "<0x96>", "<0x41>", "<0x42>", "a", "<0x41>"};
  EXPECT_EQ(show(makeByteFallbackDecoder(), more),
            (Texts{"", "", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
                   "\xef\xbf\xbd", "a", "A", ""}));
  EXPECT_EQ(show(makeByteFallbackDecoder(), {"<0x4G>", "<0xC3>"}),
            (Texts{"<0x4G>", "", "\xef\xbf\xbd"}));
}

TEST(Decoders, BytesAreHeldBeforeWhatLooksAtTokens) {
  auto streamed = [](const char *next) {
    // The bytes of two characters.
    std::string vocabulary = R"("<0xE7>": 0, "<0xAE>": 1, "<0x97>": 2, )"
                             R"("<0xE8>": 3, "<0xA1>": 4, "<0x93>": 5)";
    auto tokenizer = parseTokenizer(rt::concat(
        R"({"model": {"type": "WordLevel", "unk_token": "u", )",
        R"("vocab": {)", vocabulary, R"(}}, "decoder": {"type": )",
        R"("Sequence", "decoders": [{"type": "ByteFallback"}, )", next, "]}}"));
    EXPECT_TRUE(tokenizer) << tokenizer.error().message;
    DecodeStream stream(**tokenizer, false);
    Texts shown;
    for (uint32_t id = 0; id < 6; ++id) {
      shown.push_back(*stream.push(id));
    }
    shown.push_back(*stream.finish());
    return shown;
  };
  EXPECT_EQ(streamed(R"({"type": "Fuse"})"),
            (Texts{"", "", "\u7b97", "", "", "\u8853", ""}));
  EXPECT_EQ(
      streamed(R"({"type": "WordPiece", "prefix": "##", "cleanup": false})"),
      (Texts{"", "", "", "", "", "", "\u7b97\u8853"}));
}

TEST(Decoders, WordPieceJoinsAndCleansUp) {
  EXPECT_EQ(show(makeWordPieceDecoder("##", true), {"fl", "##ies", ".", "##x"}),
            (Texts{"fl", "ies", ".", "x", ""}));
  EXPECT_EQ(show(makeWordPieceDecoder("##", false), {"##a", ".", "b"}),
            (Texts{"##a", " .", " b", ""}));
}

TEST(Decoders, MetaspaceDropsWhatWasPutBefore) {
  EXPECT_EQ(show(makeMetaspaceDecoder(U'_', true), {"_a", "_b_", "c"}),
            (Texts{"a", " b ", "c", ""}));
  EXPECT_EQ(show(makeMetaspaceDecoder(U'_', false), {"_a"}), (Texts{" a", ""}));
}

TEST(Decoders, StripsAtBothEnds) {
  EXPECT_EQ(show(makeStripDecoder(U' ', 1, 0), {"  a ", " b"}),
            (Texts{" a ", "b", ""}));
  EXPECT_EQ(show(makeStripDecoder(U'x', 2, 1), {"xxxaxx", "x", ""}),
            (Texts{"xax", "", "", ""}));
}

TEST(Decoders, WaitWhereTheNextTokenDecides) {
  EXPECT_EQ(show(makeBpeDecoder("</w>"), {"a</w>", "b", "c</w>"}),
            (Texts{"", "a ", "b", "c"}));
  EXPECT_EQ(show(makeReplaceDecoder("ab", "c"), {"aab", "b"}),
            (Texts{"ac", "b", ""}));
  EXPECT_EQ(show(makeJoinDecoder(), {"a", "b"}), (Texts{"a", " b", ""}));
  EXPECT_EQ(show(makeFuseDecoder(), {"a", "b"}), (Texts{"a", "b", ""}));
}

TEST(Decoders, ReplaceAllGoesFromLeftToRight) {
  auto replaced = [](std::string text, const char *from, const char *to) {
    replaceAll(text, LiteralFinder<char>(from), to);
    return text;
  };
  EXPECT_EQ(replaced("aaa", "aa", "b"), "ba");
  EXPECT_EQ(replaced("abc", "", "x"), "abc");
  EXPECT_EQ(replaced("a.b.", ".", ""), "ab");
}

} // namespace
} // namespace tfc::text::test
