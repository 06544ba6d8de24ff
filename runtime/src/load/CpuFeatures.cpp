// Asks this machine for the instruction sets of X86Levels.h or
// Aarch64Features.h, one by one, so that an error can name what is missing.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/CpuFeatures.h"

#include "runtime/src/load/Aarch64Features.h"
#include "runtime/src/load/X86Levels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace tfc::rt {

CpuWords readCpu() {
  CpuWords cpu;
#if defined(__x86_64__)
  auto wordOf = [&](CpuidWord word) -> uint32_t & {
    return cpu.words[static_cast<int>(word)];
  };
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d)) {
    cpu.isAmd = b == signature_AMD_ebx && d == signature_AMD_edx &&
                c == signature_AMD_ecx;
  }
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    wordOf(CpuidWord::Leaf1Ecx) = c;
  }
  // Bit 27: the system uses xsave, and the program may read what it saves.
  if (c >> 27 & 1) {
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    cpu.savedState = uint64_t(high) << 32 | low;
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    wordOf(CpuidWord::Leaf7Ebx) = b;
    wordOf(CpuidWord::Leaf7Ecx) = c;
    wordOf(CpuidWord::Leaf7Edx) = d;
  }
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d)) {
    wordOf(CpuidWord::Leaf7Part1Eax) = a;
  }
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) {
    wordOf(CpuidWord::ExtendedEcx) = c;
  }
#elif defined(__aarch64__)
  cpu.hwcaps[static_cast<int>(HwcapWord::Hwcap)] = getauxval(AT_HWCAP);
  cpu.hwcaps[static_cast<int>(HwcapWord::Hwcap2)] = getauxval(AT_HWCAP2);
#endif
  return cpu;
}

static bool has(const CpuWords &cpu, const X86Feature &feature) {
  uint32_t word = cpu.words[static_cast<int>(feature.word)];
  return (word >> feature.bit & 1) != 0 &&
         (cpu.savedState & feature.savedState) == feature.savedState;
}

static bool has(const CpuWords &cpu, const Aarch64Feature &feature) {
  return (cpu.hwcaps[static_cast<int>(feature.word)] >> feature.bit & 1) != 0;
}

static uint64_t featuresOfX86(const CpuWords &cpu) {
  uint64_t missing = cpu.isAmd ? 0 : TFC_FEATURE_FAST_AVX512_BF16;
  for (const X86Feature &feature : x86Features) {
    missing |= has(cpu, feature) ? 0 : feature.level;
  }
  uint64_t present = 0;
  for (uint64_t level : x86Levels) {
    if (missing & level) {
      break;
    }
    present |= level;
  }
  for (const auto &extra : x86Extras) {
    bool has = !(missing & extra.feature) && (present & extra.level);
    present |= has ? extra.feature : 0;
  }
  return present;
}

static uint64_t featuresOfAarch64(const CpuWords &cpu) {
  uint64_t missing = 0, all = 0;
  for (const Aarch64Feature &feature : aarch64Features) {
    all |= feature.feature;
    missing |= has(cpu, feature) ? 0 : feature.feature;
  }
  return all & ~missing;
}

uint64_t machineFeatures(const CpuWords &cpu) {
  return cpu.isa == TFC_ISA_X86_64    ? featuresOfX86(cpu)
         : cpu.isa == TFC_ISA_AARCH64 ? featuresOfAarch64(cpu)
                                      : 0;
}

static void addName(std::string &names, const char *name) {
  names += names.empty() ? "" : ", ";
  names += name;
}

static std::string missingOfX86(uint64_t features, const CpuWords &cpu) {
  std::string names;
  for (const X86Feature &feature : x86Features) {
    if (!has(cpu, feature) && (feature.level & withLowerLevels(features))) {
      addName(names, feature.name);
    }
  }
  bool isSlow = (features & TFC_FEATURE_FAST_AVX512_BF16) && !cpu.isAmd;
  return names.empty() && isSlow
             ? "a fast avx512bf16 (this one is slower than products of f32)"
             : names;
}

static std::string missingOfAarch64(uint64_t features, const CpuWords &cpu) {
  std::string names;
  for (const Aarch64Feature &feature : aarch64Features) {
    if (!has(cpu, feature) && (feature.feature & features)) {
      addName(names, feature.name);
    }
  }
  return names;
}

std::string missingFeatures(uint64_t features, const CpuWords &cpu) {
  std::string names = cpu.isa == TFC_ISA_AARCH64
                          ? missingOfAarch64(features, cpu)
                          : missingOfX86(features, cpu);
  return names.empty() ? "an unknown instruction set" : names;
}

} // namespace tfc::rt
