// Which instruction sets of programs a machine has, and by name what it lacks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_CPUFEATURES_H
#define TFC_RUNTIME_SRC_LOAD_CPUFEATURES_H

#include "tfc/abi.h"

#include <cstdint>
#include <string>

namespace tfc::rt {

/// TFC_ISA_* of the CPU that this runtime is built for, and the target that
/// makes a library for any machine with it. On others there are no programs.
#if defined(__x86_64__)
constexpr uint32_t hostIsa = TFC_ISA_X86_64;
constexpr char hostTarget[] = "cpu:x86-64-v3";
#elif defined(__aarch64__)
constexpr uint32_t hostIsa = TFC_ISA_AARCH64;
constexpr char hostTarget[] = "cpu:armv8-a";
#else
constexpr uint32_t hostIsa = ~uint32_t(0);
constexpr char hostTarget[] = "";
#endif

/// What a machine says about itself, in the words of its kind.
struct CpuWords {
  uint32_t isa = hostIsa;
  // Of x86-64.
  uint32_t words[6] = {};  // by CpuidWord
  uint64_t savedState = 0; // XCR0; 0 when the system does not say
  bool isAmd = false;      // by its vendor
  // Of aarch64.
  uint64_t hwcaps[2] = {}; // by HwcapWord
};

/// Of this machine.
CpuWords readCpu();

/// TFC_FEATURE_* of a machine, of its kind: what it has whole. Levels of x86-64
/// are cumulative.
uint64_t machineFeatures(const CpuWords &cpu = readCpu());

/// What a machine lacks of the instruction sets of features, "avx2, fma"; "an
/// unknown instruction set" when nothing.
std::string missingFeatures(uint64_t features, const CpuWords &cpu = readCpu());

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_LOAD_CPUFEATURES_H
