// fp8 with a scale a tensor, row or block; fp4 with scales a group (NVFP4,
// MXFP4).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/quantized/NarrowFloats.h"

#include "runtime/src/files/quantized/QuantizedModule.h"

#include <array>
#include <cmath>

namespace tfc::rt {

float f16Value(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  float fraction = static_cast<float>(bits & 1023);
  float value =
      exponent == 31
          ? (bits & 1023 ? std::nanf("") : HUGE_VALF)
          : (exponent == 0 ? std::ldexp(fraction, -24)
                           : std::ldexp(fraction + 1024.0F, exponent - 25));
  return bits & 0x8000 ? -value : value;
}

float e4m3Value(uint8_t code) {
  int exponent = code >> 3 & 15, fraction = code & 7;
  float value = (code & 127) == 127 ? std::nanf("")
                : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9)
                                : std::ldexp(static_cast<float>(8 + fraction),
                                             exponent - 10);
  return code & 128 ? -value : value;
}

float e8m0Value(uint8_t code) {
  return code == 255 ? std::nanf("") : std::ldexp(1.0F, code - 127);
}

float e2m1Value(uint8_t code) {
  static constexpr float values[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
  return code & 8 ? -values[code & 7] : values[code & 7];
}

namespace {

std::array<float, 256> makeE4m3Table() {
  std::array<float, 256> table;
  for (size_t code = 0; code < table.size(); ++code) {
    table[code] = e4m3Value(static_cast<uint8_t>(code));
  }
  return table;
}

int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// w = q * scale of the block.
class Fp8Matrix : public QuantizedMatrix {
public:
  const Tensor *codes = nullptr, *scales = nullptr;
  int64_t blockRows = 1, blockColumns = 1, scaleColumns = 1;

  void decode(int64_t first, int64_t count, float *out) const override {
    static const std::array<float, 256> table = makeE4m3Table();
    std::vector<float> scale(static_cast<size_t>(scaleColumns));
    for (int64_t row = first; row < first + count; ++row) {
      readScales(*scales, row / blockRows * scaleColumns, scaleColumns,
                 scale.data());
      const uint8_t *code = codes->data + row * columns;
      for (int64_t column = 0; column < columns; ++column) {
        *out++ = table[code[column]] *
                 scale[static_cast<size_t>(column / blockColumns)];
      }
    }
  }
};

/// w = q * (scale of the group / global), two roundings in this order.
class Fp4Matrix : public QuantizedMatrix {
public:
  const Tensor *codes = nullptr, *scales = nullptr;
  static constexpr int64_t group = 16;
  float divisor = 1;

  void decode(int64_t first, int64_t count, float *out) const override {
    int64_t groups = columns / group;
    std::vector<float> scale(static_cast<size_t>(groups));
    for (int64_t row = first; row < first + count; ++row) {
      readScales(*scales, row * groups, groups, scale.data());
      for (float &one : scale) {
        one /= divisor;
      }
      const uint8_t *pairs = codes->data + row * (columns / 2);
      for (int64_t column = 0; column < columns; ++column) {
        // The even column is the low half.
        uint8_t code = column % 2 ? pairs[column / 2] >> 4 : pairs[column / 2];
        *out++ =
            e2m1Value(code & 15) * scale[static_cast<size_t>(column / group)];
      }
    }
  }
};

/// w = q * scale of the group. Twice a code is an integer, and half of a power
/// of two is one.
class Mxfp4Matrix : public IntegerMatrix {
public:
  static constexpr int64_t group = 32;
  const Tensor *codes = nullptr, *scales = nullptr;

  void place(int64_t ownRows, int64_t ownColumns) {
    rows = ownRows;
    columns = ownColumns;
    groups = columns / group;
    groupOf = groupsOf(columns, group);
    dtype = DType::BF16;
    scaleType = DType::BF16;
    bits = 5;
  }
  void readIntegers(int64_t row, int32_t *out) const override {
    for (int64_t column = 0; column < columns; ++column) {
      *out++ = static_cast<int32_t>(2 * codeAt(row, column));
    }
  }
  void readGroups(int64_t row, float *out, int32_t *zeros) const override {
    readScales(*scales, row * groups, groups, out);
    for (int64_t i = 0; i < groups; ++i) {
      out[i] /= 2;
      zeros[i] = 0;
    }
  }
  /// As the format says it: a code has a sign where it is 0, too.
  void decode(int64_t first, int64_t count, float *out) const override {
    std::vector<float> scale(static_cast<size_t>(groups));
    for (int64_t row = first; row < first + count; ++row) {
      readScales(*scales, row * groups, groups, scale.data());
      for (int64_t column = 0; column < columns; ++column) {
        *out++ =
            codeAt(row, column) * scale[static_cast<size_t>(column / group)];
      }
    }
  }

private:
  /// The even column is the low half.
  float codeAt(int64_t row, int64_t column) const {
    uint8_t pair = codes->data[row * (columns / 2) + column / 2];
    return e2m1Value(column % 2 ? pair >> 4 : pair & 15);
  }
};

/// The scales of an fp8 matrix: a number, one a row, or one a block.
Result<MadeMatrix> placeScales(const QuantizedModule &module,
                               std::shared_ptr<Fp8Matrix> matrix) {
  const std::vector<int64_t> &shape = matrix->scales->shape;
  int64_t rows = matrix->rows, columns = matrix->columns;
  if (matrix->scales->elements() == 1) {
    matrix->blockRows = rows;
    matrix->blockColumns = columns;
    return MadeMatrix{matrix, "fp8, a scale a matrix"};
  }
  if (shape == std::vector{rows} || shape == std::vector{rows, int64_t(1)}) {
    matrix->blockColumns = columns;
    return MadeMatrix{matrix, "fp8, a scale a row"};
  }
  // Never from the grid: the last blocks may be short.
  matrix->blockRows = module.settings.blockRows;
  matrix->blockColumns = module.settings.blockColumns;
  matrix->scaleColumns = ceilDivide(columns, matrix->blockColumns);
  std::string blocks =
      concat("blocks of ", matrix->blockRows, " x ", matrix->blockColumns);
  Status status = module.expectShape(
      *matrix->scales,
      {ceilDivide(rows, matrix->blockRows), matrix->scaleColumns}, blocks);
  if (!status) {
    return std::move(status.error());
  }
  return MadeMatrix{matrix, "fp8, " + blocks};
}

} // namespace

Result<MadeMatrix> makeFp8(QuantizedModule &module) {
  auto matrix = std::make_shared<Fp8Matrix>();
  auto codes = module.takeMatrix("weight", {DType::F8E4M3});
  if (!codes) {
    return std::move(codes.error());
  }
  std::string name = module.find("weight_scale_inv") ? "weight_scale_inv"
                     : module.find("qscale_weight")  ? "qscale_weight"
                                                     : "weight_scale";
  auto scales = module.take(
      name, {DType::F32, DType::F16, DType::BF16, DType::F8E8M0, DType::U8});
  if (!scales) {
    return std::move(scales.error());
  }
  matrix->codes = *codes;
  matrix->scales = *scales;
  matrix->rows = (*codes)->shape[0];
  matrix->columns = (*codes)->shape[1];
  return placeScales(module, matrix);
}

/// NVFP4 has a scale for all of the matrix, too.
static Result<MadeMatrix> makeNvfp4(QuantizedModule &module,
                                    const Tensor &codes, const Tensor &scales) {
  auto matrix = std::make_shared<Fp4Matrix>();
  matrix->codes = &codes;
  matrix->scales = &scales;
  matrix->rows = codes.shape[0];
  matrix->columns = codes.shape[1] * 2;
  auto whole = module.take("weight_global_scale", floatScales);
  if (!whole) {
    return std::move(whole.error());
  }
  if ((*whole)->elements() != 1) {
    return module.fault(**whole, "expected one number, got shape ",
                        shapeText((*whole)->shape));
  }
  convertToF32(**whole, 0, 1, &matrix->divisor);
  return MadeMatrix{matrix, "NVFP4, groups of 16"};
}

Result<MadeMatrix> makeFp4(QuantizedModule &module) {
  auto codes = module.takeMatrix("weight_packed", {DType::U8});
  if (!codes) {
    return std::move(codes.error());
  }
  bool isNvfp4 = module.find("weight_global_scale");
  auto scales = isNvfp4
                    ? module.take("weight_scale", {DType::F8E4M3})
                    : module.take("weight_scale", {DType::U8, DType::F8E8M0});
  if (!scales) {
    return std::move(scales.error());
  }
  int64_t rows = (*codes)->shape[0], columns = (*codes)->shape[1] * 2;
  int64_t group = isNvfp4 ? Fp4Matrix::group : Mxfp4Matrix::group;
  if (columns % group != 0) {
    return module.fault(**codes, "expected whole groups of ", group,
                        " columns, got ", columns, " columns");
  }
  Status status = module.expectShape(**scales, {rows, columns / group},
                                     concat("groups of ", group));
  if (!status) {
    return std::move(status.error());
  }
  if (isNvfp4) {
    return makeNvfp4(module, **codes, **scales);
  }
  auto matrix = std::make_shared<Mxfp4Matrix>();
  matrix->codes = *codes;
  matrix->scales = *scales;
  matrix->place(rows, columns);
  return MadeMatrix{matrix, "MXFP4, groups of 32"};
}

Result<MadeMatrix> makeExpertsFp4(QuantizedModule &module,
                                  const std::string &name) {
  auto matrix = std::make_shared<Mxfp4Matrix>();
  auto codes = module.take(name + "_blocks", {DType::U8});
  if (!codes) {
    return std::move(codes.error());
  }
  auto scales = module.take(name + "_scales", {DType::U8, DType::F8E8M0});
  if (!scales) {
    return std::move(scales.error());
  }
  constexpr int64_t most = int64_t(1) << 28;
  constexpr int64_t groupBytes = Mxfp4Matrix::group / 2;
  const std::vector<int64_t> &shape = (*codes)->shape;
  bool isGood = shape.size() == 4 && shape[3] == groupBytes;
  for (int64_t axis : shape) {
    isGood = isGood && axis >= 1 && axis <= most;
  }
  isGood = isGood && shape[0] <= most / shape[1];
  if (!isGood) {
    return module.fault(**codes, "expected [experts, rows, groups, ",
                        groupBytes, "], got shape ", shapeText(shape));
  }
  matrix->codes = *codes;
  matrix->scales = *scales;
  matrix->place(shape[0] * shape[1], shape[2] * Mxfp4Matrix::group);
  matrix->isOutIn = true;
  Status status = module.expectShape(**scales, {shape[0], shape[1], shape[2]},
                                     "a scale a group of 32");
  if (!status) {
    return std::move(status.error());
  }
  return MadeMatrix{matrix, "MXFP4 of experts, groups of 32"};
}

} // namespace tfc::rt
