// Which integers of a checkpoint a library keeps as they are, and their rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/quantized/Quantized.h"

#include <algorithm>

namespace tfc::rt {

namespace {

/// Whether the columns of each of the library's groups are of one group.
bool cutsGroups(const IntegerMatrix &matrix, int64_t group) {
  if (matrix.columns % group != 0) {
    return false;
  }
  for (int64_t column = 0; column < matrix.columns; ++column) {
    auto at = static_cast<size_t>(column);
    auto first = static_cast<size_t>(column / group * group);
    if (matrix.groupOf[at] != matrix.groupOf[first]) {
      return false;
    }
  }
  return true;
}

} // namespace

const IntegerMatrix *findKept(const QuantizedMatrix &matrix,
                              const KeptForm &form) {
  const auto *integers = dynamic_cast<const IntegerMatrix *>(&matrix);
  if (!integers) {
    return nullptr;
  }
  bool isFour = integers->bits == 4;
  bool areMiddle = !integers->hasZeros && !integers->hasFloatZeros;
  bool fits = form.isFour
                  ? isFour && (form.hasZeros        ? !integers->hasFloatZeros
                               : form.hasFloatZeros ? !integers->hasZeros
                                                    : areMiddle)
                  // Four bits minus a zero point of four are a byte.
                  : areMiddle || (isFour && !integers->hasFloatZeros);
  bool isCut = form.group > 0 ? cutsGroups(*integers, form.group)
                              : integers->groups == 1;
  return fits && isCut ? integers : nullptr;
}

KeptRows readKept(const IntegerMatrix &matrix, const KeptForm &form,
                  int64_t first, int64_t count, int64_t step) {
  auto columns = static_cast<size_t>(matrix.columns);
  int64_t group = form.group > 0 ? form.group : matrix.columns;
  auto groups = static_cast<size_t>(matrix.columns / group);
  auto rows = static_cast<size_t>(count);
  KeptRows kept;
  kept.integers.resize(rows * columns);
  kept.zeros.resize(rows * groups);
  kept.scales.resize(rows * groups);
  kept.floatZeros.resize(form.hasFloatZeros ? rows * groups : 0);
  std::vector<float> floatZeros(static_cast<size_t>(matrix.groups));
  std::vector<int32_t> integers(columns);
  std::vector<int32_t> zeros(static_cast<size_t>(matrix.groups));
  std::vector<float> scales(zeros.size());
  for (size_t row = 0; row < rows; ++row) {
    int64_t number = first + static_cast<int64_t>(row) * step;
    matrix.readIntegers(number, integers.data());
    matrix.readGroups(number, scales.data(), zeros.data());
    if (matrix.hasFloatZeros) {
      matrix.readFloatZeros(number, floatZeros.data());
    }
    for (size_t g = 0; g < groups; ++g) {
      auto from =
          static_cast<size_t>(matrix.groupOf[g * static_cast<size_t>(group)]);
      int32_t zero = form.isFour ? matrix.middle : zeros[from];
      kept.scales[row * groups + g] = scales[from];
      kept.zeros[row * groups + g] = static_cast<int8_t>(zeros[from] - zero);
      if (form.hasFloatZeros) {
        // A middle is a power of two: exact.
        kept.floatZeros[row * groups + g] =
            matrix.hasFloatZeros
                ? floatZeros[from]
                : scales[from] * static_cast<float>(zeros[from]);
      }
      for (int64_t i = 0; i < group; ++i) {
        size_t column = g * static_cast<size_t>(group) + static_cast<size_t>(i);
        kept.integers[row * columns + column] =
            static_cast<int8_t>(integers[column] - zero);
      }
    }
  }
  return kept;
}

} // namespace tfc::rt
