// Lays out and writes the tables of a step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/gpu/StepTables.h"

#include <cstring>

namespace tfc::rt {

StepTables::Piece StepTables::add(uint64_t bytes) {
  Piece piece{end, bytes};
  end += (bytes + 15) / 16 * 16;
  return piece;
}

StepTables::StepTables(const tfc_entry_v0 &entry, const tfc_step_v0 &of,
                       const TableSizes &sizes) {
  step = add(sizeof(tfc_step_v0));
  caches = add(entry.n_caches * sizeof(void *));
  inputPointers = add(entry.n_inputs * sizeof(void *));
  outputPointers = add(entry.n_outputs * sizeof(void *));
  sequences = add(uint64_t(of.n_sequences) * sizeof(tfc_sequence_v0));
  items = add(uint64_t(of.n_items) * sizeof(tfc_item_v0));
  rows = add(uint64_t(of.n_rows) * sizeof(int32_t));
  for (uint32_t p = 0; p < entry.n_inputs; ++p) {
    const tfc_port_v0 &port = entry.inputs[p];
    bool isGiven = port.flags & TFC_PORT_EMBEDS;
    inputs.push_back(
        add(isGiven ? uint64_t(sizes.given) * port.width * sizeof(float)
                    : uint64_t(of.n_tokens) * sizeof(int32_t)));
  }
  // Last: it grows while sequences do, and the others stay where they are.
  blocks = add(sizes.blocks * sizeof(int32_t));
}

void StepTables::write(tfc_step_v0 &given, std::vector<const void *> &pointers,
                       void *staging, void *device) const {
  auto *host = static_cast<uint8_t *>(staging);
  auto *base = static_cast<uint8_t *>(device);
  // Copies a table and says where the device will find it.
  auto put = [&](const Piece &piece, const void *from) -> void * {
    if (piece.bytes > 0) {
      std::memcpy(host + piece.at, from, piece.bytes);
    }
    return base + piece.at;
  };
  auto move = [&](const Piece &piece, auto &table) {
    table = static_cast<std::decay_t<decltype(table)>>(put(piece, table));
  };
  move(blocks, given.block_table);
  move(sequences, given.sequences);
  move(items, given.items);
  move(rows, given.rows);
  pointers.resize(inputs.size());
  for (size_t p = 0; p < inputs.size(); ++p) {
    pointers[p] = put(inputs[p], given.inputs[p]);
  }
  given.inputs = pointers.data();
  given.device_step = base + step.at;
  // The device's own copy: what lies in the host's memory here lies in its own
  // there.
  tfc_step_v0 copy = given;
  move(caches, copy.caches);
  move(inputPointers, copy.inputs);
  move(outputPointers, copy.outputs);
  copy.host = nullptr;
  put(step, &copy);
}

} // namespace tfc::rt
