// mmap, with its failures as errors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Memory.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace tfc::rt {

Mapping::~Mapping() {
  if (base) {
    munmap(base, length);
  }
}

Result<Mapping> Mapping::map(uint64_t bytes, bool usable) {
  Mapping mapping;
  if (bytes == 0) {
    return mapping;
  }
  int protection = usable ? PROT_READ | PROT_WRITE : PROT_NONE;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | (usable ? 0 : MAP_NORESERVE);
  void *address = mmap(nullptr, bytes, protection, flags, -1, 0);
  if (address == MAP_FAILED) {
    return makeError(Code::Exhausted, "expected ", bytes, " bytes of memory, ",
                     "got none: ", std::strerror(errno));
  }
  mapping.base = static_cast<uint8_t *>(address);
  mapping.length = bytes;
  return mapping;
}

Result<Mapping> Mapping::allocate(uint64_t bytes) { return map(bytes, true); }

Result<Mapping> Mapping::reserve(uint64_t bytes) { return map(bytes, false); }

Status Mapping::commit(uint64_t begin, uint64_t end) {
  if (mprotect(base + begin, end - begin, PROT_READ | PROT_WRITE) != 0) {
    return makeError(Code::Exhausted, "expected ", end - begin,
                     " more bytes of memory, got none: ", std::strerror(errno));
  }
  return {};
}

} // namespace tfc::rt
