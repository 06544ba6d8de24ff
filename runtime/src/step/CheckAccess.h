// The one function of the host that checked code calls by its name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_STEP_CHECKACCESS_H
#define TFC_RUNTIME_STEP_CHECKACCESS_H

#include <cstdint>

/// `kind`: read (0) or write (1) `size` bytes at `address`, which ends the
/// process with a report where they are not all within a buffer; lend nothing
/// of them (2), or all (3); from here on it is the layer `size` of a loop (4),
/// or, on this thread, the op `name` (5). `name` may be null.
extern "C" __attribute__((visibility("default"))) void
tfc_check_access(const void *address, uint64_t size, uint32_t kind,
                 const char *name);

#endif // TFC_RUNTIME_STEP_CHECKACCESS_H
