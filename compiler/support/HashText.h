// The hash of specs and of libraries' files. It knows no MLIR.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SUPPORT_HASHTEXT_H
#define TFC_COMPILER_SUPPORT_HASHTEXT_H

#include "tfc/abi.h"

#include <cstdint>
#include <string_view>

namespace tfc {

/// FNV-1a, 64 bits (Fowler, Noll, Vo): of a canonical spec it is the library's
/// hash, of a library's file its checksum.
inline uint64_t hashText(std::string_view text) {
  uint64_t hash = TFC_FNV_BASIS;
  for (unsigned char c : text) {
    hash = (hash ^ c) * TFC_FNV_PRIME;
  }
  return hash;
}

} // namespace tfc

#endif // TFC_COMPILER_SUPPORT_HASHTEXT_H
