// Columns that are much greater than others, made less before they are
// quantised: the matrix takes on what they lose.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_QUANTIZE_SMOOTH_H
#define TFC_COMPILER_QUANTIZE_SMOOTH_H

#include "compiler/quantize/Checkpoint.h"
#include "compiler/quantize/RoundMatrix.h"
#include "compiler/quantize/Statistics.h"

namespace tfc::quantize {

/// What was done at a fold.
struct Smoothed {
  std::string site;
  int64_t layer = 0;
  double alpha = 0; // 0: nothing
};

/// Products of the samples as an int8 program computes them, beside those with
/// the exact matrix: 10 log10 (squares / squared errors). Of some rows of the
/// matrix, where it has many.
double productSnr(const std::vector<float> &exact, const RoundedMatrix &rounded,
                  const RowStatistics &statistics);

/// At each fold that is worth it, the readers' columns are multiplied by powers
/// of two near greatest(x)^alpha / greatest(w)^(1 - alpha) (Xiao et al. 2023,
/// arXiv:2211.10438) and what they are made of is divided by them: the model is
/// the same, to the bit. Alpha is the one of 0.5 to 0.65 with which products of
/// the samples are nearest to the exact ones, if that is much nearer than
/// without. Changes `checkpoint`, and `statistics` to what the readers read
/// then.
std::vector<Smoothed> smooth(const Products &products, Checkpoint &checkpoint,
                             std::vector<RowStatistics> &statistics);

} // namespace tfc::quantize

#endif // TFC_COMPILER_QUANTIZE_SMOOTH_H
