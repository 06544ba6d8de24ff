// The greatest of many values, as torch.topk finds them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_CHOOSE_FINDGREATEST_H
#define TFC_RUNTIME_SRC_CHOOSE_FINDGREATEST_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace tfc::rt {

/// A value and its index.
using Ranked = std::pair<float, int64_t>;

/// Greater; a NaN is greater than anything.
inline bool isGreater(float a, float b) {
  return (std::isnan(a) && !std::isnan(b)) || a > b;
}

/// The k greatest of valueAt(0), ..., valueAt(n - 1), which are asked for once,
/// in this order; the greatest first: the first k of `best`. 1 <= k <= n. Among
/// equals the order is that of torch.topk on a CPU, because the algorithms are:
/// a partial sort where k is small, here without the copy of all values,
/// otherwise a selection that is sorted.
template <typename F>
void findGreatest(int64_t n, int64_t k, F valueAt, std::vector<Ranked> &best) {
  auto isBefore = [](const Ranked &a, const Ranked &b) {
    return isGreater(a.first, b.first);
  };
  best.clear();
  if (k * 64 > n) {
    for (int64_t i = 0; i < n; ++i) {
      best.emplace_back(valueAt(i), i);
    }
    std::nth_element(best.begin(), best.begin() + (k - 1), best.end(),
                     isBefore);
    std::sort(best.begin(), best.begin() + (k - 1), isBefore);
    return;
  }
  for (int64_t i = 0; i < k; ++i) {
    best.emplace_back(valueAt(i), i);
  }
  // The least of the best is in front; place k is for the one that replaces it.
  std::make_heap(best.begin(), best.end(), isBefore);
  best.emplace_back();
  for (int64_t i = k; i < n; ++i) {
    Ranked next{valueAt(i), i};
    if (isBefore(next, best.front())) {
      best.back() = next;
      std::pop_heap(best.begin(), best.end(), isBefore);
    }
  }
  std::sort_heap(best.begin(), best.begin() + k, isBefore);
}

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_CHOOSE_FINDGREATEST_H
