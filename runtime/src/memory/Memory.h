// Memory straight from the system: aligned to a page, zero, committed when
// touched, in huge pages where the system gives them, and returned when freed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_MEMORY_MEMORY_H
#define TFC_RUNTIME_SRC_MEMORY_MEMORY_H

#include "runtime/src/Error.h"

namespace tfc::rt {

/// Large mappings begin and grow by this: a huge page where pages have 4 KiB,
/// and whole pages where they have 16 or 64.
constexpr uint64_t hugePageBytes = uint64_t(2) << 20;

/// Of the system: 4 KiB on x86-64; 4, 16 or 64 on aarch64, as its kernel was
/// built.
uint64_t pageBytes();

/// The bytes of the whole pages that `bytes` bytes lie in, or of those that
/// they fill.
inline uint64_t roundUpToPage(uint64_t bytes, uint64_t page = pageBytes()) {
  return (bytes + page - 1) / page * page;
}
inline uint64_t roundDownToPage(uint64_t bytes, uint64_t page = pageBytes()) {
  return bytes / page * page;
}

/// A private mapping; owns it.
class Mapping {
public:
  Mapping() = default;
  Mapping(Mapping &&other) noexcept { swap(other); }
  Mapping &operator=(Mapping &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Mapping();

  /// Usable memory, zero. Zero bytes give a mapping without data.
  static Result<Mapping> allocate(uint64_t bytes);
  /// Address space alone; commit makes parts of it usable.
  static Result<Mapping> reserve(uint64_t bytes);
  /// The bytes of an open file from `offset` on, read-only; `bytes`, more than
  /// the offset, is the file's size.
  static Result<Mapping> mapFile(int descriptor, uint64_t bytes,
                                 uint64_t offset);
  /// Makes bytes [begin, end) usable.
  Status commit(uint64_t begin, uint64_t end);

  uint8_t *data() const { return base ? base + skipped : nullptr; }
  uint64_t size() const { return length - skipped; }

private:
  static Result<Mapping> map(uint64_t bytes, int protection, int flags,
                             int descriptor);
  void swap(Mapping &other) {
    std::swap(base, other.base);
    std::swap(length, other.length);
    std::swap(skipped, other.skipped);
  }

  uint8_t *base = nullptr;
  uint64_t length = 0, skipped = 0;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_MEMORY_MEMORY_H
