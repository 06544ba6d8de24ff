// Where in a matrix values are wrong, and how: what tells a fault of a kernel
// from another one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_ERRORPATTERN_H
#define TFC_RUNTIME_TOOLS_ERRORPATTERN_H

#include <cstdint>
#include <string>

namespace tfc::run {

/// Compares two matrices [rows, width]. Values more than `allowed` apart, and
/// NaNs, are wrong, in words: how many, by how much, the first one, which rows
/// and columns (all, a stretch, some of every 8, 16, 64 or 128), how many NaNs
/// and values that nobody has written (rt::untouchedBits), and whether all are
/// the right ones times one factor. Empty when none is wrong.
std::string describeErrors(const float *expected, const float *got,
                           int64_t rows, int64_t width, double allowed);

} // namespace tfc::run

#endif // TFC_RUNTIME_TOOLS_ERRORPATTERN_H
