// Registers of AMX's tiles: a system saves them for a process that asks for it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/TilePermission.h"

#include "runtime/src/load/X86Levels.h"

#include <cerrno>
#include <system_error>

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tfc::rt {

static std::string askForTiles() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long request = 0x1023; // ARCH_REQ_XCOMP_PERM
  constexpr long tiles = 18;       // XFEATURE_XTILEDATA
  if (syscall(SYS_arch_prctl, request, tiles) == 0) {
    return "";
  }
  if (errno == ENOSPC) {
    return "a thread's stack for signals is smaller than AT_MINSIGSTKSZ";
  }
  return std::generic_category().message(errno);
#else
  return "not this kind of machine";
#endif
}

const std::string &tileRefusal() {
  static const std::string refusal = askForTiles();
  return refusal;
}

uint64_t permittedFeatures(const tfc_module_v0 &table, uint64_t features,
                           const std::string &(*refusal)()) {
  bool isFor = false;
  for (uint32_t i = 0; i < table.n_programs; ++i) {
    const tfc_program_v0 &program = table.programs[i];
    isFor |= program.isa == TFC_ISA_X86_64 &&
             (program.features & features & tileFeatures);
  }
  return isFor && !refusal().empty() ? features & ~tileFeatures : features;
}

std::string describeMissing(uint64_t missing, uint64_t present) {
  bool isRefused = hostIsa == TFC_ISA_X86_64 && (missing & tileFeatures) &&
                   (missing & present) == missing;
  return isRefused ? "the system's permission for AMX (" + tileRefusal() + ")"
                   : missingFeatures(missing);
}

} // namespace tfc::rt
