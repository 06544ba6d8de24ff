// Blocks that several tables share: copied when written, free when the last
// table is gone.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/memory/Cache.h"
#include "test/runtime/FakeModel.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>

namespace tfc::rt::test {
namespace {

/// A cache whose blocks of 4 positions hold 8 bytes, with room for `blocks`.
BlockCache smallCache(int64_t blocks) {
  auto cache = BlockCache::create(makeCache(4, 1, 8), 8 * blocks);
  EXPECT_TRUE(cache) << messageOf(cache);
  return std::move(*cache);
}

/// The 8 bytes of a block.
uint64_t &wordOf(const BlockCache &cache, int32_t block) {
  return static_cast<uint64_t *>(cache.base())[block];
}

TEST(CacheSharing, CopiesWhatIsWrittenAndNothingElse) {
  BlockCache cache = smallCache(10);
  BlockTable first, second, third;
  ASSERT_TRUE(cache.grow(first, 10));
  for (int32_t block : first) {
    wordOf(cache, block) = 100 + block;
  }
  cache.share(first, second);
  cache.share(second, third);
  EXPECT_EQ(second, first);
  EXPECT_EQ(cache.used(), 3);
  // Position 10 lies in the last block; each but the last owner copies it.
  ASSERT_TRUE(cache.makeWritable(first, 10, 11));
  ASSERT_TRUE(cache.makeWritable(second, 10, 11));
  EXPECT_EQ(cache.used(), 5);
  ASSERT_TRUE(cache.makeWritable(third, 10, 11));
  EXPECT_EQ(cache.used(), 5);
  EXPECT_EQ(first, (BlockTable{0, 1, 3}));
  EXPECT_EQ(second, (BlockTable{0, 1, 4}));
  EXPECT_EQ(third, (BlockTable{0, 1, 2}));
  for (int32_t block : {2, 3, 4}) {
    EXPECT_EQ(wordOf(cache, block), 102U);
  }
  // Nothing is shared there any more.
  ASSERT_TRUE(cache.makeWritable(first, 8, 12));
  EXPECT_EQ(first, (BlockTable{0, 1, 3}));
  // Several blocks, in their order; an empty range; beyond the table.
  ASSERT_TRUE(cache.makeWritable(second, 3, 5));
  EXPECT_EQ(second.size(), 3U);
  EXPECT_EQ(wordOf(cache, second[0]), 100U);
  EXPECT_EQ(wordOf(cache, second[1]), 101U);
  EXPECT_EQ(cache.used(), 7);
  ASSERT_TRUE(cache.makeWritable(first, 4, 4));
  ASSERT_TRUE(cache.makeWritable(first, 12, 40));
  EXPECT_EQ(first, (BlockTable{0, 1, 3}));
  EXPECT_EQ(cache.used(), 7);
}

TEST(CacheSharing, ABlockIsFreeWhenItsLastTableIsGone) {
  BlockCache cache = smallCache(4);
  BlockTable first, second, third;
  ASSERT_TRUE(cache.grow(first, 8));
  cache.share(first, second);
  cache.release(first);
  EXPECT_TRUE(first.empty());
  EXPECT_EQ(cache.used(), 2);
  ASSERT_TRUE(cache.grow(third, 8));
  EXPECT_EQ(third, (BlockTable{2, 3}));
  // A table that is shared into gives up what it had, were it the same blocks.
  cache.share(second, third);
  EXPECT_EQ(cache.used(), 2);
  cache.share(third, second);
  cache.release(third);
  EXPECT_EQ(cache.used(), 2);
  cache.release(second);
  EXPECT_EQ(cache.used(), 0);
  cache.release(second);
  EXPECT_EQ(cache.used(), 0);
  ASSERT_TRUE(cache.grow(first, 16));
  EXPECT_EQ(cache.used(), 4);
  BlockTable sorted = first;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, (BlockTable{0, 1, 2, 3})) << "no block came twice";
  cache.share(first, second);
  cache.clear();
  EXPECT_EQ(cache.used(), 0);
}

TEST(CacheSharing, ExhaustionChangesNothing) {
  BlockCache cache = smallCache(4);
  BlockTable first, second;
  ASSERT_TRUE(cache.grow(first, 12));
  cache.share(first, second);
  // Two copies are needed, one block is left.
  EXPECT_EQ(messageOf(cache.makeWritable(second, 6, 9)),
            "expected a free block of the cache, got all of 4 in use");
  EXPECT_EQ(second, first);
  EXPECT_EQ(cache.used(), 3);
  ASSERT_TRUE(cache.makeWritable(second, 8, 9));
  EXPECT_EQ(cache.used(), 4);
  cache.release(first);
  EXPECT_EQ(cache.used(), 3);
  EXPECT_TRUE(cache.makeWritable(second, 0, 12)) << "all are its own now";
  EXPECT_EQ(cache.used(), 3);
}

TEST(CacheSharing, CountsBlocksThatOnlyKeptTablesHave) {
  BlockCache cache = smallCache(24);
  std::mt19937 random(1);
  std::array<BlockTable, 5> tables;
  std::array<bool, 5> isKept{};
  for (int i = 0; i < 3000; ++i) {
    size_t at = random() % tables.size(), other = random() % tables.size();
    BlockTable &table = tables[at];
    auto tokens = static_cast<int64_t>(4 * table.size());
    switch (random() % 6) {
    case 0: // a table that is kept does not change any more
      if (!isKept[at] && !table.empty()) {
        cache.markKept(table, true);
        isKept[at] = true;
      }
      break;
    case 1:
      if (isKept[at]) {
        cache.markKept(table, false);
        isKept[at] = false;
      }
      cache.release(table);
      break;
    case 2:
      if (!isKept[at] && at != other) {
        cache.share(tables[other], table);
      }
      break;
    case 3:
      (void)(isKept[at] || cache.grow(table, tokens + 1));
      break;
    case 4:
      (void)(isKept[at] || tokens == 0 || table.front() < 0 ||
             cache.makeWritable(table, 0, tokens));
      break;
    default:
      if (!isKept[at]) {
        cache.releaseBehind(table, tokens - 3);
      }
    }
    std::map<int32_t, std::pair<int, int>> counts; // tables, kept ones
    for (size_t t = 0; t < tables.size(); ++t) {
      for (int32_t block : tables[t]) {
        ++counts[block].first;
        counts[block].second += isKept[t];
      }
    }
    auto expected =
        std::count_if(counts.begin(), counts.end(), [](const auto &each) {
          return each.second.first == each.second.second;
        });
    ASSERT_EQ(cache.onlyKept(), expected) << i;
    ASSERT_EQ(cache.used(), static_cast<int64_t>(counts.size())) << i;
  }
}

TEST(CacheSharing, NeedsNoBlocksWithoutACache) {
  auto none = BlockCache::create({}, 0);
  ASSERT_TRUE(none);
  BlockTable table, copy;
  none->share(table, copy);
  EXPECT_TRUE(none->makeWritable(copy, 0, 9));
  none->release(copy);
  EXPECT_EQ(none->used(), 0);
}

} // namespace
} // namespace tfc::rt::test
