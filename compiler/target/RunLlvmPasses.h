// LLVM's passes by name, over a module of its IR.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_TARGET_RUNLLVMPASSES_H
#define TFC_COMPILER_TARGET_RUNLLVMPASSES_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace tfc {

/// Runs a pipeline in the words of LLVM's opt, which must be well formed. A
/// level's worth of passes is not what generated kernels want:
/// docs/rationale/0016.
void runLlvmPasses(llvm::Module &module, llvm::TargetMachine &machine,
                   llvm::StringRef pipeline);

} // namespace tfc

#endif // TFC_COMPILER_TARGET_RUNLLVMPASSES_H
