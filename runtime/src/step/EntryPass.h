// One entry over a padded batch: its tokens packed, run, and the results put
// back into their columns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_STEP_ENTRYPASS_H
#define TFC_RUNTIME_SRC_STEP_ENTRYPASS_H

#include "runtime/src/step/Forward.h"
#include "runtime/src/step/Inputs.h"
#include "runtime/src/step/Runner.h"

namespace tfc::rt {

/// The cross blocks of a batch, by row: what an encoder writes and a decoder
/// reads.
struct CrossRows {
  BlockCache &cache;
  std::vector<BlockTable> tables;
  std::vector<int64_t> counts;
};

class EntryPass {
public:
  /// wanted[p]: whether output p is computed; headRows: as in runForward. The
  /// rest must outlive the pass.
  EntryPass(const Model &model, Runner &runner, const InputBatch &inputs,
            std::vector<uint8_t> wanted, std::vector<int64_t> headRows = {});

  /// `all`: the inputs of both entries; `cross` is null in a model with one.
  /// Errors: InvalidArgument when a wanted output has no row to be taken at;
  /// Exhausted; those of Runner::run.
  Status run(const ModelInputs &all, CrossRows *cross);

  /// Appends the wanted outputs.
  void collect(std::vector<OutputTensor> &results) const;

private:
  int64_t takenColumn(int64_t row) const {
    return taken.empty() ? -1 : taken[row];
  }
  InputBatch::Unseen unseenOf(int64_t row) const {
    return inputs.unseen.empty() ? InputBatch::Unseen()
                                 : inputs.unseen[static_cast<size_t>(row)];
  }
  Status chooseColumns(const ModelInputs &all);
  void addToken(int64_t row, int64_t column);
  Status addRow(int64_t row, CrossRows *cross);
  Status checkSpectator(int64_t row, int64_t column, int64_t count,
                        int64_t visible) const;
  OutputTensor collectPort(uint32_t p) const;
  float *copyRow(const float *from, uint32_t p, float *to) const;

  const Model &model;
  const tfc_entry_v0 &entry;
  bool isCausal;
  Runner &runner;
  const InputBatch &inputs;
  std::vector<BlockTable> tables; // by row
  std::vector<SequenceState> states;
  std::vector<uint8_t> wanted;   // by output port
  std::vector<int64_t> headRows; // columns of heads; empty: all
  std::optional<uint32_t> take;  // of the wanted rows, if there are any
  std::vector<int64_t> taken;    // by row; empty: every column, or none
  bool endsAtTaken = false;      // tokens behind it change nothing
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_STEP_ENTRYPASS_H
