// Matrices that a checkpoint has as integers or narrow floats with scales:
// finding them by the tensors that they are made of, and their values, row by
// row, to the bit of the format's own definition.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_FILES_QUANTIZED_QUANTIZED_H
#define TFC_RUNTIME_SRC_FILES_QUANTIZED_QUANTIZED_H

#include "runtime/src/files/Safetensors.h"

namespace tfc::rt {

/// A matrix [rows, columns], both at least 1, and what it is made of.
class QuantizedMatrix {
public:
  virtual ~QuantizedMatrix();

  /// Rows [first, first + count) as f32, dense. Any thread. A NaN or an
  /// infinity in the file gives values that are not finite.
  virtual void decode(int64_t first, int64_t count, float *out) const = 0;

  int64_t rows = 0, columns = 0;
  /// The narrowest type that has all values: F32, or BF16.
  DType dtype = DType::F32;
  /// Rows are outputs even where the model has the matrix transposed.
  bool isOutIn = false;
  /// What is stored; lives as long as the files.
  std::vector<const Tensor *> parts;
};

/// A matrix w = (q - zero) * scale - float zero, whose columns belong to groups
/// that have one of each.
class IntegerMatrix : public QuantizedMatrix {
public:
  /// Of a matrix without float zeros.
  void decode(int64_t first, int64_t count, float *out) const override;

  /// The integers of a row, [columns].
  virtual void readIntegers(int64_t row, int32_t *integers) const = 0;
  /// Scales and zeros of a row, [groups] each.
  virtual void readGroups(int64_t row, float *scales, int32_t *zeros) const = 0;
  /// Of a row, [groups]; called only if hasFloatZeros.
  virtual void readFloatZeros(int64_t row, float *zeros) const;

  /// Of an integer, and what it is without a sign more than with one.
  int64_t bits = 8;
  int32_t middle = 0;
  /// Whether zero points may be others than `middle`.
  bool hasZeros = false;
  /// Whether groups have float zeros; zero points are 0 then.
  bool hasFloatZeros = false;
  /// The narrowest type that has all scales, and float zeros: F16, BF16 or F32.
  DType scaleType = DType::F32;
  int64_t groups = 1;
  /// Of each column, [columns]; below `groups`.
  std::vector<int32_t> groupOf;
};

/// How a library keeps a matrix of integers: bytes or four bits, with a scale
/// for each `group` of columns, 0 being all of a row, which is of bytes; and of
/// four bits maybe a zero point, or a float zero.
struct KeptForm {
  bool isFour = false;
  int64_t group = 0;
  bool hasZeros = false, hasFloatZeros = false;
};

/// Rows of a matrix as they are kept: [rows, columns] integers, and for each
/// group of a row a scale and a zero point, or where the form has float zeros
/// one of those, which is for integers that are 8 more.
struct KeptRows {
  std::vector<int8_t> integers, zeros;
  std::vector<float> scales, floatZeros;
};

/// The matrix, if its integers and scales can be kept so as they are; or null.
const IntegerMatrix *findKept(const QuantizedMatrix &matrix,
                              const KeptForm &form);
/// Of one that findKept gave `count` rows from `first` on, `step` from one to
/// the next.
KeptRows readKept(const IntegerMatrix &matrix, const KeptForm &form,
                  int64_t first, int64_t count, int64_t step = 1);

/// Elements [first, first + count) of the matrix in rows.
void decodeElements(const QuantizedMatrix &matrix, int64_t first, int64_t count,
                    float *out);

/// Whether the tensor of a weight that models store as [in, out] is stored so.
bool isStoredInOut(const Tensor &tensor, bool inOut);

/// Tensors of a folder: matrices made of several, and all others.
struct QuantizedTensors {
  std::vector<Tensor> matrices;
  std::vector<const Tensor *> others;
  std::vector<std::string> formats; // as TensorFiles::formats
};

/// Finds the quantised matrices among `stored`, the tensors of a file or folder
/// at `path`. Tensors decide what is quantised; config.json there (or beside
/// the file) says what tensors leave open. Errors: Unsupported for formats that
/// are not read, by name; NotFound, InvalidArgument for parts that are missing
/// or do not fit each other.
Result<QuantizedTensors>
findQuantized(const std::string &path,
              const std::vector<const Tensor *> &stored);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_FILES_QUANTIZED_QUANTIZED_H
