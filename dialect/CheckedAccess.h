// What a module says that is compiled for AddressSanitizer, and what it calls.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_CHECKEDACCESS_H
#define TFC_DIALECT_CHECKEDACCESS_H

#include "llvm/ADT/StringRef.h"

namespace tfc::transformer {

/// Module attribute, a unit: every load and store is checked, and buffers have
/// red zones between them.
constexpr llvm::StringLiteral kCheckedAttrName = "transformer.checked";

/// What such code calls of its host, and nothing else: void(pointer, size,
/// kind, name). runtime/src/step/CheckAccess.cpp says what each kind is.
constexpr llvm::StringLiteral kCheckAccessName = "tfc_check_access";

enum class AccessKind : uint32_t {
  Read,
  Write,
  Poison,
  Unpoison,
  Layer, // the size is its number
  Op     // a function of kernels is called for it
};

} // namespace tfc::transformer

#endif // TFC_DIALECT_CHECKEDACCESS_H
