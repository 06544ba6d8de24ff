// What is said of a device's kernels and entries from their making to the
// library's tables.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SUPPORT_DEVICEKERNELS_H
#define TFC_COMPILER_SUPPORT_DEVICEKERNELS_H

#include "llvm/ADT/StringRef.h"

namespace tfc {

/// On a kernel: bytes of shared memory that a launch gives a block of it, as an
/// i32; none without it.
constexpr llvm::StringLiteral kSharedBytesAttrName = "transformer.shared_bytes";

/// On a kernel, and on a loop that becomes one, a unit: its blocks run for
/// long, so that nothing is gained where it begins before the kernel in front
/// has ended; and they would be crowded where that has left room.
constexpr llvm::StringLiteral kBeginsAloneAttrName = "transformer.begins_alone";

/// On a launch, a unit: the kernel may begin before the one in front has ended.
constexpr llvm::StringLiteral kOverlapsAttrName = "transformer.overlaps";

/// On an entry, the number of the output, as an i32, whose rows' greatest
/// columns a step may ask for.
constexpr llvm::StringLiteral kGreatestAttrName = "transformer.greatest";

} // namespace tfc

#endif // TFC_COMPILER_SUPPORT_DEVICEKERNELS_H
