// Many texts in one, against trying all of them at every place; and that it
// takes no longer when they are made to be alike.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/AhoCorasick.h"
#include "runtime/text/LiteralFinder.h"

#include <gtest/gtest.h>
#include <random>

namespace tfc::text::test {
namespace {

using Places = std::vector<std::pair<size_t, uint32_t>>;

Places findAll(const std::vector<std::u32string> &texts,
               std::u32string_view in) {
  std::vector<AhoCorasick::Entry> entries;
  for (uint32_t i = 0; i < texts.size(); ++i) {
    entries.push_back({texts[i], i});
  }
  Places places;
  AhoCorasick(std::move(entries)).findAll(in, [&](size_t at, uint32_t value) {
    places.emplace_back(at, value);
  });
  return places;
}

/// The longest text at every place, the first of equal ones.
Places tryAll(const std::vector<std::u32string> &texts,
              std::u32string_view in) {
  Places places;
  for (size_t at = in.size(); at-- > 0;) {
    uint32_t best = 0;
    bool isFound = false;
    for (uint32_t i = 0; i < texts.size(); ++i) {
      bool isHere = !texts[i].empty() &&
                    in.substr(at, texts[i].size()) == texts[i] &&
                    (!isFound || texts[i].size() > texts[best].size());
      best = isHere ? i : best;
      isFound |= isHere;
    }
    if (isFound) {
      places.emplace_back(at, best);
    }
  }
  return places;
}

std::u32string draw(std::mt19937 &random, size_t most) {
  // Few letters, one of them beyond the table of the first node.
  static const char32_t letters[] = U"aab\u4e2d";
  std::u32string text;
  for (size_t length = random() % (most + 1); text.size() < length;) {
    text += letters[random() % 4];
  }
  return text;
}

TEST(AhoCorasick, FindsWhatTryingFinds) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::u32string> texts(random() % 6);
    for (std::u32string &text : texts) {
      text = draw(random, 5);
    }
    std::u32string in = draw(random, 24);
    ASSERT_EQ(findAll(texts, in), tryAll(texts, in)) << round;
  }
}

TEST(AhoCorasick, TakesNoLongerForTextsThatAreAlike) {
  // Minutes, where every place is tried anew.
  std::u32string many(1 << 20, U'a');
  EXPECT_TRUE(findAll({U"b" + many.substr(0, 20000)}, many).empty());
  EXPECT_TRUE(findAll({many.substr(0, 20000) + U"b"}, many).empty());
  EXPECT_EQ(findAll({U"a", many.substr(0, 2000) + U"b"}, many).size(),
            many.size());
  EXPECT_EQ(findAll({many}, many), (Places{{0, 0}}));
}

TEST(LiteralFinder, FindsWhatTryingFinds) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::u32string wanted = draw(random, 14) + U"a", in = draw(random, 40);
    size_t at = random() % 5;
    in += random() % 2 ? wanted + in : U"";
    ASSERT_EQ(LiteralFinder<char32_t>(wanted).find(in, at),
              in.find(wanted, at));
  }
  std::string many(1 << 20, 'a');
  EXPECT_EQ(LiteralFinder<char>(many.substr(0, 20000) + "b").find(many, 0),
            std::string::npos);
}

} // namespace
} // namespace tfc::text::test
