// What instructions compute, as LLVM's IR: for machines that lack them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_EMIT_INSTRUCTIONMODELS_H
#define TFC_COMPILER_EMIT_INSTRUCTIONMODELS_H

#include <string>

namespace llvm {
class Module;
}

namespace tfc {

/// Calls of `llvm.x86.*` beyond x86-64-v3, and of `llvm.aarch64.*` beyond
/// ARMv8.0-A, become calls of functions that compute the same, to the bit, and
/// want to be inlined. Returns the first intrinsic that has no model, or "".
std::string replaceByModels(llvm::Module &module);

} // namespace tfc

#endif // TFC_COMPILER_EMIT_INSTRUCTIONMODELS_H
