// Registers of AMX's tiles: a system saves them for a process that asks for it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_TILEPERMISSION_H
#define TFC_RUNTIME_SRC_LOAD_TILEPERMISSION_H

#include "runtime/src/load/CpuFeatures.h"

#include <string>

namespace tfc::rt {

/// Why the system refuses this process registers of tiles; "" where it does
/// not. Asks it (arch_prctl, Linux' Documentation/arch/x86/xstate.rst) when
/// called first; all threads and children have them then. Each thread's
/// state is 8 KB larger from its first use of them on.
const std::string &tileRefusal();

/// `features` of a machine without those that this process may not use. Asks
/// only where the machine has tiles and one of the library's programs is for
/// them: it is refused where a thread has a small stack for signals, and every
/// such stack has to be larger afterwards.
uint64_t permittedFeatures(const tfc_module_v0 &table, uint64_t features,
                           const std::string &(*refusal)() = tileRefusal);

/// What hinders a program whose features `missing` are lacking, or, where they
/// are `present`, refused:
/// "amx-tile, amx-bf16", "the system's permission for AMX (...)".
std::string describeMissing(uint64_t missing,
                            uint64_t present = machineFeatures());

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_LOAD_TILEPERMISSION_H
