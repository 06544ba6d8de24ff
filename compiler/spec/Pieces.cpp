// A vocabulary in pieces: which ids they have, and how wide their rows are.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/ModelSpec.h"

namespace tfc::spec {

std::vector<Pieces::Piece> Pieces::list() const {
  std::vector<Piece> result;
  int64_t first = 0, narrow = width;
  for (size_t i = 0; i <= cutoffs.size(); ++i) {
    int64_t end = i < cutoffs.size() ? cutoffs[i] : rows;
    result.push_back({first, end - first, narrow});
    first = end;
    narrow /= div;
  }
  return result;
}

} // namespace tfc::spec
