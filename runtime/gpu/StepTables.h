// All tables of a step in one piece of memory, so that a device gets them in
// one copy: the step itself, the arrays that it points at, and their pointers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_GPU_STEPTABLES_H
#define TFC_RUNTIME_GPU_STEPTABLES_H

#include "runtime/src/step/Device.h"

#include <cstddef>
#include <vector>

namespace tfc::rt {

class StepTables {
public:
  /// Of a step whose tables are the host's and whose caches, weights, workspace
  /// and outputs are the device's.
  StepTables(const tfc_entry_v0 &entry, const tfc_step_v0 &step,
             const TableSizes &sizes);

  uint64_t bytes() const { return end; }

  /// Writes the tables to `staging`, which will be copied to `device`, and
  /// makes the step's pointers the device's: `inputs` becomes its array of
  /// inputs, which stays the host's as `outputs` and `caches` do. Both places
  /// are aligned to 16 bytes and have bytes() of room.
  void write(tfc_step_v0 &step, std::vector<const void *> &inputs,
             void *staging, void *device) const;

private:
  /// A piece: where it begins, and its bytes.
  struct Piece {
    uint64_t at = 0, bytes = 0;
  };
  Piece add(uint64_t bytes);

  uint64_t end = 0;
  Piece step, caches, inputPointers, outputPointers, blocks, sequences, items,
      rows;
  std::vector<Piece> inputs;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_GPU_STEPTABLES_H
