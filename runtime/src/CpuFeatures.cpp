// Which x86-64 levels this machine has. The levels are asked for instruction
// set by instruction set, so that an error can name the one that is missing.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Module.h"

namespace tfc::rt {

#if defined(__x86_64__)

namespace {

struct Feature {
  uint64_t level;
  const char *name;
  bool present;
};

// __builtin_cpu_supports also asks whether the system saves the registers.
std::vector<Feature> listFeatures() {
  __builtin_cpu_init();
  uint64_t v2 = TFC_FEATURE_X86_64_V2, v3 = TFC_FEATURE_X86_64_V3,
           v4 = TFC_FEATURE_X86_64_V4;
  return {
      {v2, "ssse3", __builtin_cpu_supports("ssse3") != 0},
      {v2, "sse4.1", __builtin_cpu_supports("sse4.1") != 0},
      {v2, "sse4.2", __builtin_cpu_supports("sse4.2") != 0},
      {v2, "popcnt", __builtin_cpu_supports("popcnt") != 0},
      {v3, "avx", __builtin_cpu_supports("avx") != 0},
      {v3, "avx2", __builtin_cpu_supports("avx2") != 0},
      {v3, "bmi", __builtin_cpu_supports("bmi") != 0},
      {v3, "bmi2", __builtin_cpu_supports("bmi2") != 0},
      {v3, "fma", __builtin_cpu_supports("fma") != 0},
      {v4, "avx512f", __builtin_cpu_supports("avx512f") != 0},
      {v4, "avx512bw", __builtin_cpu_supports("avx512bw") != 0},
      {v4, "avx512cd", __builtin_cpu_supports("avx512cd") != 0},
      {v4, "avx512dq", __builtin_cpu_supports("avx512dq") != 0},
      {v4, "avx512vl", __builtin_cpu_supports("avx512vl") != 0},
  };
}

} // namespace

uint64_t machineFeatures() {
  uint64_t missing = 0;
  for (const Feature &feature : listFeatures()) {
    missing |= feature.present ? 0 : feature.level;
  }
  uint64_t present = 0;
  for (uint64_t level :
       {TFC_FEATURE_X86_64_V2, TFC_FEATURE_X86_64_V3, TFC_FEATURE_X86_64_V4}) {
    if (missing & level) {
      break;
    }
    present |= level;
  }
  return present;
}

std::string missingFeatures(uint64_t features) {
  uint64_t known =
      TFC_FEATURE_X86_64_V2 | TFC_FEATURE_X86_64_V3 | TFC_FEATURE_X86_64_V4;
  std::string names;
  for (const Feature &feature : listFeatures()) {
    // A level contains those below it.
    if (!feature.present && feature.level <= (features & known)) {
      names += names.empty() ? "" : ", ";
      names += feature.name;
    }
  }
  return names.empty() ? "an unknown instruction set" : names;
}

#else

uint64_t machineFeatures() { return 0; }

std::string missingFeatures(uint64_t) { return "x86-64"; }

#endif

} // namespace tfc::rt
