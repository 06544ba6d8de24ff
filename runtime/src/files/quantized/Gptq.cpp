// GPTQ and AWQ: words of 4 or 8 bits whose scales and zero points are a row a
// group of columns. The first packs words along the columns of the matrix, the
// second along its rows, with its nibbles in an order of its own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/quantized/QuantizedModule.h"

#include <algorithm>

namespace tfc::rt {

namespace {

// 1 in each field of a word.
constexpr uint32_t ones4 = 0x11111111, ones8 = 0x01010101;

bool isGptq(const Tensor &words, const Tensor &scales) {
  return words.shape[1] == scales.shape[1];
}

/// A row is a column of the stored tensors.
class GptqMatrix : public IntegerMatrix {
public:
  const Tensor *words = nullptr, *scales = nullptr, *zeros = nullptr;
  uint32_t addToZeros = 0;

  void readIntegers(int64_t row, int32_t *out) const override {
    int64_t perWord = 32 / bits;
    for (int64_t column = 0; column < columns;) {
      uint32_t word = wordAt(*words, column / perWord * rows + row);
      for (int64_t end = column + perWord; column < end; ++column) {
        *out++ = static_cast<int32_t>(word & mask());
        word >>= bits;
      }
    }
  }
  void readGroups(int64_t row, float *scaleOut,
                  int32_t *zeroOut) const override {
    int64_t perWord = 32 / bits, rowWords = rows / perWord;
    for (int64_t group = 0; group < groups; ++group) {
      readScales(*scales, group * rows + row, 1, scaleOut + group);
      // To the whole word, with carries: as they were subtracted.
      uint32_t word =
          wordAt(*zeros, group * rowWords + row / perWord) + addToZeros;
      zeroOut[group] =
          static_cast<int32_t>(word >> (row % perWord * bits) & mask());
    }
  }

private:
  uint32_t mask() const { return (uint32_t(1) << bits) - 1; }
};

class AwqMatrix : public IntegerMatrix {
public:
  const Tensor *words = nullptr, *scales = nullptr, *zeros = nullptr;

