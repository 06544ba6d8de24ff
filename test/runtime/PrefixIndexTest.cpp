// Beginnings of texts are found by all that their keys and values depend on,
// and those that nobody asked for go first.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/serve/PrefixIndex.h"

#include <gtest/gtest.h>

namespace tfc::rt::test {
namespace {

using Ids = std::vector<int32_t>;

PrefixText text(Ids tokens, uint64_t salt = 0, Ids source = {}) {
  return {salt, std::move(source), std::move(tokens)};
}

TEST(PrefixIndex, FindsFullBlocks) {
  PrefixIndex index(2);
  EXPECT_TRUE(index.insert(text({1, 2, 3, 4, 5}), 7));
  EXPECT_EQ(index.numBlocks(), 2U);
  EXPECT_EQ(index.find(text({1, 2})), 7U);
  EXPECT_EQ(index.find(text({1, 2, 3, 9})), 7U) << "its first block";
  EXPECT_EQ(index.find(text({1, 2, 3, 4, 5, 6})), 7U);
  EXPECT_EQ(index.find(text({1})), 0U);
  EXPECT_EQ(index.find(text({})), 0U);
}

TEST(PrefixIndex, ComparesTokens) {
  PrefixIndex index(2);
  index.insert(text({1, 2}), 7);
  EXPECT_EQ(index.find(text({1, 3})), 0U);
  EXPECT_EQ(index.find(text({2, 2})), 0U);
}

TEST(PrefixIndex, ComparesSalts) {
  PrefixIndex index(2);
  index.insert(text({1, 2}, 5), 7);
  EXPECT_EQ(index.find(text({1, 2}, 5)), 7U);
  EXPECT_EQ(index.find(text({1, 2}, 6)), 0U) << "another tenant's";
  EXPECT_EQ(index.find(text({1, 2})), 0U);
}

TEST(PrefixIndex, ComparesWhatIsBefore) {
  // The same block behind two parents.
  PrefixIndex index(2);
  index.insert(text({1, 2, 9, 9}), 7);
  index.insert(text({3, 4, 8, 8}), 8);
  EXPECT_EQ(index.find(text({3, 4, 9, 9})), 8U) << "one block, not 7's second";
  EXPECT_EQ(index.find(text({9, 9})), 0U);
  index.insert(text({3, 4, 9, 9}), 9);
  EXPECT_EQ(index.numBlocks(), 5U);
  EXPECT_EQ(index.find(text({1, 2, 9, 9})), 7U);
  EXPECT_EQ(index.find(text({3, 4, 9, 9})), 9U);
}

TEST(PrefixIndex, ComparesSources) {
  PrefixIndex index(2);
  index.insert(text({1, 2}, 0, {4, 5, 6}), 7);
  EXPECT_EQ(index.find(text({1, 2}, 0, {4, 5, 6})), 7U);
  EXPECT_EQ(index.find(text({9}, 0, {4, 5, 6})), 7U) << "the source alone";
  EXPECT_EQ(index.find(text({1, 2}, 0, {4, 5})), 0U);
  EXPECT_EQ(index.find(text({1, 2})), 0U);
  // A source is no block of tokens.
  index.insert(text({4, 5}, 0, {1, 2}), 8);
  EXPECT_EQ(index.find(text({1, 2, 4, 5})), 0U);
}

TEST(PrefixIndex, EvictsWhatNobodyAskedForLongest) {
  PrefixIndex index(1);
  for (uint64_t owner : {1, 2, 3, 4}) {
    EXPECT_TRUE(index.insert(text({static_cast<int32_t>(owner)}), owner));
  }
  for (uint64_t owner : {1, 2, 3}) {
    index.retire(owner); // 4 runs
  }
  EXPECT_EQ(index.find(text({1})), 1U);
  EXPECT_EQ(index.evict(), 2U);
  EXPECT_EQ(index.find(text({2})), 0U);
  EXPECT_EQ(index.evict(), 3U);
  EXPECT_EQ(index.evict(), 1U);
  EXPECT_EQ(index.evict(), 0U) << "who runs stays";
  EXPECT_EQ(index.find(text({4})), 4U);
}

TEST(PrefixIndex, KeepsWhatAnotherOwnerHas) {
  PrefixIndex index(1);
  index.insert(text({1, 2, 3}), 7);
  EXPECT_FALSE(index.insert(text({1, 2}), 8)) << "brings nothing new";
  EXPECT_TRUE(index.insert(text({1, 2, 5}), 9));
  index.erase(7);
  EXPECT_EQ(index.find(text({1, 2, 3})), 9U);
  index.erase(9);
  EXPECT_EQ(index.find(text({1, 2, 3})), 8U);
  index.erase(8);
  index.erase(8);
  EXPECT_EQ(index.numBlocks(), 0U);
  EXPECT_EQ(index.numOwners(), 0U);
  // What comes back is behind a parent of a new number.
  index.insert(text({1, 2}), 10);
  EXPECT_EQ(index.find(text({1, 2})), 10U);
}

} // namespace
} // namespace tfc::rt::test
