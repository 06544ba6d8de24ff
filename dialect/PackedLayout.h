// The name of the packed weights' layout in the IR.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_PACKEDLAYOUT_H
#define TFC_DIALECT_PACKEDLAYOUT_H

#include "llvm/ADT/StringRef.h"

namespace tfc::transformer {

/// Module attribute, beside kPackedBytesAttrName: the name of the packed
/// weights' layout. Modules of one model with equal names pack the same bytes.
constexpr llvm::StringLiteral kPackedLayoutAttrName =
    "transformer.packed_layout";

} // namespace tfc::transformer

#endif // TFC_DIALECT_PACKEDLAYOUT_H
