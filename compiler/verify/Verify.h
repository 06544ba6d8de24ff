// Compiled code against the reference interpreter: which op differs first.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_VERIFY_VERIFY_H
#define TFC_COMPILER_VERIFY_VERIFY_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>

namespace tfc {

struct VerifyOptions {
  /// A Hugging Face folder or a .safetensors file.
  std::string weights;
  /// A safetensors file with a batch; "" makes one from `seed`.
  std::string inputs;
  uint64_t seed = 1;
};

/// What is compared of a library: the value of every op, which a library
/// compiled with taps reports, or the outputs, which are all that one without
/// gives: asked after the former, whose agreement a difference then mentions.
enum class Compared { Taps, Outputs };

/// Runs `library` and the interpreter on `module`, the stage `model` that the
/// library was compiled from, with taps, over the same ragged batch and
/// weights: a forward pass and, for models that generate, steps of decoding in
/// which a sequence joins late. Prints a line a pass to `out`. True when every
/// compared value agrees; else `errors` names the first that does not, or says
/// what is wrong with the files.
bool verifyLibrary(mlir::ModuleOp module, const std::string &library,
                   Compared compared, const VerifyOptions &options,
                   llvm::raw_ostream &out, llvm::raw_ostream &errors);

} // namespace tfc

#endif // TFC_COMPILER_VERIFY_VERIFY_H