  void readIntegers(int64_t row, int32_t *out) const override {
    for (int64_t column = 0; column < columns; ++column) {
      out[column] = nibble(*words, column, row);
    }
  }
  void readGroups(int64_t row, float *scaleOut,
                  int32_t *zeroOut) const override {
    for (int64_t group = 0; group < groups; ++group) {
      readScales(*scales, group * rows + row, 1, scaleOut + group);
      zeroOut[group] = zeros ? nibble(*zeros, group, row) : 8;
    }
  }

private:
  int32_t nibble(const Tensor &tensor, int64_t line, int64_t row) const {
    static constexpr int shifts[] = {0, 16, 4, 20, 8, 24, 12, 28};
    uint32_t word = wordAt(tensor, line * (rows / 8) + row / 8);
    return static_cast<int32_t>(word >> shifts[row % 8] & 15);
  }
};

/// The parts of a module that are the same for both, checked for themselves.
struct Parts {
  const Tensor *words, *scales, *zeros;
};

Result<Parts> takeParts(QuantizedModule &module) {
  auto words = module.takeMatrix("qweight", {DType::I32});
  if (!words) {
    return std::move(words.error());
  }
  auto scales = module.takeMatrix("scales", floatScales);
  if (!scales) {
    return std::move(scales.error());
  }
  const Tensor *zeros = nullptr;
  if (module.settings.isZeroPoint || module.find("qzeros")) {
    auto taken = module.take("qzeros", {DType::I32});
    if (!taken) {
      return std::move(taken.error());
    }
    zeros = *taken;
  }
  return Parts{*words, *scales, zeros};
}

/// The bits of a GPTQ module's fields, by its zero points; 0 where they are not
/// those of its scales.
int64_t bitsOf(const Tensor &scales, const Tensor &zeros) {
  for (int64_t bits : {4, 8}) {
    int64_t fields = 32 / bits;
    if (scales.shape[1] % fields == 0 &&
        zeros.shape == std::vector{scales.shape[0], scales.shape[1] / fields}) {
      return bits;
    }
  }
  return 0;
}

/// The columns of a group where no tensor says it; 0 where `groups` of them
/// cannot be.
int64_t groupSizeOf(const QuantizedSettings &settings, int64_t columns,
                    int64_t groups) {
  int64_t size = groups == 1              ? columns
                 : settings.groupSize > 0 ? settings.groupSize
                 : columns % groups == 0  ? columns / groups
                                          : 0;
  return size > 0 && (columns - 1) / size + 1 == groups ? size : 0;
}

/// Sets groups of columns: by g_idx, else one after the other.
Status takeGroups(QuantizedModule &module, IntegerMatrix &matrix,
                  const Tensor &scales, std::string &words) {
  int64_t size = groupSizeOf(module.settings, matrix.columns, matrix.groups);
  const Tensor *index = module.find("g_idx");
  words = size > 0 ? groupWords(matrix.groups, size)
                   : concat(", ", matrix.groups, " groups");
  if (!index) {
    if (size == 0) {
      return module.fault(scales, "expected the scales of groups of ",
                          module.settings.groupSize, " of ", matrix.columns,
                          " columns, got ", matrix.groups, " groups");
    }
    matrix.groupOf = groupsOf(matrix.columns, size);
    return {};
  }
  auto typed = module.take("g_idx", {DType::I32});
  if (!typed) {
    return std::move(typed.error());
  }
  auto groups = readGroupIndex(module, *index, matrix.columns, matrix.groups);
  if (!groups) {
    return std::move(groups.error());
  }
  words += size > 0 && *groups != groupsOf(matrix.columns, size)
               ? " in their own order"
               : "";
  matrix.groupOf = std::move(*groups);
  return {};
}

Result<MadeMatrix> makeGptq(QuantizedModule &module, const Parts &parts) {
  auto matrix = std::make_shared<GptqMatrix>();
  auto zeros = module.take("qzeros", {DType::I32});
  if (!zeros) {
    return std::move(zeros.error());
  }
  matrix->words = parts.words;
  matrix->scales = parts.scales;
  matrix->scaleType = scaleTypeOf(*parts.scales);
  matrix->zeros = *zeros;
  matrix->rows = parts.scales->shape[1];
  matrix->groups = parts.scales->shape[0];
  matrix->bits = bitsOf(*parts.scales, **zeros);
  if (matrix->bits == 0) {
    return module.fault(**zeros, "expected the zero points of scales ",
                        shapeText(parts.scales->shape),
                        " in words of 4 or 8 bits, got ",
                        shapeText((*zeros)->shape));
  }
  matrix->columns = parts.words->shape[0] * (32 / matrix->bits);
  matrix->middle = 1 << (matrix->bits - 1);
  matrix->hasZeros = !module.settings.zeros.areMiddle;
  matrix->isOutIn = true;
  matrix->addToZeros = matrix->bits == 4 ? module.settings.zeros.add4
                                         : module.settings.zeros.add8;
  std::string groups;
  Status status = takeGroups(module, *matrix, *parts.scales, groups);
  if (!status) {
    return std::move(status.error());
  }
  return MadeMatrix{matrix, concat("GPTQ ", matrix->bits, " bits", groups)};
}

Result<MadeMatrix> makeAwq(QuantizedModule &module, const Parts &parts) {
  auto matrix = std::make_shared<AwqMatrix>();
  matrix->words = parts.words;
  matrix->scales = parts.scales;
  matrix->scaleType = scaleTypeOf(*parts.scales);
  matrix->zeros = parts.zeros;
  matrix->rows = parts.scales->shape[1];
  matrix->columns = parts.words->shape[0];
  matrix->groups = parts.scales->shape[0];
  matrix->bits = 4;
  matrix->middle = 8;
  matrix->hasZeros = parts.zeros;
  matrix->isOutIn = true;
  if (parts.words->shape[1] * 8 != matrix->rows) {
    return module.fault(*parts.words, "expected [columns / 8, ", matrix->rows,
                        "] (GPTQ, 4 bits), [columns / 4, ", matrix->rows,
                        "] (8 bits) or [columns, ", matrix->rows,
                        " / 8] (AWQ's gemm) for scales ",
                        shapeText(parts.scales->shape), ", got ",
                        shapeText(parts.words->shape),
                        "; other layouts (gemv, 2, 3 and 6 bits) are not read");
  }
  if (parts.zeros) {
    Status status = module.expectShape(*parts.zeros,
                                       {matrix->groups, parts.words->shape[1]},
                                       "zero points of the scales, 8 a word");
    if (!status) {
      return std::move(status.error());
    }
  }
  std::string groups;
  Status status = takeGroups(module, *matrix, *parts.scales, groups);
  if (!status) {
    return std::move(status.error());
  }
  return MadeMatrix{matrix, concat("AWQ 4 bits", groups)};
}

/// Whether all fields of a file's zero points are 7, or 8 (of 4 bits).
struct ZeroCount {
  bool allBelow = true, allMiddle = true;
  uint64_t allOnes = 0;

