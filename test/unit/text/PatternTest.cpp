// The patterns of tokenizer files: what they match, which are refused, and that
// none takes for ever.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/Pattern.h"
#include "runtime/text/Utf8.h"

#include <gtest/gtest.h>

namespace tfc::text::test {
namespace {

/// The matches, with bars between them; what does not match is in brackets.
std::string cut(const std::string &pattern, const std::string &text) {
  auto parsed = Pattern::parse(pattern);
  if (!parsed) {
    return "error: " + parsed.error().message;
  }
  std::u32string characters = *decodeUtf8(text);
  Budget budget(text.size());
  auto found = parsed->find(characters, budget);
  if (!found) {
    return "error: " + found.error().message;
  }
  std::string out;
  for (const Match &match : *found) {
    std::string part =
        encodeUtf8(std::u32string_view(characters)
                       .substr(match.begin, match.end - match.begin));
    out += (out.empty() ? "" : "|") + (match.isMatch ? part : "[" + part + "]");
  }
  return out;
}

TEST(Pattern, TakesTheFirstAlternativeThatFits) {
  // A matcher that takes the longest gives other tokens.
  EXPECT_EQ(cut("a|ab|abc", "abc"), "a|[bc]");
  EXPECT_EQ(cut("(?:a|ab)c", "abc"), "abc");
  EXPECT_EQ(cut("x?", "ab"), "[a]||[b]|");
}

TEST(Pattern, RepeatsAsMuchOrAsLittle) {
  EXPECT_EQ(cut("a{2,3}", "aaaaaaa"), "aaa|aaa|[a]");
  EXPECT_EQ(cut("a{2,3}?", "aaaaa"), "aa|aa|[a]");
  EXPECT_EQ(cut("a{,2}b", "aaab"), "[a]|aab");
  EXPECT_EQ(cut("a{2}", "aaa"), "aa|[a]");
  EXPECT_EQ(cut("a{x", "a{x"), "a{x");
  EXPECT_EQ(cut("a++a", "aaa"), "[aaa]");
  EXPECT_EQ(cut("a*+b", "aab"), "aab");
  EXPECT_EQ(cut("(?:ab)+", "ababa"), "abab|[a]");
  EXPECT_EQ(cut("(?:ab)+?", "abab"), "ab|ab");
  EXPECT_EQ(cut("(?:a?)*b", "aab"), "aab");
  EXPECT_EQ(cut("(?>a|ab)c", "abc"), "[abc]");
}

TEST(Pattern, LooksAroundWithoutTaking) {
  EXPECT_EQ(cut("\\s+(?!\\S)|\\s+", "a   b"), "[a]|  | |[b]");
  EXPECT_EQ(cut("a(?=b)", "abac"), "a|[bac]");
  EXPECT_EQ(cut("(?<=a|bc)x", "axbcxcx"), "[a]|x|[bc]|x|[cx]");
  EXPECT_EQ(cut("(?<!\\d)x", "1xx"), "[1x]|x");
  EXPECT_EQ(cut("^a|b$", "ab\nab"), "a|b|[\n]|a|b");
  EXPECT_EQ(cut("\\Aa|b\\z", "ab\nab"), "a|[b\na]|b");
  EXPECT_EQ(cut("\\bx\\B", "xy x"), "x|[y x]");
}

TEST(Pattern, KnowsClasses) {
  EXPECT_EQ(cut("[^\\r\\n\\p{L}\\p{N}]?\\p{L}+", " na\xc3\xafve!x"),
            " na\xc3\xafve|!x");
  EXPECT_EQ(cut("[a-c&&[^b]]+", "abc"), "a|[b]|c");
  EXPECT_EQ(cut("[]x]+", "a]x"), "[a]|]x");
  EXPECT_EQ(cut("[a-]+", "a-b"), "a-|[b]");
  EXPECT_EQ(cut("\\p{^L}+", "a1!b"), "[a]|1!|[b]");
  EXPECT_EQ(cut("[\\x41\\x{e9}\\u4e2d]+", "A\xc3\xa9\xe4\xb8\xad"),
            "A\xc3\xa9\xe4\xb8\xad");
  EXPECT_EQ(cut("\\p{Han}+", "a\xe4\xb8\xad"), "[a]|\xe4\xb8\xad");
  EXPECT_EQ(cut(".+", "a\nb"), "a|[\n]|b");
}

TEST(Pattern, KnowsLongNamesAndPosixClasses) {
  EXPECT_EQ(cut("\\p{Letter}+|\\p{decimal number}", "ab1!"), "ab|1|[!]");
  EXPECT_EQ(cut("\\p{^UPPERCASE_LETTER}", "Ab"), "[A]|b");
  EXPECT_EQ(cut("[[:alpha:][:digit:]]+", "\u00e91-"), "\u00e91|[-]");
  EXPECT_EQ(cut("[[:^space:]]+", "a b"), "a|[ ]|b");
  EXPECT_EQ(cut("[^[:alnum:]]", "a_"), "[a]|_");
  // In brackets and as a property these are not the same.
  EXPECT_EQ(cut("[[:punct:]]", "+"), "+");
  EXPECT_EQ(cut("\\p{Punct}", "+"), "[+]");
  EXPECT_EQ(cut("\\w+", "m\u00b2"), "m\u00b2");
  EXPECT_EQ(cut("[\\w]+", "m\u00b2"), "m|[\u00b2]");
  EXPECT_EQ(cut("[\\W]+", "m\u00b2"), "[m]|\u00b2");
  EXPECT_EQ(cut("[[:graph:]]+", "a\u00ad\ue000 \U000e0080"),
            "a\u00ad\ue000|[ \U000e0080]");
}

TEST(Pattern, IgnoresCaseAsUnicodeDoes) {
  EXPECT_EQ(cut("(?i:'s|'K)", "'S'\xc5\xbf'k'\xe2\x84\xaa"),
            "'S|'\xc5\xbf|'k|'\xe2\x84\xaa");
  EXPECT_EQ(cut("(?i)a(?-i)b", "ABAb"), "[AB]|Ab");
  EXPECT_EQ(cut("(?:(?i)a)b", "AbAB"), "Ab|[AB]");
}

TEST(Pattern, RefusesWhatItCannotRead) {
  for (const char *pattern :
       {"(", ")", "a)", "[", "[a", "[b-a]", "*a", "a{3,2}", "\\",
        "(?:", "\\x{110000}", "a{1001}", "[[:foo:]]", "[[:alpha]"}) {
    auto parsed = Pattern::parse(pattern);
    ASSERT_FALSE(parsed) << pattern;
    EXPECT_EQ(parsed.error().code, rt::Code::InvalidArgument) << pattern;
  }
  for (const char *pattern :
       {"\\p{Foo}", "\\p{bert.mark}", "(?<name>a)", "\\1", "\\G", "\\X",
        "(?i:\xc3\xa9)", "(?i:straSSe)", "(?i:\\p{Lu})", "(?x: a)",
        "(?i:[[:upper:]])", "(?<=a*)b"}) {
    auto parsed = Pattern::parse(pattern);
    ASSERT_FALSE(parsed) << pattern;
    EXPECT_EQ(parsed.error().code, rt::Code::Unsupported)
        << pattern << ": " << parsed.error().message;
  }
}

TEST(Pattern, HasLimits) {
  // Exponential where every way is tried.
  EXPECT_EQ(cut("(?:a|a)*b", std::string(2000, 'a')).substr(0, 6), "error:");
  EXPECT_EQ(cut("(?:a*)*b", std::string(20000, 'a')).substr(0, 6), "error:");
  std::string deep;
  for (int i = 0; i < 1000; ++i) {
    deep += '(';
  }
  EXPECT_FALSE(Pattern::parse(deep));
  EXPECT_FALSE(Pattern::parse(std::string(1000, '[')));
  EXPECT_FALSE(Pattern::parse("((((a{900}b){900}c){900}d){900}e){900}"));
  EXPECT_FALSE(Pattern::parse("a" + std::string(100000, '+')));
}

} // namespace
} // namespace tfc::text::test
