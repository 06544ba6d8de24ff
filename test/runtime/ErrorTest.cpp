// What errors say of many faults and of strange names.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Error.h"

#include <gtest/gtest.h>

namespace tfc::rt::test {
namespace {

std::string repeat(const std::string &text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

TEST(QuoteName, EscapesWhatActsOnATerminal) {
  auto quote = [](const std::string &text) { return quoteName(text); };
  EXPECT_EQ(quote("plain {i} \xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82"),
            "\"plain {i} \xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82\"");
  EXPECT_EQ(quote("\x1b[2J\n\x7f"), "\"\\x1b[2J\\x0a\\x7f\"");
  // C1, U+009B; U+00A0 is only a space.
  EXPECT_EQ(quote("\xc2\x9b\xc2\xa0"), "\"\\xc2\\x9b\xc2\xa0\"");
  // Marks of direction, and ends of lines and paragraphs.
  for (const char *mark : {"\xd8\x9c", "\xe2\x80\x8e", "\xe2\x80\x8f",
                           "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaa",
                           "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9"}) {
    EXPECT_EQ(quote(mark).find(mark), std::string::npos) << quote(mark);
    EXPECT_EQ(quote(mark).substr(0, 3), "\"\\x");
  }
  // No UTF-8: alone, cut short, longer than need be, half a pair, too large.
  EXPECT_EQ(quote("\x80"), "\"\\x80\"");
  EXPECT_EQ(quote("\xc3"), "\"\\xc3\"");
  EXPECT_EQ(quote("\xc3z"), "\"\\xc3z\"");
  EXPECT_EQ(quote("\xc0\xaf"), "\"\\xc0\\xaf\"");
  EXPECT_EQ(quote("\xe0\x80\xaf"), "\"\\xe0\\x80\\xaf\"");
  EXPECT_EQ(quote("\xed\xa0\x80"), "\"\\xed\\xa0\\x80\"");
  EXPECT_EQ(quote("\xf4\x90\x80\x80"), "\"\\xf4\\x90\\x80\\x80\"");
  EXPECT_EQ(quote("\xff"), "\"\\xff\"");
}

TEST(QuoteName, CutsBetweenCharacters) {
  std::string character = "\xc3\xa9";
  EXPECT_EQ(quoteName("a" + repeat(character, 150)),
            "\"a" + repeat(character, 100) + "...\"");
  EXPECT_EQ(quoteName(repeat(character, 150)),
            "\"" + repeat(character, 100) + "...\"");
  EXPECT_EQ(quoteName(std::string(200, 'a')),
            "\"" + std::string(200, 'a') + "\"");
  EXPECT_EQ(quoteName(std::string(201, 'a')),
            "\"" + std::string(200, 'a') + "...\"");
}

TEST(Faults, CountWhatIsMoreThanAScreenful) {
  Faults faults;
  std::string expected;
  for (int i = 0; i < 50; ++i) {
    faults.add(makeError(Code::NotFound, "fault ", i));
    expected += concat(i ? "\n" : "", "fault ", i);
  }
  Faults more = faults;
  Status status = faults.take();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, expected);
  EXPECT_EQ(status.error().code, Code::NotFound);
  // Of faults of several lines some may be seen.
  more.add(makeError(Code::Internal, "one\ntwo\nthree"));
  for (int i = 0; i < 100000; ++i) {
    more.add(makeError(Code::Internal, "another"));
  }
  status = more.take();
  EXPECT_EQ(status.error().message, expected + "\nand 100003 more");
  EXPECT_EQ(status.error().code, Code::NotFound);
  Faults lines;
  for (int i = 0; i < 17; ++i) {
    lines.add(makeError(Code::Internal, "a\nb\nc"));
  }
  EXPECT_EQ(lines.take().error().message,
            repeat("a\nb\nc\n", 16) + "a\nb\nand 1 more");
  EXPECT_TRUE(Faults().take());
}

} // namespace
} // namespace tfc::rt::test
