// Signal, noise, cosines and divergences.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/quantize/Distance.h"

#include <algorithm>
#include <cmath>

using namespace tfc;
using namespace tfc::quantize;

/// The sum of exp(x - greatest), logarithm taken, plus the greatest.
static double logSum(const float *row, int64_t width) {
  double greatest = *std::max_element(row, row + width), sum = 0;
  for (int64_t i = 0; i < width; ++i) {
    sum += std::exp(row[i] - greatest);
  }
  return greatest + std::log(sum);
}

void Distance::addRow(const float *exact, const float *other, int64_t width) {
  double xx = 0, yy = 0, xy = 0;
  for (int64_t i = 0; i < width; ++i) {
    double x = exact[i], y = other[i];
    xx += x * x;
    yy += y * y;
    xy += x * y;
    noise += (x - y) * (x - y);
  }
  signal += xx;
  ++numRows;
  double cosine = xx == 0 || yy == 0 ? 1 : xy / std::sqrt(xx * yy);
  // What is no number is the worst.
  worst = cosine >= worst ? worst : std::isnan(cosine) ? -1 : cosine;
  if (!isLogits) {
    return;
  }
  sameGreatest += std::max_element(exact, exact + width) - exact ==
                  std::max_element(other, other + width) - other;
  double exactSum = logSum(exact, width), otherSum = logSum(other, width);
  double divergence = 0;
  for (int64_t i = 0; i < width; ++i) {
    double p = exact[i] - exactSum, q = other[i] - otherSum;
    divergence += std::exp(p) * (p - q);
  }
  divergences.push_back(divergence);
}

void Distance::add(const rt::OutputTensor &exact,
                   const rt::OutputTensor &other) {
  auto width = std::max<int64_t>(1, exact.shape.back());
  auto count = static_cast<int64_t>(exact.floats.size());
  for (int64_t at = 0; at + width <= count; at += width) {
    addRow(exact.floats.data() + at, other.floats.data() + at, width);
  }
}

double Distance::snr() const {
  if (std::isnan(noise)) {
    return -200;
  }
  return noise == 0 ? 200 : 10 * std::log10(signal / noise);
}

double Distance::top1() const {
  return numRows
             ? static_cast<double>(sameGreatest) / static_cast<double>(numRows)
             : 1;
}

double Distance::meanKl() const {
  double sum = 0;
  for (double each : divergences) {
    sum += each;
  }
  return divergences.empty() ? 0
                             : sum / static_cast<double>(divergences.size());
}

double Distance::p99Kl() const {
  if (divergences.empty()) {
    return 0;
  }
  std::vector<double> sorted = divergences;
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<size_t>(0.99 *
                                    static_cast<double>(sorted.size() - 1))];
}
