// What normalizers do to a text, and where its characters say they were.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/Normalizers.h"
#include "runtime/text/Utf8.h"

#include <gtest/gtest.h>

namespace tfc::text::test {
namespace {

TracedText trace(const std::u32string &text) {
  TracedText traced;
  for (uint32_t i = 0; i < text.size(); ++i) {
    traced.push(text[i], {i, i + 1});
  }
  return traced;
}

/// "text 0-1 1-2".
std::string changed(const NormalizerPtr &normalizer,
                    const std::u32string &text) {
  TracedText traced = trace(text);
  Budget budget(text.size());
  EXPECT_TRUE(normalizer->apply(traced, budget));
  std::string out = encodeUtf8(traced.chars);
  for (Span origin : traced.origins) {
    out +=
        " " + std::to_string(origin.begin) + "-" + std::to_string(origin.end);
  }
  return out;
}

TEST(Normalizers, ComposeAndDecompose) {
  EXPECT_EQ(changed(makeNormalForm(NormalForm::Nfc), U"e\u0301a"),
            "\u00e9a 0-1 2-3");
  EXPECT_EQ(changed(makeNormalForm(NormalForm::Nfd), U"\u00e9a"),
            "e\u0301a 0-1 0-1 1-2");
  EXPECT_EQ(changed(makeNormalForm(NormalForm::Nfkc), U"\ufb01\u2460"),
            "fi1 0-1 0-1 1-2");
  // Hangul is computed.
  EXPECT_EQ(changed(makeNormalForm(NormalForm::Nfd), U"\uac01"),
            "\u1100\u1161\u11a8 0-1 0-1 0-1");
  EXPECT_EQ(changed(makeNormalForm(NormalForm::Nfc), U"\u1100\u1161\u11a8"),
            "\uac01 0-1");
  // Marks get into order, and one that is blocked is not composed.
  EXPECT_EQ(changed(makeNormalForm(NormalForm::Nfd), U"a\u0345\u0301"),
            "a\u0301\u0345 0-1 1-2 2-3");
  EXPECT_EQ(changed(makeNormalForm(NormalForm::Nfc), U"a\u0301\u0301"),
            "\u00e1\u0301 0-1 2-3");
}

TEST(Normalizers, ChangeCaseAndDropMarks) {
  EXPECT_EQ(changed(makeLowercase(), U"A\u0130B"), "ai\u0307b 0-1 1-2 1-2 2-3");
  EXPECT_EQ(changed(makeStripAccents(), U"e\u0301x"), "ex 0-1 2-3");
  EXPECT_EQ(changed(makeStrip(true, false), U" \u3000a "), "a  2-3 3-4");
  EXPECT_EQ(changed(makeStrip(true, true), U"   "), "");
}

TEST(Normalizers, PutTextInAndReplaceIt) {
  EXPECT_EQ(changed(makePrepend(U"__"), U"ab"), "__ab 0-1 0-1 0-1 1-2");
  EXPECT_EQ(changed(makePrepend(U"_"), U""), "");
  // What replaces a match is where its last character was.
  EXPECT_EQ(changed(makeReplace(Pattern::literal(U"ab"), U"xyz"), U"cabd"),
            "cxyzd 0-1 2-3 2-3 2-3 3-4");
  EXPECT_EQ(changed(makeReplace(*Pattern::parse(" {2,}"), U" "), U"a   b"),
            "a b 0-1 3-4 4-5");
}

TEST(Normalizers, BertSpacesChineseAndDropsControls) {
  BertOptions all;
  EXPECT_EQ(changed(makeBert(all), U"\u4e2d\u00c9\x01\tx"),
            " \u4e2d e x 0-1 0-1 0-1 1-2 3-4 4-5");
  BertOptions cased;
  cased.lowercase = cased.stripAccents = false;
  EXPECT_EQ(changed(makeBert(cased), U"\u00c9"), "\u00c9 0-1");
}

TEST(Normalizers, PatternsThatTakeTooLongAreAnError) {
  TracedText text = trace(std::u32string(3000, U'a'));
  auto normalizer = makeReplace(*Pattern::parse("(?:a|a)*b"), U"");
  Budget budget(text.size());
  rt::Status status = normalizer->apply(text, budget);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, rt::Code::Exhausted);
}

} // namespace
} // namespace tfc::text::test
