// The batches that `tfc verify` runs, once as the runtime takes them (padded,
// with a mask) and once as the interpreter does (a step of packed tokens).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_VERIFY_VERIFYBATCH_H
#define TFC_COMPILER_VERIFY_VERIFYBATCH_H

#include "compiler/reference/Interpreter.h"
#include "runtime/src/Error.h"

#include <optional>

namespace tfc {

/// What an entry and its model say about batches.
struct EntryInfo {
  explicit EntryInfo(mlir::func::FuncOp entry);

  mlir::func::FuncOp entry;
  std::vector<transformer::InputAttr> inputs;
  /// Of the outputs that have wanted rows, if there are any.
  std::optional<transformer::Take> take;
  bool isCausal = false;
  /// Whether an output has a row for every token.
  bool givesTokens = false;
  /// Of the names of its inputs: "decoder_" when the model has an encoder too.
  std::string prefix;
  int64_t pad = -1, maxPositions = 0, decoderStart = -1;
  std::vector<int64_t> eos;

  /// Whether tokens have rows of floats.
  bool hasGiven() const;
  std::string idsName() const { return prefix + "input_ids"; }
  std::string maskName() const { return prefix + "attention_mask"; }
};

/// Tensors [batch, length] by input name, and which tokens exist.
struct PaddedBatch {
  int64_t batch = 0, length = 0;
  std::map<std::string, std::vector<int32_t>> inputs;
  /// Of inputs with a width: those of all tokens but the first ones of a row,
  /// which have ids.
  std::map<std::string, reference::Matrix> given;
  std::vector<int32_t> mask;

  bool exists(int64_t row, int64_t column) const {
    return mask[row * length + column] != 0;
  }
};

/// A batch for each entry in the order of execution: three sequences of
/// different lengths, padded on the right; one where the model has no pad token
/// but needs it. Where a head takes the last end token, the last token of every
/// row is one, and no other. Equal seeds give equal batches.
std::vector<PaddedBatch> makeRandomBatches(llvm::ArrayRef<EntryInfo> entries,
                                           uint64_t seed);

/// The tensors of a file, to each entry its own; without its mask every token
/// exists. Errors name the tensor. Values are not checked: the runtime does
/// that.
rt::Result<std::vector<PaddedBatch>>
readBatches(const std::string &path, llvm::ArrayRef<EntryInfo> entries);

/// A forward pass over `batch`, which the runtime has accepted, packed as it
/// does: the tokens that exist, row by row; positions are columns. `source` is
/// the batch of the first entry: what cross-attention sees, and whose end
/// tokens a head may take.
reference::Step packForward(const EntryInfo &info, const PaddedBatch &batch,
                            const PaddedBatch &source);

} // namespace tfc

#endif // TFC_COMPILER_VERIFY_VERIFYBATCH_H
