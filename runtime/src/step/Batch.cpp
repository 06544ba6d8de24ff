// Fills the tables of a step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/step/Batch.h"

#include "runtime/src/load/ModuleTables.h"

#include <algorithm>
#include <tuple>

namespace tfc::rt {

Batch::Batch(const tfc_entry_v0 &entry, bool isCausal)
    : inputs(entry.n_inputs), queryRows(entry.query_rows), isCausal(isCausal),
      self(findCache(entry, TFC_CACHE_SELF)),
      cross(findCache(entry, TFC_CACHE_CROSS)),
      state(findCache(entry, TFC_CACHE_STATE)) {}

void Batch::clear() {
  for (std::vector<int32_t> &values : inputs) {
    values.clear();
  }
  sequences.clear();
  items.clear();
  blockTable.clear();
  rows.clear();
  given = nullptr;
  numGiven = 0;
  tokens = 0;
}

int32_t Batch::addBlocks(const BlockTable &blocks) {
  auto first = static_cast<int32_t>(blockTable.size());
  blockTable.insert(blockTable.end(), blocks.begin(), blocks.end());
  return first;
}

int32_t Batch::add(int64_t count, int64_t past, int64_t keys,
                   const BlockTable &blocks, int64_t crossCount,
                   const BlockTable *crossBlocks,
                   const SequenceState *ownState) {
  tfc_sequence_v0 sequence{};
  sequence.first = static_cast<int32_t>(tokens);
  sequence.count = static_cast<int32_t>(count);
  sequence.past = static_cast<int32_t>(past);
  sequence.keys = static_cast<int32_t>(keys);
  sequence.cross_count = static_cast<int32_t>(crossCount);
  if (self >= 0) {
    sequence.blocks_at[self] = addBlocks(blocks);
  }
  if (cross >= 0 && crossBlocks) {
    sequence.blocks_at[cross] = addBlocks(*crossBlocks);
  }
  if (state >= 0 && ownState) {
    // Without an earlier step it begins with zeros.
    int32_t from = ownState->now.empty() ? -1 : ownState->now.front();
    sequence.blocks_at[state] = addBlocks({from, ownState->next.front()});
  }
  sequences.push_back(sequence);
  tokens += count;
  return sequence.first;
}

void Batch::finish() {
  work.clear();
  for (size_t s = 0; s < sequences.size(); ++s) {
    const tfc_sequence_v0 &seq = sequences[s];
    for (int64_t first = 0; first < seq.count; first += queryRows) {
      int64_t count = std::min<int64_t>(queryRows, seq.count - first);
      int64_t keys = isCausal
                         ? std::min<int64_t>(seq.keys, seq.past + first + count)
                         : seq.keys;
      work.push_back(
          {count * (keys + seq.cross_count),
           {static_cast<int32_t>(s), static_cast<int32_t>(first), 0, 0}});
    }
  }
  // Longest first: the last items to finish are then short ones.
  std::sort(work.begin(), work.end(), [](const Work &a, const Work &b) {
    return std::make_tuple(-a.cost, a.item.sequence, a.item.first_row) <
           std::make_tuple(-b.cost, b.item.sequence, b.item.first_row);
  });
  items.clear();
  for (const Work &w : work) {
    items.push_back(w.item);
  }
}

} // namespace tfc::rt
