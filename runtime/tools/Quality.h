// How good answers are that need not be equal: what a narrower type costs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_QUALITY_H
#define TFC_RUNTIME_TOOLS_QUALITY_H

#include <cstddef>
#include <optional>
#include <vector>

namespace tfc::bench {

/// Takes rows of an output beside those of a reference.
class Quality {
public:
  /// Rows of logits are also compared as distributions.
  explicit Quality(bool isLogits) : isLogits(isLogits) {}

  void add(const float *ours, const float *theirs, size_t columns);

  /// 10 log10 of the sum of the reference's squares over that of the
  /// differences', in dB; infinite when nothing differs, none without a number.
  std::optional<double> signalToNoise() const;
  /// The Kullback-Leibler divergence of our distributions from the reference's,
  /// in nats: the rows' mean, and their 99th percentile. None of what are no
  /// logits.
  std::optional<double> meanDivergence() const;
  std::optional<double> highDivergence() const;

private:
  bool isLogits, isEmpty = true;
  double signal = 0, noise = 0;
  std::vector<double> divergences; // by row
};

} // namespace tfc::bench

#endif // TFC_RUNTIME_TOOLS_QUALITY_H
