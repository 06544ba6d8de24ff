// Frequencies of computed positions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/ModelSpec.h"

#include <cmath>

namespace tfc::spec {

std::vector<double> Sinusoid::frequencies(int64_t width) const {
  int64_t count = width / 2;
  double last = halfMinusOne ? double(count - 1) : double(count);
  std::vector<double> result;
  for (int64_t k = 0; k < count; ++k) {
    // One frequency alone is 1, whatever the denominator.
    result.push_back(k == 0 ? 1 : std::pow(base, -double(k) / last));
  }
  return result;
}

} // namespace tfc::spec
