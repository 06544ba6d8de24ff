// Grapheme clusters: what a reader takes for one character.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_CLUSTERS_H
#define TFC_RUNTIME_TEXT_CLUSTERS_H

#include <cstddef>
#include <string_view>

namespace tfc::text {

/// The end of the cluster that begins at `begin`. Flags of two letters and
/// Indic conjuncts, whose parts have six bytes and more together, are cut:
/// nobody here asks about clusters of so many.
size_t endOfCluster(std::u32string_view text, size_t begin);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_CLUSTERS_H
