// The parts of the runtime alone: threads, CPU limits, cache blocks and
// batches.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/memory/Cache.h"
#include "runtime/src/step/Batch.h"
#include "runtime/src/threads/ThreadPool.h"
#include "test/runtime/FakeModel.h"

#include <fstream>

namespace tfc::rt::test {
namespace {

struct Count {
  std::vector<std::atomic<int>> items, workers;
  std::atomic<bool> isOverlapping{false};
  Count(size_t n, size_t w) : items(n), workers(w) {}
};

void countItems(void *arg, int64_t begin, int64_t end, uint32_t worker) {
  Count &count = *static_cast<Count *>(arg);
  if (count.workers.at(worker).fetch_add(1) != 0) {
    count.isOverlapping = true;
  }
  for (int64_t i = begin; i < end; ++i) {
    ++count.items.at(i);
  }
  count.workers[worker].fetch_sub(1);
}

TEST(ThreadPool, DoesEveryItemOnceWithDistinctWorkers) {
  ThreadPool &pool = ThreadPool::instance();
  EXPECT_EQ(pool.reserve(4), 4U);
  for (int round = 0; round < 300; ++round) {
    int64_t n = round % 40;
    Count count(n, 4);
    pool.parallelFor(1 + round % 4, n, countItems, &count);
    EXPECT_FALSE(count.isOverlapping);
    for (std::atomic<int> &item : count.items) {
      EXPECT_EQ(item, 1);
    }
  }
}

TEST(ThreadPool, NestedAndConcurrentLoopsDoAllWork) {
  ThreadPool &pool = ThreadPool::instance();
  pool.reserve(4);
  std::atomic<int64_t> total{0};
  auto inner = [](void *arg, int64_t begin, int64_t end, uint32_t) {
    *static_cast<std::atomic<int64_t> *>(arg) += end - begin;
  };
  static tfc_body_fn innerBody;
  innerBody = inner;
  auto outer = [](void *arg, int64_t begin, int64_t end, uint32_t) {
    for (int64_t i = begin; i < end; ++i) {
      ThreadPool::instance().parallelFor(4, 10, innerBody, arg);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        pool.parallelFor(4, 8, outer, &total);
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(total, 3 * 50 * 8 * 10);
}

TEST(CpuLimits, ReadsQuotasOfBothVersions) {
  Folder folder;
  auto write = [&](const std::string &path, const std::string &text) {
    std::filesystem::create_directories(
        std::filesystem::path(folder / path).parent_path());
    std::ofstream(folder / path) << text;
  };
  auto quota = [&] {
    return cgroupQuota({folder / "self", folder.path.string()});
  };
  EXPECT_EQ(quota(), 0U);
  write("self", "0::/a/b\n");
  EXPECT_EQ(quota(), 0U);
  write("a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), 0U);
  write("a/cpu.max", "250000 100000\n");
  EXPECT_EQ(quota(), 3U) << "a group outside binds as well";
  write("a/b/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), 1U);
  write("self", "9:memory:/x\n4:cpu,cpuacct:/c\nnonsense\n");
  write("cpu,cpuacct/c/cpu.cfs_quota_us", "-1\n");
  write("cpu,cpuacct/c/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 0U);
  write("cpu,cpuacct/c/cpu.cfs_quota_us", "150000\n");
  EXPECT_EQ(quota(), 2U);
  EXPECT_GE(allowedThreads(), 1U);
}

TEST(Cache, TakesFreesAndTakesAgain) {
  tfc_cache_v0 desc = makeCache(4, 1, 100);
  auto cache = BlockCache::create(desc, 1000);
  ASSERT_TRUE(cache) << messageOf(cache);
  EXPECT_EQ(cache->capacity(), 10);
  BlockTable first, second;
  ASSERT_TRUE(cache->grow(first, 17));
  ASSERT_TRUE(cache->grow(first, 17));
  EXPECT_EQ(first, (BlockTable{0, 1, 2, 3, 4}));
  ASSERT_TRUE(cache->grow(second, 20));
  EXPECT_EQ(messageOf(cache->grow(second, 21)),
            "expected a free block of the cache, got all of 10 in use");
  // All blocks can be written.
  std::fill_n(static_cast<uint8_t *>(cache->base()), 1000, 1);
  cache->release(first);
  EXPECT_EQ(cache->used(), 5);
  ASSERT_TRUE(cache->grow(second, 21));
  EXPECT_EQ(second.back(), 0);
  cache->clear();
  EXPECT_EQ(cache->used(), 0);
  auto none = BlockCache::create({}, 0);
  ASSERT_TRUE(none);
  BlockTable table;
  EXPECT_TRUE(none->grow(table, 100));
  EXPECT_TRUE(table.empty());
}

TEST(Cache, CommitsMemoryAsItGrows) {
  tfc_cache_v0 desc = makeCache(16, 1, 3 << 20);
  auto cache = BlockCache::create(desc, uint64_t(1) << 30);
  ASSERT_TRUE(cache) << messageOf(cache);
  EXPECT_EQ(cache->committedBytes(), 0U);
  BlockTable table;
  for (int64_t tokens = 16; tokens <= 160; tokens += 16) {
    ASSERT_TRUE(cache->grow(table, tokens));
    uint64_t used = table.size() * desc.block_bytes;
    EXPECT_GE(cache->committedBytes(), used);
    EXPECT_LE(cache->committedBytes(), used + (8 << 20));
    static_cast<uint8_t *>(cache->base())[used - 1] = 1;
  }
}

TEST(Batch, PutsLongItemsFirst) {
  tfc_entry_v0 entry{};
  entry.n_inputs = 1;
  entry.query_rows = 2;
  Batch batch(entry, true);
  for (int round = 0; round < 2; ++round) {
    batch.clear();
    EXPECT_EQ(batch.add(3, 0, 3, {}), 0);
    EXPECT_EQ(batch.add(1, 9, 10, {}), 3);
    batch.finish();
    ASSERT_EQ(batch.items.size(), 3U);
    // One row over 10 keys, two rows over 2 keys, one row over 3 keys.
    EXPECT_EQ(batch.items[0].sequence, 1);
    EXPECT_EQ(batch.items[1].first_row, 0);
    EXPECT_EQ(batch.items[2].first_row, 2);
  }
}

TEST(Batch, PutsTheBlocksOfAllCachesIntoOneTable) {
  tfc_cache_v0 caches[] = {makeCache(4, 1, 100), makeCache(4, 1, 100)};
  caches[1].role = TFC_CACHE_CROSS;
  tfc_entry_v0 entry{};
  entry.query_rows = 2;
  entry.n_caches = 2;
  entry.caches = caches;
  Batch batch(entry, true);
  BlockTable first = {7, 3}, second = {5}, source = {9, 8, 1};
  for (int round = 0; round < 2; ++round) {
    batch.clear();
    batch.add(8, 0, 8, first, 12, &source);
    batch.add(1, 2, 3, second, 12, &source);
    EXPECT_EQ(batch.blockTable, (BlockTable{7, 3, 9, 8, 1, 5, 9, 8, 1}));
    EXPECT_EQ(batch.sequences[0].blocks_at[0], 0);
    EXPECT_EQ(batch.sequences[0].blocks_at[1], 2);
    EXPECT_EQ(batch.sequences[1].blocks_at[0], 5);
    EXPECT_EQ(batch.sequences[1].blocks_at[1], 6);
  }
}

} // namespace
} // namespace tfc::rt::test
