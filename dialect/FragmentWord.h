// Words of integers in the order of a tensor core's fragments.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_FRAGMENTWORD_H
#define TFC_DIALECT_FRAGMENTWORD_H

#include <cstdint>

namespace tfc::transformer {

/// Columns of a word (`#transformer.packed`) of a matrix of integers for
/// kernels that widen them in registers; a panel is one row then. Words that
/// are so long have an order of their own: lane p of four has 16 of the
/// columns, one after the other, columns 8 p + e of both halves h of the word,
/// e < 8. Of i8, column 32 h + 8 p + e is byte 16 p + 8 h + 4 (e / 4) + o,
/// where o is 0, 2, 1, 3 for e % 4; of i4 it is four bits number e / 2 + 4 (e %
/// 2), from the lowest on, of the four bytes from 8 p + 4 h on. So what is two
/// places, or four, apart are columns side by side.
constexpr int64_t kFragmentWord = 64;

} // namespace tfc::transformer

#endif // TFC_DIALECT_FRAGMENTWORD_H
