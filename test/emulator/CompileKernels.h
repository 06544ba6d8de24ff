// PTX to functions: translated, compiled by clang when first launched, kept by
// hash.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_COMPILEKERNELS_H
#define TFC_TEST_EMULATOR_COMPILEKERNELS_H

#include "test/emulator/ReadPtx.h"
#include "test/emulator/kernel_context.h"

#include <memory>
#include <mutex>

namespace tfc::emulator {

/// A PTX module whose entries can be run. Shared objects lie in the folder that
/// TFC_FAKECUDA_CACHE names, where the next process finds them, else in one
/// that is gone with the process.
class CompiledModule {
public:
  /// Errors: PtxError, of what is not PTX that the emulator knows.
  explicit CompiledModule(const std::string &ptx);

  const PtxModule &ptx() const { return module; }
  /// Lines of the PTX text, for messages.
  const std::vector<std::string> &lines() const { return text; }
  /// The function of an entry, which is compiled when it is first asked for:
  /// most of a program's kernels are for steps that a test does not make.
  /// Errors: PtxError.
  emu_kernel kernel(size_t entry);

private:
  struct Function {
    std::string code;
    std::shared_ptr<void> library;
    emu_kernel run = nullptr;
  };

  PtxModule module;
  std::vector<std::string> text;
  std::mutex mutex;
  std::vector<Function> functions; // by entry
};

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_COMPILEKERNELS_H
