// The caller's input tensors, checked against an entry's ports.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_INPUTS_H
#define TFC_RUNTIME_SRC_INPUTS_H

#include "runtime/src/Error.h"
#include "tfc/abi.h"
#include "tfc/runtime.h"

namespace tfc::rt {

/// A padded batch [batch, length] as the caller gave it.
struct InputBatch {
  int64_t batch = 0, length = 0;
  std::vector<std::vector<int32_t>> values; // by port; empty: not given
  std::vector<uint8_t> mask;                // empty: every token exists

  bool exists(int64_t row, int64_t column) const {
    return mask.empty() || mask[row * length + column];
  }
  /// The value of a token, as given or as the port's fill says.
  int32_t value(const tfc_port_v0 &port, uint32_t index, int64_t row,
                int64_t column, int64_t position) const;
};

/// Index of the input port that takes token ids, or -1.
int64_t tokenPort(const tfc_entry_v0 &entry);

/// Checks names, dtypes, shapes and values of all inputs; reports every fault.
/// `maxPositions` as in tfc_module_v0. Does not look for rows without a token.
Result<InputBatch> readInputs(const tfc_entry_v0 &entry, int64_t maxPositions,
                              const tfc_tensor *inputs, uint32_t numInputs);

/// Errors for every row in which no token exists.
Status checkRows(const InputBatch &batch);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_INPUTS_H
