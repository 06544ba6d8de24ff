// The tables of one step: its tokens, packed without padding, its sequences,
// and the work items of attention.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_STEP_BATCH_H
#define TFC_RUNTIME_SRC_STEP_BATCH_H

#include "runtime/src/memory/SequenceState.h"

namespace tfc::rt {

/// Cleared and filled for every step; keeps its memory in between.
class Batch {
public:
  Batch(const tfc_entry_v0 &entry, bool isCausal);

  void clear();

  /// Adds a sequence of `count` new tokens after `past` earlier ones, of which
  /// `keys` are to be seen (tfc_sequence_v0), with its blocks, and those of its
  /// source, which hold `crossCount` positions, and its state where the entry
  /// has some. Returns the row of the first token. The caller appends `count`
  /// values to every port's `inputs`.
  int32_t add(int64_t count, int64_t past, int64_t keys,
              const BlockTable &blocks, int64_t crossCount = 0,
              const BlockTable *crossBlocks = nullptr,
              const SequenceState *ownState = nullptr);

  /// Makes the work items, once all sequences are there.
  void finish();

  int64_t numTokens() const { return tokens; }

  std::vector<std::vector<int32_t>> inputs; // by port, a value a token
  /// Of the port of embeddings: the caller's rows, and how many there are.
  const float *given = nullptr;
  int64_t numGiven = 0;
  std::vector<tfc_sequence_v0> sequences;
  std::vector<tfc_item_v0> items;
  BlockTable blockTable;     // of all sequences and caches
  std::vector<int32_t> rows; // wanted

private:
  struct Work {
    int64_t cost;
    tfc_item_v0 item;
  };

  int32_t addBlocks(const BlockTable &blocks);

  int64_t queryRows;
  bool isCausal;
  int self, cross, state; // numbers of the entry's caches; -1: none
  int64_t tokens = 0;
  std::vector<Work> work;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_STEP_BATCH_H
