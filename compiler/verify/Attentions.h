// Where a model looks: the probabilities of its attentions, as the interpreter
// computes them. A compiled library never has them in one piece.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_VERIFY_ATTENTIONS_H
#define TFC_COMPILER_VERIFY_ATTENTIONS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace tfc {

struct AttentionFiles {
  std::string weights; // a Hugging Face folder or a .safetensors file
  std::string inputs;  // one sequence: input_ids [1, length], ...
  std::string outputs; // safetensors to write
};

/// Runs `module`, a stage `model`, over the sequence and writes, by Hugging
/// Face's names, "attentions", or of a model with an encoder
/// "encoder_attentions", "decoder_attentions" and "cross_attentions": f32
/// [layers, heads, queries, keys], a row's sum 1, zeros where a row does not
/// see. False when anything is wrong with the files, which `errors` says.
bool writeAttentions(mlir::ModuleOp module, const AttentionFiles &files,
                     llvm::raw_ostream &errors);

} // namespace tfc

#endif // TFC_COMPILER_VERIFY_ATTENTIONS_H
