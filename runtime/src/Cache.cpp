// The block allocator.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Cache.h"

#include <algorithm>
#include <unistd.h>

namespace tfc::rt {

// Memory is committed in steps of this: a system call a block would be felt.
static constexpr uint64_t commitStep = uint64_t(4) << 20;

static uint64_t machineMemory() {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0
             ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size)
             : uint64_t(1) << 34;
}

Result<BlockCache> BlockCache::create(const tfc_cache_desc_v0 &desc,
                                      uint64_t maxBytes) {
  BlockCache cache;
  cache.desc = desc;
  if (desc.layers == 0) {
    return cache;
  }
  bool isChosen = maxBytes != 0;
  uint64_t bytes = isChosen ? maxBytes : machineMemory();
  uint64_t blocks = std::min<uint64_t>(bytes / desc.block_bytes, INT32_MAX);
  if (blocks == 0) {
    return makeError(Code::InvalidArgument, "expected at least ",
                     desc.block_bytes, " bytes of cache (one block), got ",
                     bytes);
  }
  // Address space may be limited below the machine's memory.
  Result<Mapping> range = Mapping::reserve(blocks * desc.block_bytes);
  while (!range && !isChosen && blocks > 1) {
    blocks /= 2;
    range = Mapping::reserve(blocks * desc.block_bytes);
  }
  if (!range) {
    return std::move(range.error());
  }
  cache.range = std::move(*range);
  cache.maxBlocks = static_cast<int64_t>(blocks);
  return cache;
}

Status BlockCache::take(BlockTable &table) {
  if (!free.empty()) {
    table.push_back(free.back());
    free.pop_back();
    return {};
  }
  if (numFresh == maxBlocks) {
    return makeError(Code::Exhausted,
                     "expected a free block of the cache, "
                     "got all of ",
                     maxBlocks, " in use");
  }
  uint64_t end = static_cast<uint64_t>(numFresh + 1) * desc.block_bytes;
  if (end > committed) {
    uint64_t target = std::max(end, committed + commitStep);
    // Whole huge pages: one that is half committed stays in small ones.
    target =
        std::min((target + hugePageBytes - 1) / hugePageBytes * hugePageBytes,
                 range.size());
    Status status = range.commit(committed, target);
    if (!status) {
      return status;
    }
    // Only whole pages: the next step begins where this one really ended.
    committed = target == range.size() ? target : target / 4096 * 4096;
  }
  // Room for the block's return, so that release cannot fail.
  if (free.capacity() <= static_cast<size_t>(numFresh)) {
    free.reserve(std::max<size_t>(64, 2 * free.capacity()));
  }
  table.push_back(static_cast<int32_t>(numFresh++));
  return {};
}

Status BlockCache::grow(BlockTable &table, int64_t tokens) {
  while (desc.layers != 0 &&
         static_cast<int64_t>(table.size()) * desc.block_tokens < tokens) {
    Status status = take(table);
    if (!status) {
      return status;
    }
  }
  return {};
}

void BlockCache::release(BlockTable &table) {
  free.insert(free.end(), table.rbegin(), table.rend());
  table.clear();
}

void BlockCache::clear() {
  free.clear();
  for (int64_t i = numFresh; i-- > 0;) {
    free.push_back(static_cast<int32_t>(i));
  }
}

} // namespace tfc::rt
