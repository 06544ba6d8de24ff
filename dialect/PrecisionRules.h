// What a model says of the precision of single matrices.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_PRECISIONRULES_H
#define TFC_DIALECT_PRECISIONRULES_H

#include "llvm/ADT/StringRef.h"

namespace tfc::transformer {

/// Attribute of a `transformer.parameter`, a unit: a matrix that is no integers
/// where others are, but bf16.
constexpr llvm::StringLiteral kKeptWideAttrName = "transformer.kept_wide";

/// The same of one that is bytes where others are integers of four bits.
constexpr llvm::StringLiteral kKeptByteAttrName = "transformer.kept_byte";

} // namespace tfc::transformer

#endif // TFC_DIALECT_PRECISIONRULES_H
