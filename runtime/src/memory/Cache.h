// The blocks that hold keys and values: an allocator in a reserved address
// range, so that memory grows with use and blocks never move. Tables may share
// blocks; one that is about to be written is copied first.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_MEMORY_CACHE_H
#define TFC_RUNTIME_SRC_MEMORY_CACHE_H

#include "runtime/src/step/Device.h"
#include "tfc/abi.h"

namespace tfc::rt {

/// The blocks of a sequence, in order of position; -1: given back.
using BlockTable = std::vector<int32_t>;

/// Bytes of blocks that caches may have in use together.
struct CacheBudget {
  uint64_t limit = 0; // 0: none
  uint64_t used = 0;
};

class BlockCache {
public:
  /// Reserves at most maxBytes of a device's addresses (0: what the device has
  /// for it; without a device, this machine). An entry without a cache gets one
  /// that needs no block. `budget`, when given, and the device outlive the
  /// cache. Errors: InvalidArgument (less than one block), those of
  /// Device::reserve.
  static Result<BlockCache> create(const tfc_cache_v0 &desc, uint64_t maxBytes,
                                   CacheBudget *budget = nullptr,
                                   Device *device = nullptr);

  /// Grows `table` until it holds `tokens` positions. On error (Exhausted) the
  /// table keeps what it got.
  Status grow(BlockTable &table, int64_t tokens);
  /// How many blocks grow(table, end) and makeWritable(table, begin, end) take,
  /// or fewer where other tables take theirs first.
  int64_t blocksNeeded(const BlockTable &table, int64_t begin,
                       int64_t end) const;
  /// Makes `copy`, another table, one of the blocks of `table`; it gives up its
  /// own. Copies no keys and values, takes no block.
  void share(const BlockTable &table, BlockTable &copy);
  /// Gives `table` blocks of its own where it shares those that hold positions
  /// [begin, end), each with a copy of the whole block; positions beyond the
  /// table are none of its business. On error (Exhausted, of the device) the
  /// table holds what it held.
  Status makeWritable(BlockTable &table, int64_t begin, int64_t end);
  /// Gives back the blocks of `table` that end at position `end` or before:
  /// nobody will look at them again. Cannot fail.
  void releaseBefore(BlockTable &table, int64_t end);
  /// Gives back the blocks of `table` behind those that hold `tokens`
  /// positions. Cannot fail.
  void releaseBehind(BlockTable &table, int64_t tokens);
  /// Empties `table`; blocks that no other table has are free again. Cannot
  /// fail.
  void release(BlockTable &table);
  /// Counts the table as one that is only kept, or as that no more. Cannot
  /// fail.
  void markKept(const BlockTable &table, bool isKept);
  /// Blocks that only such tables have; what they are is counted as it changes,
  /// since it is asked after every step.
  int64_t onlyKept() const { return numOnlyKept; }
  /// Forgets all tables: every block is free again.
  void clear();

  /// Copies all of a block into another.
  Status copyBlock(int32_t to, int32_t from);

  /// Where block 0 lies, an address of the device.
  void *base() const { return range ? range->data() : nullptr; }
  /// Blocks in use, a shared one counted once, and the most there can be.
  int64_t used() const { return numFresh - static_cast<int64_t>(free.size()); }
  int64_t capacity() const { return maxBlocks; }
  int64_t blockTokens() const { return desc.block_tokens; }
  uint64_t bytesOf(int64_t blocks) const {
    return static_cast<uint64_t>(blocks) * desc.block_bytes;
  }
  uint64_t usedBytes() const { return bytesOf(used()); }
  uint64_t capacityBytes() const { return bytesOf(maxBlocks); }
  /// Blocks that a table of so many positions has.
  int64_t blocksFor(int64_t tokens) const {
    return desc.layers == 0
               ? 0
               : (tokens + desc.block_tokens - 1) / desc.block_tokens;
  }
  uint64_t committedBytes() const { return committed; }

private:
  /// Appends a block that no other table has, if the budget has room for it.
  Status take(BlockTable &table);
  /// The same for any budget.
  Status findBlock(BlockTable &table);
  /// The table gives up its blocks from number `size` on.
  void giveUpBehind(BlockTable &table, size_t size);
  /// One table less has the block.
  void giveUp(int32_t block);
  /// So many more tables have the block, so many of them kept ones.
  void count(int32_t block, int32_t more, int32_t moreKept);

  tfc_cache_v0 desc{};
  CacheBudget *budget = nullptr;
  std::unique_ptr<DeviceRange> range;
  uint64_t committed = 0;
  // Blocks [0, numFresh) have been used; those in `free` are free again.
  int64_t numFresh = 0, maxBlocks = 0;
  std::vector<int32_t> free;
  struct Count {
    uint32_t tables = 0, kept = 0;
    bool isOnlyKept() const { return kept != 0 && kept == tables; }
  };
  std::vector<Count> counts; // by block: how many tables have it
  int64_t numOnlyKept = 0;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_MEMORY_CACHE_H
