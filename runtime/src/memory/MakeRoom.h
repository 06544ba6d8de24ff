// Memory ahead of the step that must not fail.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_MEMORY_MAKEROOM_H
#define TFC_RUNTIME_SRC_MEMORY_MAKEROOM_H

#include <algorithm>
#include <vector>

namespace tfc::rt {

/// Makes sure that the next push_back, or so many, allocates nothing. Grows by
/// doubling, which reserve alone does not do.
template <typename T> void makeRoom(std::vector<T> &values, size_t count = 1) {
  if (values.capacity() - values.size() < count) {
    values.reserve(
        std::max({size_t(8), 2 * values.capacity(), values.size() + count}));
  }
}

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_MEMORY_MAKEROOM_H
