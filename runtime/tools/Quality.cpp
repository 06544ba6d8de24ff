// Signal to noise, and divergences of distributions, in double precision.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/Quality.h"

#include "runtime/tools/Report.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tfc::bench {

namespace {

/// The logarithm of the sum of the exponentials.
double logSum(const float *row, size_t columns) {
  double greatest = *std::max_element(row, row + columns), sum = 0;
  for (size_t c = 0; c < columns; ++c) {
    sum += std::exp(row[c] - greatest);
  }
  return greatest + std::log(sum);
}

/// Of what a reference forbids nothing is missed.
double divergence(const float *ours, const float *theirs, size_t columns) {
  double ourSum = logSum(ours, columns), theirSum = logSum(theirs, columns);
  double total = 0;
  for (size_t c = 0; c < columns; ++c) {
    double log = theirs[c] - theirSum, part = std::exp(log);
    total += part == 0 ? 0 : part * (log - (ours[c] - ourSum));
  }
  // A NaN is no agreement; what rounding makes negative is none at all.
  return std::isnan(total) ? std::numeric_limits<double>::infinity()
                           : std::max(total, 0.0);
}

} // namespace

void Quality::add(const float *ours, const float *theirs, size_t columns) {
  for (size_t c = 0; c < columns; ++c) {
    double value = theirs[c], difference = ours[c] - value;
    signal += std::isnan(value) ? 0 : value * value;
    noise += std::isnan(difference) ? std::numeric_limits<double>::infinity()
                                    : difference * difference;
    isEmpty = false;
  }
  if (isLogits && columns > 1) {
    divergences.push_back(divergence(ours, theirs, columns));
  }
}

std::optional<double> Quality::signalToNoise() const {
  if (isEmpty) {
    return {};
  }
  return noise == 0 ? std::numeric_limits<double>::infinity()
                    : 10 * std::log10(signal / noise);
}

std::optional<double> Quality::meanDivergence() const {
  return divergences.empty() ? std::optional<double>()
                             : Samples(divergences).mean();
}

std::optional<double> Quality::highDivergence() const {
  return divergences.empty() ? std::optional<double>()
                             : Samples(divergences).quantile(0.99);
}

} // namespace tfc::bench
