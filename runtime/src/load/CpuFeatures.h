// Which instruction sets of programs a machine has, and by name what it lacks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_CPUFEATURES_H
#define TFC_RUNTIME_SRC_LOAD_CPUFEATURES_H

#include "runtime/src/load/Machines.h"

#include <cstdint>
#include <string>

namespace tfc::rt {

/// TFC_ISA_* of the CPU that this runtime is built for. On others there are no
/// programs.
#if defined(__x86_64__)
constexpr uint32_t hostIsa = TFC_ISA_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t hostIsa = TFC_ISA_AARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
constexpr uint32_t hostIsa = TFC_ISA_RISCV64;
#else
constexpr uint32_t hostIsa = ~uint32_t(0);
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
  // Of riscv64: of a vector register, 0 without the extension.
  uint64_t vectorBits = 0;
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
