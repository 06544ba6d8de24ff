// Where the smaller part of numbers ends that are normally distributed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/LayerSpec.h"

#include <cmath>

namespace tfc::spec {

/// The number x whose erf is `y`, in (-1, 1): erf grows with x, and beyond 7 it
/// is 1 in f64.
static double inverseErf(double y) {
  double low = -7, high = 7;
  for (int step = 0; step < 64; ++step) {
    double middle = (low + high) / 2;
    (std::erf(middle) < y ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// In f32, as it was trained: close to 1 what is rounded is most of the rest.
double Ffn::deviations() const {
  float part = 2 * float(sparsity) - 1;
  return float(inverseErf(part)) * float(std::sqrt(2.0));
}

} // namespace tfc::spec
