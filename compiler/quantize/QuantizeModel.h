// A checkpoint's matrices, smoothed and rounded.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_QUANTIZE_QUANTIZEMODEL_H
#define TFC_COMPILER_QUANTIZE_QUANTIZEMODEL_H

#include "compiler/quantize/RoundMatrix.h"
#include "compiler/quantize/Smooth.h"

#include <set>

namespace tfc::quantize {

struct QuantizedModel {
  Products products;
  Checkpoint checkpoint; // smoothed
  std::vector<Smoothed> smoothed;
  bool isSmoothed() const {
    return llvm::any_of(smoothed,
                        [](const Smoothed &each) { return each.alpha != 0; });
  }
  std::vector<RoundedMatrix> rounded; // by matrix, as the next two
  std::vector<double> weightSnr;      // dB, of the elements
  std::vector<double> productSnr;     // dB, of what they give with their rows
  /// Groups of matrices that are not integers.
  std::set<std::string> kept;
  /// Columns that have a scale, of four bits; 0: bytes with a scale a row.
  int64_t group = 0;

  /// Whether its columns are not whole groups: there are no others.
  bool isUncut(size_t matrix) const {
    return group != 0 && rounded[matrix].integers.empty();
  }
  bool isKept(size_t matrix) const {
    return kept.count(products.matrices[matrix].group) != 0 || isUncut(matrix);
  }
  /// All groups, in the order of the model.
  std::vector<std::string> groups() const;
};

/// Rounds the matrices of `products` by what they multiply, smoothed before if
/// `smooths`: to bytes, or with a `group` to four bits. Scales are f16 where a
/// matrix is stored so, else bf16.
QuantizedModel quantizeModel(Products products, const rt::TensorFiles &files,
                             std::vector<RowStatistics> statistics,
                             bool smooths, int64_t group);

} // namespace tfc::quantize

#endif // TFC_COMPILER_QUANTIZE_QUANTIZEMODEL_H
