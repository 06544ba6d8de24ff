// What is said of a device's kernel from its making to the library's table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SUPPORT_DEVICEKERNELS_H
#define TFC_COMPILER_SUPPORT_DEVICEKERNELS_H

#include "llvm/ADT/StringRef.h"

namespace tfc {

/// On a kernel: bytes of shared memory that a launch gives a block of it, as an
/// i32; none without it.
constexpr llvm::StringLiteral kSharedBytesAttrName = "transformer.shared_bytes";

} // namespace tfc

#endif // TFC_COMPILER_SUPPORT_DEVICEKERNELS_H
