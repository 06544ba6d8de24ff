// Which column of a row an output is taken at: the first token, the last real
// one, the last end token.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_STEP_TAKENCOLUMNS_H
#define TFC_RUNTIME_SRC_STEP_TAKENCOLUMNS_H

#include "runtime/src/step/Inputs.h"

namespace tfc::rt {

/// By row of an entry's inputs, for TFC_TAKE_*; empty for TFC_TAKE_ALL. Errors:
/// InvalidArgument when the rows have no such column.
Result<std::vector<int64_t>> takenColumns(const Model &model,
                                          const tfc_entry_v0 &entry,
                                          uint32_t take,
                                          const ModelInputs &inputs);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_STEP_TAKENCOLUMNS_H
