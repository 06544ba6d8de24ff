// The instruction sets of the x86-64 levels beyond x86-64 itself, and of
// programs beyond the levels: the one list for the compiler, which asks LLVM's
// tables by name, and for the runtime, which asks the machine. Header only.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_X86LEVELS_H
#define TFC_RUNTIME_SRC_LOAD_X86LEVELS_H

#include "tfc/abi.h"

namespace tfc {

/// A word of what cpuid answers: leaf 1 ecx, leaf 7 ebx, leaf 0x80000001 ecx,
/// the second part of leaf 7 eax, leaf 7 ecx and edx.
enum class CpuidWord {
  Leaf1Ecx,
  Leaf7Ebx,
  ExtendedEcx,
  Leaf7Part1Eax,
  Leaf7Ecx,
  Leaf7Edx
};

/// What the system must save of a thread besides general registers: bits of
/// the register XCR0.
enum : uint32_t {
  savesNothing = 0,
  savesAvx = 0x6,
  savesAvx512 = 0xe6,
  savesTiles = 0x600e6
};

/// What the system lets a process use that asks for it
/// (runtime/src/load/TilePermission.h).
inline constexpr uint64_t tileFeatures =
    TFC_FEATURE_AMX_BF16 | TFC_FEATURE_AMX_INT8;

struct X86Feature {
  uint64_t level;   // TFC_FEATURE_*: the lowest one that has it, or those that
                    // need it
  const char *name; // LLVM's
  CpuidWord word;
  uint32_t bit; // of the word
  uint32_t savedState;
};

/// Everything that LLVM may use in code for a level and those below it, and
/// what programs beyond levels have besides. AVX512_BF16 is for AMD's machines
/// alone, others do it at half the rate of f32's products, but for what no tile
/// of AMX divides.
inline constexpr X86Feature x86Features[] = {
    {TFC_FEATURE_X86_64_V2, "cx16", CpuidWord::Leaf1Ecx, 13, savesNothing},
    {TFC_FEATURE_X86_64_V2, "sahf", CpuidWord::ExtendedEcx, 0, savesNothing},
    {TFC_FEATURE_X86_64_V2, "popcnt", CpuidWord::Leaf1Ecx, 23, savesNothing},
    {TFC_FEATURE_X86_64_V2, "sse3", CpuidWord::Leaf1Ecx, 0, savesNothing},
    {TFC_FEATURE_X86_64_V2, "ssse3", CpuidWord::Leaf1Ecx, 9, savesNothing},
    {TFC_FEATURE_X86_64_V2, "sse4.1", CpuidWord::Leaf1Ecx, 19, savesNothing},
    {TFC_FEATURE_X86_64_V2, "sse4.2", CpuidWord::Leaf1Ecx, 20, savesNothing},
    // A part of SSE4.2 with a name of its own.
    {TFC_FEATURE_X86_64_V2, "crc32", CpuidWord::Leaf1Ecx, 20, savesNothing},
    {TFC_FEATURE_X86_64_V3, "xsave", CpuidWord::Leaf1Ecx, 26, savesNothing},
    {TFC_FEATURE_X86_64_V3, "avx", CpuidWord::Leaf1Ecx, 28, savesAvx},
    {TFC_FEATURE_X86_64_V3, "avx2", CpuidWord::Leaf7Ebx, 5, savesAvx},
    {TFC_FEATURE_X86_64_V3, "fma", CpuidWord::Leaf1Ecx, 12, savesAvx},
    {TFC_FEATURE_X86_64_V3, "f16c", CpuidWord::Leaf1Ecx, 29, savesAvx},
    {TFC_FEATURE_X86_64_V3, "bmi", CpuidWord::Leaf7Ebx, 3, savesNothing},
    {TFC_FEATURE_X86_64_V3, "bmi2", CpuidWord::Leaf7Ebx, 8, savesNothing},
    {TFC_FEATURE_X86_64_V3, "lzcnt", CpuidWord::ExtendedEcx, 5, savesNothing},
    {TFC_FEATURE_X86_64_V3, "movbe", CpuidWord::Leaf1Ecx, 22, savesNothing},
    {TFC_FEATURE_X86_64_V4, "avx512f", CpuidWord::Leaf7Ebx, 16, savesAvx512},
    {TFC_FEATURE_X86_64_V4, "avx512bw", CpuidWord::Leaf7Ebx, 30, savesAvx512},
    {TFC_FEATURE_X86_64_V4, "avx512cd", CpuidWord::Leaf7Ebx, 28, savesAvx512},
    {TFC_FEATURE_X86_64_V4, "avx512dq", CpuidWord::Leaf7Ebx, 17, savesAvx512},
    {TFC_FEATURE_X86_64_V4, "avx512vl", CpuidWord::Leaf7Ebx, 31, savesAvx512},
    {TFC_FEATURE_FAST_AVX512_BF16 | TFC_FEATURE_AMX_BF16, "avx512bf16",
     CpuidWord::Leaf7Part1Eax, 5, savesAvx512},
    {TFC_FEATURE_AVX_VNNI, "avxvnni", CpuidWord::Leaf7Part1Eax, 4, savesAvx},
    {TFC_FEATURE_AVX512_VNNI | TFC_FEATURE_AMX_INT8, "avx512vnni",
     CpuidWord::Leaf7Ecx, 11, savesAvx512},
    {tileFeatures, "amx-tile", CpuidWord::Leaf7Edx, 24, savesTiles},
    {TFC_FEATURE_AMX_BF16, "amx-bf16", CpuidWord::Leaf7Edx, 22, savesTiles},
    {TFC_FEATURE_AMX_INT8, "amx-int8", CpuidWord::Leaf7Edx, 25, savesTiles},
};

/// The levels, each of which has those before it, and what stands beside them,
/// each on one of them.
inline constexpr uint64_t x86Levels[] = {
    TFC_FEATURE_X86_64_V2, TFC_FEATURE_X86_64_V3, TFC_FEATURE_X86_64_V4};
inline constexpr struct {
  uint64_t feature, level;
} x86Extras[] = {{TFC_FEATURE_FAST_AVX512_BF16, TFC_FEATURE_X86_64_V4},
                 {TFC_FEATURE_AVX_VNNI, TFC_FEATURE_X86_64_V3},
                 {TFC_FEATURE_AVX512_VNNI, TFC_FEATURE_X86_64_V4},
                 {TFC_FEATURE_AMX_BF16, TFC_FEATURE_X86_64_V4},
                 {TFC_FEATURE_AMX_INT8, TFC_FEATURE_X86_64_V4}};

/// `features` and what they stand on.
constexpr uint64_t withLowerLevels(uint64_t features) {
  for (const auto &extra : x86Extras) {
    features |= features & extra.feature ? extra.level : 0;
  }
  for (uint64_t level : x86Levels) {
    features |=
        features & ~(level - 1) & (2 * TFC_FEATURE_X86_64_V4 - 1) ? level : 0;
  }
  return features;
}

} // namespace tfc

#endif // TFC_RUNTIME_SRC_LOAD_X86LEVELS_H
