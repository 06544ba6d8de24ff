// The hash by which specs are told apart. It knows no MLIR.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SUPPORT_HASHTEXT_H
#define TFC_COMPILER_SUPPORT_HASHTEXT_H

#include <cstdint>
#include <string_view>

namespace tfc {

/// FNV-1a, 64 bits (Fowler, Noll, Vo): of a canonical spec it is the library's
/// hash.
inline uint64_t hashText(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : text) {
    hash = (hash ^ c) * 0x100000001b3u;
  }
  return hash;
}

} // namespace tfc

#endif // TFC_COMPILER_SUPPORT_HASHTEXT_H
