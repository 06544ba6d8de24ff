// How far one model's outputs are from another's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_QUANTIZE_DISTANCE_H
#define TFC_COMPILER_QUANTIZE_DISTANCE_H

#include "runtime/src/step/Forward.h"

namespace tfc::quantize {

/// Of the rows of an output.
class Distance {
public:
  explicit Distance(bool isLogits = false) : isLogits(isLogits) {}

  /// Adds the rows of two outputs of one shape, the exact one first.
  void add(const rt::OutputTensor &exact, const rt::OutputTensor &other);

  int64_t rows() const { return numRows; }
  /// 10 log10 (squares / squared differences); 200 where they are equal.
  double snr() const;
  /// The least cosine of two rows.
  double worstCosine() const { return worst; }
  /// Of logits: the share of rows whose greatest is the same; mean and 99th
  /// percentile of the Kullback-Leibler divergence, in nats.
  bool hasLogits() const { return isLogits; }
  double top1() const;
  double meanKl() const;
  double p99Kl() const;

private:
  void addRow(const float *exact, const float *other, int64_t width);

  bool isLogits;
  int64_t numRows = 0, sameGreatest = 0;
  double signal = 0, noise = 0, worst = 1;
  std::vector<double> divergences;
};

} // namespace tfc::quantize

#endif // TFC_COMPILER_QUANTIZE_DISTANCE_H
