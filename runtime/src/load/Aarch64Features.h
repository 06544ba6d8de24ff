// The instruction sets beyond ARMv8.0-A that programs of aarch64 may need: the
// one list for the compiler, which asks LLVM's tables by name, and for the
// runtime, which asks the system. Header only.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_AARCH64FEATURES_H
#define TFC_RUNTIME_SRC_LOAD_AARCH64FEATURES_H

#include "tfc/abi.h"

namespace tfc {

/// A word of what Linux says of a CPU: AT_HWCAP, AT_HWCAP2.
enum class HwcapWord { Hwcap, Hwcap2 };

struct Aarch64Feature {
  uint64_t feature; // TFC_FEATURE_ARM_*
  const char *name; // LLVM's
  HwcapWord word;
  uint32_t bit; // of the word
};

/// Everything that LLVM may use in code for a program that needs the feature.
/// They stand beside each other: each is on ARMv8.0-A.
inline constexpr Aarch64Feature aarch64Features[] = {
    {TFC_FEATURE_ARM_DOTPROD, "dotprod", HwcapWord::Hwcap, 20},
    {TFC_FEATURE_ARM_I8MM, "i8mm", HwcapWord::Hwcap2, 13},
    {TFC_FEATURE_ARM_BF16, "bf16", HwcapWord::Hwcap2, 14},
    {TFC_FEATURE_ARM_SVE2, "sve", HwcapWord::Hwcap, 22},
    {TFC_FEATURE_ARM_SVE2, "sve2", HwcapWord::Hwcap2, 1},
};

} // namespace tfc

#endif // TFC_RUNTIME_SRC_LOAD_AARCH64FEATURES_H
