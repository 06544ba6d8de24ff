// Checks of a pass's options, for its initialize().
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SUPPORT_PASSOPTIONS_H
#define TFC_COMPILER_SUPPORT_PASSOPTIONS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/STLExtras.h"

namespace tfc {

/// "option <name> of <pass>: expected ...": the begin of what is wrong with an
/// option. There is no IR yet, so the message has no place.
inline mlir::InFlightDiagnostic emitOptionError(const mlir::Pass &pass,
                                                mlir::MLIRContext *context,
                                                llvm::StringRef name) {
  return mlir::emitError(mlir::UnknownLoc::get(context))
         << "option " << name << " of " << pass.getArgument() << ": expected ";
}

/// An option that counts something is at least `least`.
inline mlir::LogicalResult expectAtLeast(const mlir::Pass &pass,
                                         mlir::MLIRContext *context,
                                         llvm::StringRef name, int64_t least,
                                         int64_t got) {
  if (got >= least) {
    return mlir::success();
  }
  return emitOptionError(pass, context, name)
         << "at least " << least << ", got " << got;
}

/// An option that names something is one of `names`.
inline mlir::LogicalResult expectOneOf(const mlir::Pass &pass,
                                       mlir::MLIRContext *context,
                                       llvm::StringRef name,
                                       llvm::ArrayRef<llvm::StringRef> names,
                                       llvm::StringRef got) {
  if (llvm::is_contained(names, got)) {
    return mlir::success();
  }
  mlir::InFlightDiagnostic diagnostic = emitOptionError(pass, context, name);
  diagnostic << "one of ";
  llvm::interleaveComma(names, diagnostic);
  return diagnostic << ", got \"" << got << '"';
}

} // namespace tfc

#endif // TFC_COMPILER_SUPPORT_PASSOPTIONS_H
