// Memory straight from the system: aligned to a page, zero, committed when
// touched, and returned when freed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_MEMORY_H
#define TFC_RUNTIME_SRC_MEMORY_H

#include "runtime/src/Error.h"

namespace tfc::rt {

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
  /// Makes bytes [begin, end) usable.
  Status commit(uint64_t begin, uint64_t end);

  uint8_t *data() const { return base; }
  uint64_t size() const { return length; }

private:
  static Result<Mapping> map(uint64_t bytes, bool usable);
  void swap(Mapping &other) {
    std::swap(base, other.base);
    std::swap(length, other.length);
  }

  uint8_t *base = nullptr;
  uint64_t length = 0;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_MEMORY_H
