// Which x86-64 levels a machine has, and by name what it lacks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_CPUFEATURES_H
#define TFC_RUNTIME_SRC_LOAD_CPUFEATURES_H

#include <cstdint>
#include <string>

namespace tfc::rt {

/// What a machine says about itself; all zero where it is no x86-64.
struct CpuWords {
  uint32_t words[5] = {};  // by CpuidWord
  uint64_t savedState = 0; // XCR0; 0 when the system does not say
  bool isAmd = false;      // by its vendor
};

/// Of this machine.
CpuWords readCpu();

/// TFC_FEATURE_* of a machine: the levels that it has whole. Levels are
/// cumulative.
uint64_t machineFeatures(const CpuWords &cpu = readCpu());

/// What a machine lacks of the instruction sets of levels, "avx2, fma"; "an
/// unknown instruction set" when nothing.
std::string missingFeatures(uint64_t features, const CpuWords &cpu = readCpu());

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_LOAD_CPUFEATURES_H
