// Integers of compressed-tensors: bytes (int-quantized, naive-quantized), and 4
// or 8 bits in words along the rows (pack-quantized).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/quantized/QuantizedModule.h"

#include <algorithm>
#include <cstring>

namespace tfc::rt {

namespace {

/// Scales [rows, groups], or a single one for all.
class RowScales : public IntegerMatrix {
public:
  const Tensor *scales = nullptr;

protected:
  void readScalesOf(int64_t row, float *out) const {
    bool isOne = scales->elements() == 1;
    readScales(*scales, isOne ? 0 : row * groups, groups, out);
  }
};

class ByteMatrix : public RowScales {
public:
  const Tensor *bytes = nullptr, *zeros = nullptr;

  void readIntegers(int64_t row, int32_t *out) const override {
    readBytes(*bytes, row * columns, columns, out);
  }
  void readGroups(int64_t row, float *scaleOut,
                  int32_t *zeroOut) const override {
    readScalesOf(row, scaleOut);
    if (zeros) {
      readBytes(*zeros, zeros->elements() == 1 ? 0 : row * groups, groups,
                zeroOut);
    } else {
      std::fill(zeroOut, zeroOut + groups, 0);
    }
  }

private:
  static void readBytes(const Tensor &tensor, int64_t first, int64_t count,
                        int32_t *out) {
    for (int64_t i = 0; i < count; ++i) {
      out[i] = static_cast<int8_t>(tensor.data[first + i]);
    }
  }
};

class PackedMatrix : public RowScales {
public:
  const Tensor *words = nullptr, *zeros = nullptr;

