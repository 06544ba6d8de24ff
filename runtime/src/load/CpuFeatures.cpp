// Asks this machine for the instruction sets of X86Levels.h, Aarch64Features.h
// or Riscv64Features.h, one by one, so that an error can name what is missing.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/CpuFeatures.h"

#include "runtime/src/load/Aarch64Features.h"
#include "runtime/src/load/Riscv64Features.h"
#include "runtime/src/load/X86Levels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#elif defined(__riscv)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

namespace tfc::rt {

#if defined(__riscv)

/// Of a vector register. Linux says the letter of the extension for version 0.7
/// of some machines, too, in which the type of vectors that is asked for here
/// is none and sets the sign; and it may keep a process from it.
static uint64_t readVectorBits() {
  constexpr int getVectorControl = 70; // PR_RISCV_V_GET_CONTROL
  constexpr int off = 1, choices = 3;  // of this process, PR_RISCV_V_VSTATE_*
  int control = prctl(getVectorControl, 0, 0, 0, 0);
  if (!(getauxval(AT_HWCAP) >> ('v' - 'a') & 1) ||
      (control >= 0 && (control & choices) == off)) {
    return 0;
  }
  int64_t type = 0;
  uint64_t bytes = 0;
  __asm__ volatile(".option push\n\t.option arch, +v\n\t"
                   "vsetvli zero, zero, e8, m1, ta, ma\n\t"
                   "csrr %0, vtype\n\t.option pop"
                   : "=r"(type));
  if (type < 0) {
    return 0;
  }
  __asm__ volatile("csrr %0, 0xc22" : "=r"(bytes)); // vlenb
  return 8 * bytes;
}

#endif

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
#elif defined(__riscv)
  cpu.vectorBits = readVectorBits();
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

static bool has(const CpuWords &cpu, const Riscv64Feature &feature) {
  return cpu.vectorBits >= feature.vectorBits;
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

/// Of a list whose features stand beside each other, or are lists themselves.
template <typename Features>
static uint64_t featuresOf(const Features &features, const CpuWords &cpu) {
  uint64_t missing = 0, all = 0;
  for (const auto &feature : features) {
    all |= feature.feature;
    missing |= has(cpu, feature) ? 0 : feature.feature;
  }
  return all & ~missing;
}

uint64_t machineFeatures(const CpuWords &cpu) {
  return cpu.isa == TFC_ISA_X86_64    ? featuresOfX86(cpu)
         : cpu.isa == TFC_ISA_AARCH64 ? featuresOf(aarch64Features, cpu)
         : cpu.isa == TFC_ISA_RISCV64 ? featuresOf(riscv64Features, cpu)
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

template <typename Features>
static std::string missingOf(const Features &all, uint64_t features,
                             const CpuWords &cpu) {
  std::string names;
  for (const auto &feature : all) {
    if (!has(cpu, feature) && (feature.feature & features)) {
      addName(names, feature.name);
    }
  }
  return names;
}

std::string missingFeatures(uint64_t features, const CpuWords &cpu) {
  std::string names =
      cpu.isa == TFC_ISA_AARCH64   ? missingOf(aarch64Features, features, cpu)
      : cpu.isa == TFC_ISA_RISCV64 ? missingOf(riscv64Features, features, cpu)
                                   : missingOfX86(features, cpu);
  return names.empty() ? "an unknown instruction set" : names;
}

} // namespace tfc::rt
