// What positions and distances between them become.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/reference/Formulas.h"

#include <algorithm>
#include <cmath>

namespace tfc::reference {

Matrix rotaryAngles(const std::vector<int32_t> &positions,
                    llvm::ArrayRef<double> frequencies,
                    llvm::ArrayRef<double> factors) {
  int64_t n = frequencies.size();
  Matrix y(positions.size(), 2 * n);
  for (int64_t t = 0; t < y.rows; ++t) {
    for (int64_t i = 0; i < n; ++i) {
      // The product of two floats: exact in double, rounded once.
      float frequency = static_cast<float>(frequencies[i]);
      auto angle =
          static_cast<float>(static_cast<double>(frequency) * positions[t]);
      double factor = factors[factors.size() == 1 ? 0 : i];
      y.at(t, i) = factor * std::cos(static_cast<double>(angle));
      y.at(t, n + i) = factor * std::sin(static_cast<double>(angle));
    }
  }
  return y;
}

Matrix sinusoid(const std::vector<int32_t> &positions, const Sinusoid &shape) {
  int64_t n = shape.frequencies.size();
  Matrix y(positions.size(), 2 * n);
  for (int64_t t = 0; t < y.rows; ++t) {
    int64_t row = positions[t] + shape.offset;
    for (int64_t i = 0; i < n && row != shape.zeroRow; ++i) {
      auto frequency = static_cast<float>(shape.frequencies[i]);
      auto angle = static_cast<float>(static_cast<double>(frequency) * row);
      y.at(t, shape.interleaved ? 2 * i : i) =
          std::sin(static_cast<double>(angle));
      y.at(t, shape.interleaved ? 2 * i + 1 : n + i) =
          std::cos(static_cast<double>(angle));
    }
  }
  return y;
}

Matrix rotary(const Matrix &x, const Matrix &angles, const Rotation &rotation) {
  Matrix y = x;
  int64_t width = x.cols / rotation.numHeads;
  int64_t n = angles.cols / 2 / rotation.kinds;
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t head = 0; head < rotation.numHeads; ++head) {
      for (int64_t i = 0; i < n; ++i) {
        int64_t a = head * width + (rotation.interleaved ? 2 * i : i);
        int64_t b = rotation.interleaved ? a + 1 : a + n;
        double cosine = angles.at(t, rotation.kind * n + i);
        double sine = angles.at(t, (rotation.kinds + rotation.kind) * n + i);
        y.at(t, a) = x.at(t, a) * cosine - x.at(t, b) * sine;
        y.at(t, b) = x.at(t, b) * cosine + x.at(t, a) * sine;
      }
    }
  }
  return y;
}

/// T5's bucket of a distance (key minus query). In f32, as models were trained:
/// where the logarithm is close to a whole number, precision decides.
static int64_t bucketOf(int64_t distance, int64_t buckets, bool bidirectional,
                        int64_t maxDistance) {
  int64_t first = 0, length = std::max<int64_t>(-distance, 0);
  if (bidirectional) {
    buckets /= 2;
    first = distance > 0 ? buckets : 0;
    length = std::abs(distance);
  }
  int64_t exact = buckets / 2;
  if (length < exact) {
    return first + length;
  }
  float ratio = static_cast<float>(length) / static_cast<float>(exact);
  auto range = static_cast<float>(
      std::log(static_cast<double>(maxDistance) / static_cast<double>(exact)));
  float more = std::log(ratio) / range * static_cast<float>(buckets - exact);
  return first + std::min(exact + static_cast<int64_t>(more), buckets - 1);
}

Matrix distanceBias(const Matrix &table, bool bidirectional,
                    int64_t maxDistance) {
  Matrix y(table.cols, 2 * maxDistance + 1);
  for (int64_t d = -maxDistance; d <= maxDistance; ++d) {
    int64_t bucket = bucketOf(d, table.rows, bidirectional, maxDistance);
    for (int64_t head = 0; head < y.rows; ++head) {
      y.at(head, maxDistance + d) = table.at(bucket, head);
    }
  }
  return y;
}

} // namespace tfc::reference
