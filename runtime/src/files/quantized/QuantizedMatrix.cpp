// Values of quantised matrices, from the integers and scales of their rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/quantized/Quantized.h"

#include <algorithm>
#include <cstring>

namespace tfc::rt {

QuantizedMatrix::~QuantizedMatrix() = default;

void IntegerMatrix::readFloatZeros(int64_t, float *zeros) const {
  std::fill_n(zeros, groups, 0.0F);
}

void IntegerMatrix::decode(int64_t first, int64_t count, float *out) const {
  std::vector<int32_t> integers(static_cast<size_t>(columns));
  std::vector<float> scales(static_cast<size_t>(groups));
  std::vector<int32_t> zeros(static_cast<size_t>(groups));
  for (int64_t row = first; row < first + count; ++row) {
    readIntegers(row, integers.data());
    readGroups(row, scales.data(), zeros.data());
    for (size_t column = 0; column < integers.size(); ++column) {
      auto group = static_cast<size_t>(groupOf[column]);
      // Both factors are exact, so this is the one rounding of the format.
      *out++ =
          static_cast<float>(integers[column] - zeros[group]) * scales[group];
    }
  }
}

void decodeElements(const QuantizedMatrix &matrix, int64_t first, int64_t count,
                    float *out) {
  std::vector<float> row;
  while (count > 0) {
    int64_t column = first % matrix.columns;
    int64_t taken = std::min(count, matrix.columns - column);
    if (taken == matrix.columns) {
      taken = count / matrix.columns * matrix.columns;
      matrix.decode(first / matrix.columns, count / matrix.columns, out);
    } else {
      row.resize(static_cast<size_t>(matrix.columns));
      matrix.decode(first / matrix.columns, 1, row.data());
      std::memcpy(out, row.data() + column,
                  static_cast<size_t>(taken) * sizeof(float));
    }
    first += taken;
    count -= taken;
    out += taken;
  }
}

bool isStoredInOut(const Tensor &tensor, bool inOut) {
  return inOut && !(tensor.quantized && tensor.quantized->isOutIn);
}

} // namespace tfc::rt
