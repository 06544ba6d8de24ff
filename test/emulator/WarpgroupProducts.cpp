// Who has asked for what, who has waited, and who has shown what he wrote.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/WarpgroupProducts.h"

namespace tfc::emulator {

static bool doMeet(const TileRange &one, uint64_t begin, uint64_t end) {
  return one.begin < end && begin < one.end;
}

std::string WarpgroupProducts::add(uint32_t thread,
                                   const std::vector<TileRange> &tiles) {
  if (!threads[thread].isOrdered) {
    return "product of a warpgroup without wgmma.fence since its sums were "
           "last touched";
  }
  if (!isFirst(thread)) {
    return "";
  }
  for (const TileRange &tile : tiles) {
    for (const Thread &each : threads) {
      for (const TileRange &written : each.hidden) {
        if (doMeet(written, tile.begin, tile.end)) {
          return "product of a warpgroup of what a thread has written without "
                 "fence.proxy.async";
        }
      }
    }
    groups[thread / 128].products.push_back({tile, 0});
  }
  return "";
}

void WarpgroupProducts::commit(uint32_t thread) {
  if (!isFirst(thread)) {
    return;
  }
  Group &own = groups[thread / 128];
  ++own.committed;
  for (Pending &each : own.products) {
    each.group = each.group ? each.group : own.committed;
  }
}

void WarpgroupProducts::wait(
    uint32_t thread, uint64_t pending,
    const std::function<void(const TileRange &)> &done) {
  threads[thread].isOrdered = false;
  if (!isFirst(thread)) {
    return;
  }
  Group &own = groups[thread / 128];
  uint64_t last = own.committed > pending ? own.committed - pending : 0;
  // Taken first: what is done may end the block.
  std::vector<Pending> ended, left;
  for (const Pending &each : own.products) {
    (each.group != 0 && each.group <= last ? ended : left).push_back(each);
  }
  own.products = std::move(left);
  for (const Pending &each : ended) {
    done(each.tile);
  }
}

std::string WarpgroupProducts::write(uint32_t thread, uint64_t at,
                                     uint64_t bytes) {
  for (const Group &group : groups) {
    for (const Pending &each : group.products) {
      if (doMeet(each.tile, at, at + bytes)) {
        return "write to what a product of a warpgroup may still read";
      }
    }
  }
  threads[thread].hidden.push_back({at, at + bytes, 0});
  return "";
}

const TileRange *WarpgroupProducts::leftOver(uint32_t thread) const {
  const std::vector<Pending> &products = groups[thread / 128].products;
  return isFirst(thread) && !products.empty() ? &products.front().tile
                                              : nullptr;
}

void WarpgroupProducts::clear() {
  for (Thread &each : threads) {
    each = {};
  }
  for (Group &each : groups) {
    each = {};
  }
}

} // namespace tfc::emulator
