// Streams of rows, and what stands out of a row.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/reference/Formulas.h"

#include <algorithm>
#include <cmath>

namespace tfc::reference {

Matrix cutRows(const Matrix &x, double deviations) {
  Matrix y = x;
  for (int64_t t = 0; t < x.rows; ++t) {
    double sum = 0, squares = 0;
    for (int64_t c = 0; c < x.cols; ++c) {
      sum += x.at(t, c);
    }
    double mean = sum / double(x.cols);
    for (int64_t c = 0; c < x.cols; ++c) {
      squares += (x.at(t, c) - mean) * (x.at(t, c) - mean);
    }
    double cut = mean + deviations * std::sqrt(squares / double(x.cols));
    for (int64_t c = 0; c < x.cols; ++c) {
      double above = x.at(t, c) - cut;
      y.at(t, c) = above < 0 ? 0 : above;
    }
  }
  return y;
}

Matrix mixRows(const Matrix &x, llvm::ArrayRef<const Matrix *> terms,
               const Matrix &weights, int64_t first, double offset) {
  Matrix y = x;
  for (int64_t t = 0; t < x.rows; ++t) {
    int64_t column = first;
    for (const Matrix *term : terms) {
      double weight = offset + weights.at(t, column++);
      for (int64_t c = 0; c < x.cols; ++c) {
        y.at(t, c) += weight * term->at(t, c);
      }
    }
  }
  return y;
}

Matrix joinColumns(llvm::ArrayRef<const Matrix *> inputs) {
  int64_t width = 0;
  for (const Matrix *input : inputs) {
    width += input->cols;
  }
  Matrix y(inputs.front()->rows, width);
  int64_t first = 0;
  for (const Matrix *input : inputs) {
    for (int64_t t = 0; t < input->rows; ++t) {
      for (int64_t c = 0; c < input->cols; ++c) {
        y.at(t, first + c) = input->at(t, c);
      }
    }
    first += input->cols;
  }
  return y;
}

/// The mean of the squares of row `t`.
static double meanSquare(const Matrix &x, int64_t t) {
  double squares = 0;
  for (int64_t c = 0; c < x.cols; ++c) {
    squares += x.at(t, c) * x.at(t, c);
  }
  return squares / double(x.cols);
}

Matrix matchMagnitude(const Matrix &x, const Matrix &like, double floor) {
  Matrix y = x;
  for (int64_t t = 0; t < x.rows; ++t) {
    double factor = std::sqrt(meanSquare(like, t)) /
                    std::sqrt(std::max(meanSquare(x, t), floor));
    for (int64_t c = 0; c < x.cols; ++c) {
      y.at(t, c) *= factor;
    }
  }
  return y;
}

} // namespace tfc::reference