  void readIntegers(int64_t row, int32_t *out) const override {
    int64_t perWord = 32 / bits, rowWords = words->shape[1];
    for (int64_t column = 0; column < columns; ++column) {
      out[column] = field(wordAt(*words, row * rowWords + column / perWord),
                          column % perWord);
    }
  }
  void readGroups(int64_t row, float *scaleOut,
                  int32_t *zeroOut) const override {
    readScalesOf(row, scaleOut);
    int64_t perWord = 32 / bits;
    for (int64_t group = 0; group < groups; ++group) {
      // Packed along the rows, not along the groups.
      zeroOut[group] =
          zeros ? field(wordAt(*zeros, row / perWord * groups + group),
                        row % perWord)
                : 1 << (bits - 1);
    }
  }

private:
  int32_t field(uint32_t word, int64_t place) const {
    return static_cast<int32_t>(word >> (place * bits) &
                                ((uint32_t(1) << bits) - 1));
  }
};

/// Takes the scales: [rows, groups], or one number where that is allowed. The
/// number of groups, of `size` columns each.
Status takeScales(QuantizedModule &module, RowScales &matrix, int64_t &size) {
  auto scales = module.take("weight_scale", floatScales);
  if (!scales) {
    return std::move(scales.error());
  }
  matrix.scales = *scales;
  matrix.scaleType = scaleTypeOf(**scales);
  const std::vector<int64_t> &shape = matrix.scales->shape;
  matrix.groups = shape.size() == 2 && shape[1] > 0 ? shape[1] : 1;
  bool isOne = matrix.scales->elements() == 1;
  if (!isOne && shape != std::vector{matrix.rows}) {
    Status status = module.expectShape(
        *matrix.scales, {matrix.rows, matrix.groups}, "scales of the rows");
    if (!status) {
      return status;
    }
  }
  if (matrix.columns % matrix.groups != 0) {
    return module.fault(*matrix.scales, "expected groups that divide ",
                        matrix.columns, " columns, got ", matrix.groups,
                        " groups");
  }
  size = matrix.columns / matrix.groups;
  return {};
}

/// Sets the group of each column: by weight_g_idx, if there is one that is not
/// all -1, which is how it begins.
Status takeGroups(QuantizedModule &module, RowScales &matrix, int64_t size) {
  matrix.groupOf = groupsOf(matrix.columns, size);
  if (!module.find("weight_g_idx")) {
    return {};
  }
  auto index = module.take("weight_g_idx", {DType::I32});
  if (!index) {
    return std::move(index.error());
  }
  bool isUnset = (*index)->bytes > 0 &&
                 std::all_of((*index)->data, (*index)->data + (*index)->bytes,
                             [](uint8_t byte) { return byte == 0xff; });
  if (isUnset) {
    return {};
  }
  auto groups = readGroupIndex(module, **index, matrix.columns, matrix.groups);
  if (!groups) {
    return std::move(groups.error());
  }
  matrix.groupOf = std::move(*groups);
  return {};
}

int64_t sizeAt(const Tensor &shape, int64_t axis) {
  if (shape.dtype == DType::I32) {
    return static_cast<int32_t>(wordAt(shape, axis));
  }
  int64_t size;
  std::memcpy(&size, shape.data + axis * 8, sizeof(size));
  return size;
}

/// The rows and columns that weight_shape says.
Status takeShape(QuantizedModule &module, PackedMatrix &matrix) {
  auto shape = module.take("weight_shape", {DType::I64, DType::I32});
  if (!shape) {
    return std::move(shape.error());
  }
  if (Status status = module.expectShape(**shape, {2}, "rows and columns");
      !status) {
    return status;
  }
  int64_t sizes[2] = {sizeAt(**shape, 0), sizeAt(**shape, 1)};
  int64_t words = matrix.words->shape[1];
  matrix.rows = matrix.words->shape[0];
  matrix.columns = sizes[1];
  bool fits4 = words == (sizes[1] >> 3) + (sizes[1] % 8 != 0);
  bool fits8 = words == (sizes[1] >> 2) + (sizes[1] % 4 != 0);
  if (sizes[0] != matrix.rows || sizes[1] < 1 || (!fits4 && !fits8)) {
    return module.fault(*matrix.words, "expected the words of [", sizes[0],
                        ", ", sizes[1], "] (weight_shape) in 4 or 8 bits, got ",
                        shapeText(matrix.words->shape));
  }
  matrix.bits = fits4 ? 4 : 8;
  matrix.middle = 1 << (matrix.bits - 1);
  return {};
}

std::string formatOf(const RowScales &matrix, int64_t bits, bool isSymmetric,
                     int64_t size) {
  return concat("compressed-tensors, ", bits, " bits",
                isSymmetric ? "" : " with zero points",
                matrix.scales->elements() == 1 && matrix.rows > 1
                    ? ", a scale a matrix"
                    : groupWords(matrix.groups, size));
}

} // namespace

Result<MadeMatrix> makeCompressedInt8(QuantizedModule &module) {
  auto matrix = std::make_shared<ByteMatrix>();
  auto bytes = module.takeMatrix("weight", {DType::I8});
  if (!bytes) {
    return std::move(bytes.error());
  }
  matrix->bytes = *bytes;
  matrix->rows = (*bytes)->shape[0];
  matrix->columns = (*bytes)->shape[1];
  int64_t size = 0;
  Status status = takeScales(module, *matrix, size);
  if (status && module.find("weight_zero_point")) {
    auto zeros = module.take("weight_zero_point", {DType::I8});
    if (!zeros) {
      return std::move(zeros.error());
    }
    status = module.expectShape(**zeros, matrix->scales->shape,
                                "a zero point a scale");
    matrix->zeros = *zeros;
    matrix->hasZeros = true;
  }
  status = status ? takeGroups(module, *matrix, size) : std::move(status);
  if (!status) {
    return std::move(status.error());
  }
  return MadeMatrix{matrix, formatOf(*matrix, 8, !matrix->zeros, size)};
}

Result<MadeMatrix> makeCompressedPacked(QuantizedModule &module) {
  auto matrix = std::make_shared<PackedMatrix>();
  auto words = module.takeMatrix("weight_packed", {DType::I32});
  if (!words) {
    return std::move(words.error());
  }
  matrix->words = *words;
  Status status = takeShape(module, *matrix);
  int64_t size = 0;
  status = status ? takeScales(module, *matrix, size) : std::move(status);
  status = status ? takeGroups(module, *matrix, size) : std::move(status);
  if (status && module.find("weight_zero_point")) {
    auto zeros = module.take("weight_zero_point", {DType::I32});
    if (!zeros) {
      return std::move(zeros.error());
    }
    int64_t perWord = 32 / matrix->bits;
    status = module.expectShape(
        **zeros, {(matrix->rows + perWord - 1) / perWord, matrix->groups},
        "zero points of the scales, in words along the rows");
    matrix->zeros = *zeros;
    matrix->hasZeros = true;
  }
  if (!status) {
    return std::move(status.error());
  }
  return MadeMatrix{matrix,
                    formatOf(*matrix, matrix->bits, !matrix->zeros, size)};
}

} // namespace tfc::rt
