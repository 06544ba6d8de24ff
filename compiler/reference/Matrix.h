// Rows of doubles: the only array type of the interpreter.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_REFERENCE_MATRIX_H
#define TFC_COMPILER_REFERENCE_MATRIX_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tfc::reference {

/// [rows, cols], row-major. A vector is one row.
struct Matrix {
  int64_t rows = 0, cols = 0;
  std::vector<double> data;

  Matrix() = default;
  Matrix(int64_t rows, int64_t cols)
      : rows(rows), cols(cols),
        data(static_cast<size_t>(rows) * static_cast<size_t>(cols)) {}

  double &at(int64_t row, int64_t col) { return data[row * cols + col]; }
  double at(int64_t row, int64_t col) const { return data[row * cols + col]; }
};

} // namespace tfc::reference

#endif // TFC_COMPILER_REFERENCE_MATRIX_H
