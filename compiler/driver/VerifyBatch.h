// The batch that `tfc verify` runs, once as the runtime takes it (padded, with
// a mask) and once as the interpreter does (a step of packed tokens).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_VERIFYBATCH_H
#define TFC_COMPILER_DRIVER_VERIFYBATCH_H

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
  int64_t pad = -1, maxPositions = 0;
};

/// Tensors [batch, length] by input name, and which tokens exist.
struct PaddedBatch {
  int64_t batch = 0, length = 0;
  std::map<std::string, std::vector<int32_t>> inputs;
  std::vector<int32_t> mask;

  bool exists(int64_t row, int64_t column) const {
    return mask[row * length + column] != 0;
  }
};

/// Three sequences of different lengths, padded on the right; one where the
/// model has no pad token but needs it. Equal seeds give equal batches.
PaddedBatch makeRandomBatch(const EntryInfo &info, uint64_t seed);

/// The tensors of a file; without attention_mask every token exists. Errors
/// name the tensor. Values are not checked: the runtime does that.
rt::Result<PaddedBatch> readBatch(const std::string &path);

/// A forward pass over `batch`, which the runtime has accepted, packed as it
/// does: the tokens that exist, row by row; positions are columns.
reference::Step packForward(const EntryInfo &info, const PaddedBatch &batch);

/// Sequences that a session decodes. Mirrors what each step is made of.
class DecodeSteps {
public:
  explicit DecodeSteps(const EntryInfo &info) : info(info) {}

  /// A prompt that the next step takes in, at positions 0, 1, ...
  void add(int64_t id, const std::vector<int64_t> &tokens);
  /// The next step of all sequences, for the rows of `output`.
  reference::Step next(const std::string &output);
  /// The token that the step gave a sequence; the next step takes it in.
  void advance(int64_t id, int64_t token);

private:
  struct Decoding {
    int64_t id;
    int32_t past;
    std::vector<int64_t> tokens;
  };
  const EntryInfo &info;
  std::vector<Decoding> sequences;
};

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_VERIFYBATCH_H
