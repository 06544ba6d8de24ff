// Rounds rows, and looks for the scale that is best.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/quantize/RoundMatrix.h"

#include "compiler/quantize/Checkpoint.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tfc;
using namespace tfc::quantize;

float RoundedMatrix::scale(int64_t row, int64_t group) const {
  return widen16(scales[row * groups + group], scaleType);
}

std::vector<float> RoundedMatrix::decode() const {
  std::vector<float> elements(integers.size());
  int64_t size = columns / groups;
  for (int64_t part = 0; part < rows * groups; ++part) {
    float own = widen16(scales[part], scaleType);
    for (int64_t i = part * size; i < (part + 1) * size; ++i) {
      elements[i] = static_cast<float>(integers[i]) * own;
    }
  }
  return elements;
}

/// What cutting off must leave of the squared errors to be done: importance is
/// known of few texts.
static constexpr double kWorthwhile = 0.8;

static int8_t roundElement(float element, float scale) {
  return static_cast<int8_t>(
      std::clamp(std::nearbyintf(element / scale), -127.0F, 127.0F));
}

/// The scale nearest to `wanted` with which `greatest` becomes 127.
static uint16_t findScale(float wanted, float greatest, rt::DType type) {
  uint16_t bits = roundTo16(wanted, type);
  // One step less than what rounding made too large; 0 is no scale.
  while (bits > 1 && std::nearbyintf(greatest / widen16(bits, type)) < 127) {
    --bits;
  }
  return std::max<uint16_t>(bits, 1);
}

static double errorOf(const float *row, int64_t columns, float scale,
                      const std::vector<double> &importance) {
  double sum = 0;
  for (int64_t i = 0; i < columns; ++i) {
    double error =
        row[i] - static_cast<float>(roundElement(row[i], scale)) * scale;
    sum += error * error * (importance.empty() ? 1.0 : importance[i]);
  }
  return sum;
}

RoundedMatrix tfc::quantize::roundMatrix(const std::vector<float> &elements,
                                         int64_t rows,
                                         const std::vector<double> &importance,
                                         rt::DType scaleType) {
  RoundedMatrix made;
  made.rows = rows;
  made.columns = static_cast<int64_t>(elements.size()) / rows;
  made.integers.resize(elements.size());
  made.scaleType = scaleType;
  for (int64_t row = 0; row < rows; ++row) {
    const float *own = elements.data() + row * made.columns;
    float greatest = 0;
    for (int64_t i = 0; i < made.columns; ++i) {
      greatest = std::max(greatest, std::fabs(own[i]));
    }
    // Of a row of zeros any scale is right.
    uint16_t best = roundTo16(1, scaleType);
    double least = std::numeric_limits<double>::infinity();
    for (int cut = 0; greatest > 0 && cut <= 8; ++cut) {
      uint16_t bits =
          findScale(greatest * (1 - 0.025F * static_cast<float>(cut)) / 127,
                    greatest, scaleType);
      double error =
          errorOf(own, made.columns, widen16(bits, scaleType), importance);
      if (error < least) {
        // The next has to be much better than the whole row, and then better.
        least = cut == 0 ? kWorthwhile * error : error;
        best = bits;
      }
    }
    made.scales.push_back(best);
    float scale = made.scale(row);
    for (int64_t i = 0; i < made.columns; ++i) {
      made.integers[row * made.columns + i] = roundElement(own[i], scale);
    }
  }
  return made;
}

static int8_t roundToFour(float element, float scale) {
  return static_cast<int8_t>(
      std::clamp(std::nearbyintf(element / scale), -8.0F, 7.0F));
}

/// The scale of 16 bits that leaves least of `size` elements; `importance` is
/// theirs, or null.
static uint16_t findGroupScale(const float *elements, int64_t size,
                               const double *importance, rt::DType type) {
  float greatest = 0;
  for (int64_t i = 0; i < size; ++i) {
    greatest = std::max(greatest, std::fabs(elements[i]));
  }
  uint16_t best = roundTo16(1, type);
  double least = std::numeric_limits<double>::infinity();
  // From all that becomes 7 or less to what cuts off a fifth.
  for (int step = 0; greatest > 0 && step <= 12; ++step) {
    uint16_t bits =
        roundTo16(greatest / (7 + 0.125F * static_cast<float>(step)), type);
    bits = std::max<uint16_t>(bits, 1);
    float scale = widen16(bits, type);
    double sum = 0;
    for (int64_t i = 0; i < size; ++i) {
      double error =
          elements[i] -
          static_cast<float>(roundToFour(elements[i], scale)) * scale;
      sum += error * error * (importance ? importance[i] : 1.0);
    }
    if (sum < least) {
      least = sum;
      best = bits;
    }
  }
  return best;
}

RoundedMatrix tfc::quantize::roundGroups(const std::vector<float> &elements,
                                         int64_t rows, int64_t group,
                                         const std::vector<double> &importance,
                                         rt::DType scaleType) {
  RoundedMatrix made;
  made.rows = rows;
  made.columns = static_cast<int64_t>(elements.size()) / rows;
  made.groups = made.columns / group;
  made.integers.resize(elements.size());
  made.scaleType = scaleType;
  for (int64_t part = 0; part < rows * made.groups; ++part) {
    const float *own = elements.data() + part * group;
    const double *weights =
        importance.empty() ? nullptr
                           : importance.data() + part % made.groups * group;
    made.scales.push_back(findGroupScale(own, group, weights, scaleType));
    float scale = widen16(made.scales.back(), scaleType);
    for (int64_t i = 0; i < group; ++i) {
      made.integers[part * group + i] = roundToFour(own[i], scale);
    }
  }
  return made;
}
