// Buffers with a guard.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/memory/LentBuffer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tfc::rt {

// A cache line: what is written too far begins there, and a step pays for it
// with nothing that can be measured.
static constexpr uint64_t guardBytes = 64;
static constexpr uint8_t guardByte = 0xdb;

Status LentBuffer::lend(uint64_t bytes) {
  uint64_t needed;
  if (__builtin_add_overflow(bytes, guardBytes, &needed)) {
    return makeError(Code::Exhausted, "expected ", bytes,
                     " bytes of memory, got none: ", std::strerror(ENOMEM));
  }
  if (needed > memory.size()) {
    // A little more than needed: a step that is one token longer than the last
    // must not pay for new memory.
    uint64_t room = needed + needed / 4;
    memory = Mapping();
    lent = 0;
    Result<Mapping> fresh =
        Mapping::allocate(room < needed ? needed : roundUpToPage(room));
    if (!fresh) {
      return std::move(fresh.error());
    }
    memory = std::move(*fresh);
  }
  lent = bytes;
  std::memset(memory.data() + lent, guardByte, guardBytes);
  return {};
}

bool LentBuffer::isIntact() const {
  return !memory.data() ||
         std::all_of(memory.data() + lent, memory.data() + lent + guardBytes,
                     [](uint8_t byte) { return byte == guardByte; });
}

} // namespace tfc::rt
