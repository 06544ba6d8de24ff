// How much memory a process may have.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_MEMORY_MEMORYLIMITS_H
#define TFC_RUNTIME_SRC_MEMORY_MEMORYLIMITS_H

#include "runtime/src/memory/Cgroups.h"

namespace tfc::rt {

/// Bytes that the control groups of a process allow it; 0 when there is no
/// limit. Versions 1 and 2.
uint64_t cgroupMemory(const CgroupPlace &place = {});

/// Bytes of memory of this machine, or fewer when the control groups say so.
uint64_t allowedMemory();

/// Bytes of addresses that the process may still map (RLIMIT_AS); UINT64_MAX
/// without a limit.
uint64_t remainingAddresses();

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_MEMORY_MEMORYLIMITS_H
