// Copies by thread, in groups.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/AsyncCopies.h"

namespace tfc::emulator {

void AsyncCopies::add(uint32_t thread, const AsyncCopy &copy) {
  threads[thread].copies.push_back(copy);
}

void AsyncCopies::commit(uint32_t thread) {
  Thread &own = threads[thread];
  ++own.groups;
  for (AsyncCopy &copy : own.copies) {
    copy.group = copy.group ? copy.group : own.groups;
  }
}

void AsyncCopies::wait(uint32_t thread, uint64_t pending,
                       const std::function<void(const AsyncCopy &)> &land) {
  Thread &own = threads[thread];
  uint64_t last = own.groups > pending ? own.groups - pending : 0;
  // Taken first: what lands may end the block.
  std::vector<AsyncCopy> landing, left;
  for (const AsyncCopy &copy : own.copies) {
    (copy.group != 0 && copy.group <= last ? landing : left).push_back(copy);
  }
  own.copies = std::move(left);
  for (const AsyncCopy &copy : landing) {
    land(copy);
  }
}

const AsyncCopy *AsyncCopies::leftOver(uint32_t thread) const {
  const std::vector<AsyncCopy> &copies = threads[thread].copies;
  return copies.empty() ? nullptr : &copies.front();
}

void AsyncCopies::clear() {
  for (Thread &thread : threads) {
    thread = {};
  }
}

} // namespace tfc::emulator
