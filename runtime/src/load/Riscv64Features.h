// The instruction sets beyond RV64GC that programs of riscv64 may need: the one
// list for the compiler, which asks LLVM's tables by name, and for the runtime,
// which asks the machine. Header only.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_RISCV64FEATURES_H
#define TFC_RUNTIME_SRC_LOAD_RISCV64FEATURES_H

#include "tfc/abi.h"

namespace tfc {

struct Riscv64Feature {
  uint64_t feature;    // TFC_FEATURE_RISCV_*
  const char *name;    // LLVM's
  uint32_t vectorBits; // of a vector register, at least
};

/// Each has those before it: a register's bits say all of them. `v` is the
/// vector extension of version 1.0.
inline constexpr Riscv64Feature riscv64Features[] = {
    {TFC_FEATURE_RISCV_V, "v", 128},
    {TFC_FEATURE_RISCV_ZVL256B, "zvl256b", 256},
    {TFC_FEATURE_RISCV_ZVL512B, "zvl512b", 512},
};

} // namespace tfc

#endif // TFC_RUNTIME_SRC_LOAD_RISCV64FEATURES_H
