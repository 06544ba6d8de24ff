// PTX to functions: translated, compiled by clang, kept by hash.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_COMPILEKERNELS_H
#define TFC_TEST_EMULATOR_COMPILEKERNELS_H

#include "test/emulator/ReadPtx.h"
#include "test/emulator/kernel_context.h"

#include <memory>

namespace tfc::emulator {

/// A PTX module whose entries can be run.
struct CompiledModule {
  PtxModule ptx;
  std::vector<emu_kernel> kernels; // by entry
  std::vector<std::string> lines;  // of the PTX text, for messages
  std::shared_ptr<void> library;
};

/// Compiles a module. Shared objects lie in the folder that TFC_FAKECUDA_CACHE
/// names, where the next process finds them, else in one that is gone with the
/// process. Errors: PtxError.
std::shared_ptr<CompiledModule> compileKernels(const std::string &ptx);

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_COMPILEKERNELS_H
