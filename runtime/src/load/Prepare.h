// Weights that a program makes of others, once they are packed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_PREPARE_H
#define TFC_RUNTIME_SRC_LOAD_PREPARE_H

#include "runtime/src/load/Loading.h"
#include "tfc/abi.h"

namespace tfc::rt {

/// Runs the program's entry "prepare" over `packed`, which holds all that
/// tensors store; does nothing where there is no such entry. Errors: Exhausted,
/// Internal (the entry failed, or wrote beyond its workspace), InvalidArgument
/// (a function of the caller's failed), Cancelled.
Status prepareWeights(const tfc_program_v0 &program, void *packed,
                      Loading &loading);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_LOAD_PREPARE_H