  void add(uint32_t word, uint32_t ones, int64_t bits) {
    uint32_t middle = ones << (bits - 1);
    allMiddle = allMiddle && word == middle;
    allBelow = allBelow && word == middle - ones;
    uint32_t mask = (uint32_t(1) << bits) - 1;
    for (int64_t at = 0; at < 32 && word >= mask; at += bits) {
      allOnes += (word >> at & mask) == mask;
    }
  }
};

} // namespace

Result<MadeMatrix> makeGptqOrAwq(QuantizedModule &module) {
  auto parts = takeParts(module);
  if (!parts) {
    return std::move(parts.error());
  }
  return isGptq(*parts->words, *parts->scales) ? makeGptq(module, *parts)
                                               : makeAwq(module, *parts);
}

Result<GptqZeros> readGptqZeros(const TensorsByName &tensors,
                                const QuantizedSettings &settings) {
  ZeroCount count;
  const Tensor *seen = nullptr;
  constexpr std::string_view end = ".qzeros";
  for (const auto &[name, zeros] : tensors) {
    if (name.size() < end.size() ||
        name.substr(name.size() - end.size()) != end ||
        zeros->dtype != DType::I32) {
      continue;
    }
    std::string stem(name.substr(0, name.size() - end.size()));
    auto scales = tensors.find(stem + ".scales"),
         words = tensors.find(stem + ".qweight");
    if (scales == tensors.end() || words == tensors.end() ||
        scales->second->shape.size() != 2 || words->second->shape.size() != 2 ||
        !isGptq(*words->second, *scales->second)) {
      continue;
    }
    int64_t bits = bitsOf(*scales->second, *zeros);
    for (int64_t i = 0; bits && i < zeros->elements(); ++i) {
      count.add(wordAt(*zeros, i), bits == 4 ? ones4 : ones8, bits);
    }
    seen = bits ? zeros : seen;
  }
  GptqZeros zeros;
  zeros.areMiddle = seen && (count.allMiddle || count.allBelow);
  if (!seen || count.allMiddle) {
    return zeros;
  }
  bool isSymmetric =
      settings.isSymmetric.value_or(false) && !settings.hasModuleRules;
  if (isSymmetric && !count.allBelow) {
    return makeError(Code::InvalidArgument, seen->file, ": tensor ",
                     quoteName(seen->name),
                     ": expected zero points of the middle in all modules "
                     "(\"sym\" is true): all 7 or all 8 of 4 bits, 127 or 128 "
                     "of 8, got others");
  }
  // What the file says of itself decides where its values do not.
  if (count.allBelow || settings.format != "gptq_v2") {
    zeros.add4 = ones4;
    zeros.add8 = ones8;
    zeros.wrapped = count.allBelow ? 0 : count.allOnes;
  }
  return zeros;
}

} // namespace tfc::rt
