// The block allocator.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/memory/Cache.h"

#include "runtime/src/memory/MakeRoom.h"
#include "runtime/src/memory/Memory.h"
#include "runtime/src/step/CpuDevice.h"

#include <algorithm>

namespace tfc::rt {

// Memory is committed in steps of this: a system call a block would be felt.
static constexpr uint64_t commitStep = uint64_t(4) << 20;

Result<BlockCache> BlockCache::create(const tfc_cache_v0 &desc,
                                      uint64_t maxBytes, CacheBudget *budget,
                                      Device *device) {
  BlockCache cache;
  cache.desc = desc;
  cache.budget = budget;
  if (desc.layers == 0) {
    return cache;
  }
  bool isChosen = maxBytes != 0;
  Result<uint64_t> bytes = isChosen ? maxBytes
                           : device ? device->defaultCacheBytes()
                                    : CpuDevice::halfOfMemory();
  if (!bytes) {
    return std::move(bytes.error());
  }
  uint64_t blocks = std::min<uint64_t>(*bytes / desc.block_bytes, INT32_MAX);
  if (blocks == 0) {
    return makeError(isChosen ? Code::InvalidArgument : Code::Exhausted,
                     "expected at least ", desc.block_bytes,
                     " bytes of cache (one block), got ", *bytes);
  }
  // Addresses may be fewer than the limits say.
  auto reserve = [&](uint64_t size) {
    return device ? device->reserve(size) : CpuDevice::reserveOnHost(size);
  };
  Result<std::unique_ptr<DeviceRange>> range =
      reserve(blocks * desc.block_bytes);
  while (!range && !isChosen && blocks > 1) {
    blocks /= 2;
    range = reserve(blocks * desc.block_bytes);
  }
  if (!range) {
    return std::move(range.error());
  }
  cache.range = std::move(*range);
  cache.maxBlocks = static_cast<int64_t>(blocks);
  return cache;
}

Status BlockCache::take(BlockTable &table) {
  if (budget && budget->limit != 0 &&
      desc.block_bytes > budget->limit - budget->used) {
    return makeError(Code::Exhausted,
                     "expected a free block of the cache, got all of ",
                     budget->limit, " bytes in use");
  }
  Status status = findBlock(table);
  if (status && budget) {
    budget->used += desc.block_bytes;
  }
  return status;
}

Status BlockCache::findBlock(BlockTable &table) {
  // What may throw comes first: then either all has happened, or nothing.
  makeRoom(table);
  makeRoom(counts);
  if (!free.empty()) {
    table.push_back(free.back());
    counts[free.back()] = {1, 0};
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
                 range->size());
    Status status = range->commit(committed, target);
    if (!status) {
      return status;
    }
    // Only whole pages: the next step begins where this one really ended.
    committed = target == range->size() ? target : roundDownToPage(target);
  }
  // Room for the block's return, so that release cannot fail.
  if (free.capacity() <= static_cast<size_t>(numFresh)) {
    free.reserve(std::max<size_t>(64, 2 * free.capacity()));
  }
  counts.push_back({1, 0});
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

int64_t BlockCache::blocksNeeded(const BlockTable &table, int64_t begin,
                                 int64_t end) const {
  auto size = static_cast<int64_t>(table.size());
  int64_t needed = std::max<int64_t>(0, blocksFor(end) - size);
  for (int64_t i = desc.layers == 0 ? size : begin / desc.block_tokens;
       i < std::min(size, blocksFor(end)); ++i) {
    needed += table[i] >= 0 && counts[table[i]].tables > 1;
  }
  return needed;
}

void BlockCache::share(const BlockTable &table, BlockTable &copy) {
  for (int32_t block : table) {
    if (block >= 0) {
      count(block, 1, 0);
    }
  }
  release(copy);
  copy.assign(table.begin(), table.end());
}

Status BlockCache::makeWritable(BlockTable &table, int64_t begin, int64_t end) {
  size_t size = table.size();
  if (desc.layers == 0 || begin >= end) {
    return {};
  }
  size_t first = static_cast<size_t>(begin / desc.block_tokens);
  size_t last =
      std::min(size, static_cast<size_t>((end - 1) / desc.block_tokens + 1));
  // The copies wait behind the table until all of them are there.
  for (size_t i = first; i < last; ++i) {
    Status status = counts[table[i]].tables > 1 ? take(table) : Status();
    if (!status) {
      giveUpBehind(table, size);
      return status;
    }
  }
  for (size_t i = last; i-- > first;) {
    if (counts[table[i]].tables > 1) {
      int32_t own = table.back();
      Status status = copyBlock(own, table[i]);
      if (!status) {
        giveUpBehind(table, size);
        return status;
      }
      table.pop_back();
      giveUp(table[i]);
      table[i] = own;
    }
  }
  return {};
}

Status BlockCache::copyBlock(int32_t to, int32_t from) {
  return range->copy(static_cast<uint64_t>(to) * desc.block_bytes,
                     static_cast<uint64_t>(from) * desc.block_bytes,
                     desc.block_bytes);
}

void BlockCache::giveUpBehind(BlockTable &table, size_t size) {
  for (; table.size() > size; table.pop_back()) {
    giveUp(table.back());
  }
}

void BlockCache::count(int32_t block, int32_t more, int32_t moreKept) {
  Count &own = counts[static_cast<size_t>(block)];
  numOnlyKept -= own.isOnlyKept();
  own.tables += static_cast<uint32_t>(more);
  own.kept += static_cast<uint32_t>(moreKept);
  numOnlyKept += own.isOnlyKept();
}

void BlockCache::markKept(const BlockTable &table, bool isKept) {
  for (int32_t block : table) {
    if (block >= 0) {
      count(block, 0, isKept ? 1 : -1);
    }
  }
}

void BlockCache::giveUp(int32_t block) {
  count(block, -1, 0);
  if (counts[block].tables == 0) {
    free.push_back(block);
    if (budget) {
      budget->used -= desc.block_bytes;
    }
  }
}

void BlockCache::releaseBefore(BlockTable &table, int64_t end) {
  if (desc.layers == 0 || end <= 0) {
    return;
  }
  auto past =
      std::min(table.size(), static_cast<size_t>(end / desc.block_tokens));
  // Those before were given back earlier.
  for (size_t i = past; i-- > 0 && table[i] >= 0;) {
    giveUp(table[i]);
    table[i] = -1;
  }
}

void BlockCache::releaseBehind(BlockTable &table, int64_t tokens) {
  giveUpBehind(table, static_cast<size_t>(blocksFor(tokens)));
}

void BlockCache::release(BlockTable &table) {
  for (; !table.empty(); table.pop_back()) {
    if (table.back() >= 0) {
      giveUp(table.back());
    }
  }
}

void BlockCache::clear() {
  if (budget) {
    budget->used -= static_cast<uint64_t>(used()) * desc.block_bytes;
  }
  std::fill(counts.begin(), counts.end(), Count());
  numOnlyKept = 0;
  free.clear();
  for (int64_t i = numFresh; i-- > 0;) {
    free.push_back(static_cast<int32_t>(i));
  }
}

} // namespace tfc::rt
