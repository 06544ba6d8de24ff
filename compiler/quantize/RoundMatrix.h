// A matrix as integers with a scale a row, or a group of its columns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_QUANTIZE_ROUNDMATRIX_H
#define TFC_COMPILER_QUANTIZE_ROUNDMATRIX_H

#include "runtime/src/files/Safetensors.h"

namespace tfc::quantize {

/// [rows, columns] of integers in [-127, 127], each times its row's scale,
/// which is of 16 bits; with groups, in [-8, 7], times that of its group of the
/// row's columns.
struct RoundedMatrix {
  int64_t rows = 0, columns = 0, groups = 1;
  std::vector<int8_t> integers;
  std::vector<uint16_t> scales; // [rows, groups]
  rt::DType scaleType = rt::DType::BF16;

  float scale(int64_t row, int64_t group = 0) const;
  /// integers * scales, which is exact in f32.
  std::vector<float> decode() const;
};

/// Rounds `elements` to nearest. A row's scale is its greatest element over
/// 127, or less, so that the greatest are cut off, where that makes the sum of
/// squared errors much less; errors in a column count `importance` times (all
/// alike when it is empty). The greatest integer of a row is 127 by size,
/// unless all are 0: so who makes integers of integers * scale by that rule
/// gets the same.
RoundedMatrix roundMatrix(const std::vector<float> &elements, int64_t rows,
                          const std::vector<double> &importance,
                          rt::DType scaleType);

/// The same to four bits with a scale for each `group` of columns, which
/// divides them. Each scale is one of some about a group's greatest element
/// over 8: that with the least sum of squared errors.
RoundedMatrix roundGroups(const std::vector<float> &elements, int64_t rows,
                          int64_t group, const std::vector<double> &importance,
                          rt::DType scaleType);

} // namespace tfc::quantize

#endif // TFC_COMPILER_QUANTIZE_ROUNDMATRIX_H
