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

/// What the library was compiled from.
struct VerifiedModel {
  /// The stage `model`, or `fused` where the program rounds between ops; with
  /// taps.
  mlir::ModuleOp module;
  /// Of a program that rounds between ops (integers, bf16, caches of 16 bits),
  /// the stage `model`, which does not; null for others.
  mlir::ModuleOp exact;
};

/// Runs `library` and the interpreter on the model with taps, over the same
/// ragged batch and weights: a forward pass and, for models that generate,
/// steps of decoding in which a sequence joins late. Prints a line a pass to
/// `out`. True when every compared value agrees; else `errors` names the first
/// that does not, or says what is wrong with the files.
///
/// Where the program rounds between ops, a difference of the last bit is one of
/// a whole step behind it. So each op of the interpreter gets the library's own
/// inputs, and is compared within the tolerance of that op alone; outputs have
/// to be 30 dB above what differs, and a line says how far they are from those
/// of the exact model.
bool verifyLibrary(const VerifiedModel &model, const std::string &library,
                   Compared compared, const VerifyOptions &options,
                   llvm::raw_ostream &out, llvm::raw_ostream &errors);

} // namespace tfc

#endif // TFC_COMPILER_VERIFY_VERIFY_H
