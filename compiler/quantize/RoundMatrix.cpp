// Rounds rows, and looks for the scale that is best.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/quantize/RoundMatrix.h"

#include "compiler/quantize/Checkpoint.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tfc;
using namespace tfc::quantize;

float RoundedMatrix::scale(int64_t row) const {
  return widen16(scales[row], scaleType);
}

std::vector<float> RoundedMatrix::decode() const {
  std::vector<float> elements(integers.size());
  for (int64_t row = 0; row < rows; ++row) {
    float own = scale(row);
    for (int64_t i = row * columns; i < (row + 1) * columns; ++i) {
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
