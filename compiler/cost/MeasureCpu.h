// This machine's peaks, by short loops that do nothing else.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_COST_MEASURECPU_H
#define TFC_COMPILER_COST_MEASURECPU_H

namespace tfc::cost {

/// Multiplications and additions of f32 a second, in registers, by all threads
/// of the machine together: the best of a few short runs.
double measureArithmetic();

/// Bytes a second that they read from memory together.
double measureBandwidth();

} // namespace tfc::cost

#endif // TFC_COMPILER_COST_MEASURECPU_H
