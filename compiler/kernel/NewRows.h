// The new rows of a step's sequences: where they are, which are seen, and which
// sequence has a row.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_NEWROWS_H
#define TFC_COMPILER_KERNEL_NEWROWS_H

#include "compiler/kernel/KernelBuilder.h"

namespace tfc {

/// `count` rows from `first` on, after `past` positions; the first `visible` of
/// them are seen.
struct NewRows {
  mlir::Value first, count, past, visible;
};

/// Of the step's sequence `number`.
NewRows loadNewRows(KernelBuilder &k, mlir::Value step, mlir::Value number);
/// Of the one that has the row `token`.
NewRows findNewRows(KernelBuilder &k, mlir::Value step, mlir::Value token);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_NEWROWS_H
