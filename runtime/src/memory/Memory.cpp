// mmap, with its failures as errors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/memory/Memory.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace tfc::rt {

uint64_t pageBytes() {
  static const auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

Mapping::~Mapping() {
  if (base) {
    munmap(base, length);
  }
}

static Error outOfMemory(uint64_t bytes, int reason) {
  return makeError(Code::Exhausted, "expected ", bytes, " bytes of memory, ",
                   "got none: ", std::strerror(reason));
}

/// Gives back what lies around the first huge page boundary of a mapping that
/// is one huge page too long.
static uint8_t *trimToHugePage(uint8_t *address, uint64_t bytes) {
  uint64_t past = reinterpret_cast<uintptr_t>(address) % hugePageBytes;
  uint64_t before = past ? hugePageBytes - past : 0;
  if (before > 0) {
    munmap(address, before);
  }
  uint64_t pages = roundUpToPage(bytes);
  if (before < hugePageBytes) {
    munmap(address + before + pages, hugePageBytes - before);
  }
  return address + before;
}

Result<Mapping> Mapping::map(uint64_t bytes, int protection, int flags,
                             int descriptor) {
  Mapping mapping;
  if (bytes == 0) {
    return mapping;
  }
  bool isLarge = bytes >= hugePageBytes;
  uint64_t room = bytes + (isLarge ? hugePageBytes : 0);
  if (room < bytes) {
    return outOfMemory(bytes, ENOMEM);
  }
  void *address = mmap(nullptr, room, isLarge ? PROT_NONE : protection,
                       isLarge ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
                               : MAP_PRIVATE | flags,
                       isLarge ? -1 : descriptor, 0);
  if (address == MAP_FAILED) {
    return outOfMemory(bytes, errno);
  }
  mapping.base = static_cast<uint8_t *>(address);
  mapping.length = bytes;
  if (isLarge) {
    mapping.base = trimToHugePage(mapping.base, bytes);
    // Over the reserved addresses: the kernel may place a mapping anywhere.
    if (mmap(mapping.base, bytes, protection, MAP_PRIVATE | MAP_FIXED | flags,
             descriptor, 0) == MAP_FAILED) {
      return outOfMemory(bytes, errno);
    }
    // Where the system has no huge pages, small ones do, more slowly.
    madvise(mapping.base, bytes, MADV_HUGEPAGE);
  }
  return mapping;
}

Result<Mapping> Mapping::allocate(uint64_t bytes) {
  return map(bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1);
}

Result<Mapping> Mapping::reserve(uint64_t bytes) {
  return map(bytes, PROT_NONE, MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

Result<Mapping> Mapping::mapFile(int descriptor, uint64_t bytes,
                                 uint64_t offset) {
  Result<Mapping> mapping = map(bytes, PROT_READ, 0, descriptor);
  if (mapping) {
    mapping->skipped = offset;
  }
  return mapping;
}

Status Mapping::commit(uint64_t begin, uint64_t end) {
  if (mprotect(base + begin, end - begin, PROT_READ | PROT_WRITE) != 0) {
    return makeError(Code::Exhausted, "expected ", end - begin,
                     " more bytes of memory, got none: ", std::strerror(errno));
  }
  return {};
}

} // namespace tfc::rt
