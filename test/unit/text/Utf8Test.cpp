// UTF-8: what is refused, and what becomes of bytes that a model writes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/Utf8.h"

#include <gtest/gtest.h>

namespace tfc::text::test {
namespace {

TEST(Utf8, RefusesWhatIsNotAndSaysWhere) {
  EXPECT_EQ(*decodeUtf8("a\xc3\xa9\xf0\x9f\x99\x82"), U"a\u00e9\U0001f642");
  for (const char *wrong : {"\x80", "\xc3", "\xc3z", "\xc0\xaf", "\xe0\x80\xaf",
                            "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"}) {
    auto text = decodeUtf8(std::string("ok") + wrong);
    ASSERT_FALSE(text) << rt::quoteName(wrong);
    EXPECT_EQ(text.error().code, rt::Code::InvalidArgument);
    EXPECT_NE(text.error().message.find("at byte 2"), std::string::npos)
        << text.error().message;
  }
}

TEST(Utf8, ReplacesWrongSequencesAsLongAsTheyBeginOne) {
  auto lossy = [](std::string_view bytes) {
    std::string out;
    EXPECT_EQ(appendLossy(bytes, true, out), bytes.size());
    return out;
  };
  const std::string mark = "\xef\xbf\xbd";
  EXPECT_EQ(lossy("a\xffz"), "a" + mark + "z");
  EXPECT_EQ(lossy("\xe4\xb8z"), mark + "z");
  EXPECT_EQ(lossy("\xf0\x9f\x99"), mark);
  EXPECT_EQ(lossy("\xed\xa0\x80"), mark + mark + mark);
  EXPECT_EQ(lossy("\xc3\xc3\xa9"), mark + "\xc3\xa9");
}

TEST(Utf8, LeavesWhatMayBecomeACharacter) {
  std::string out;
  EXPECT_EQ(appendLossy("a\xe4\xb8", false, out), 1U);
  EXPECT_EQ(out, "a");
  EXPECT_EQ(appendLossy("\xe4\xb8\xad", false, out), 3U);
  EXPECT_EQ(out, "a\xe4\xb8\xad");
  // What can become none is not waited for.
  EXPECT_EQ(appendLossy("\xff", false, out), 1U);
}

} // namespace
} // namespace tfc::text::test
