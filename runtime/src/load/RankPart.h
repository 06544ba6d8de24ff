// What a rank has of a stored tensor, in a library of ranks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_RANKPART_H
#define TFC_RUNTIME_SRC_LOAD_RANKPART_H

#include "tfc/abi.h"

namespace tfc::rt {

/// How far behind part 0, which the source describes, a rank's part begins;
/// none where the first rank alone has it.
struct RankPart {
  int64_t rows = 0, cols = 0; // of what is stored
  bool isNone = false;
  /// Elements of the stored tensor between them.
  int64_t elements = 0;
};

inline RankPart partOf(const tfc_module_v0 &module, const tfc_source_v0 &source,
                       uint32_t rank) {
  RankPart part;
  part.isNone = source.flags & TFC_SOURCE_FIRST_RANK && rank != 0;
  if (module.ranks == 0 || source.rank_parts == 0) {
    return part;
  }
  int64_t number = rank * source.rank_parts / module.ranks;
  part.rows = number * source.rank_rows;
  part.cols = number * source.rank_cols;
  int64_t width = source.stored_cols != 0 ? source.stored_cols : source.cols;
  part.elements = source.flags & TFC_SOURCE_IN_OUT
                      ? part.cols * source.stored_rows + part.rows
                      : part.rows * width + part.cols;
  return part;
}

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_LOAD_RANKPART_H
