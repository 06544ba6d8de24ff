// Matrices of a GGUF file: blocks, rows that change places, and rows of two
// tensors as one matrix.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_FILES_GGUF_GGUFMATRICES_H
#define TFC_RUNTIME_SRC_FILES_GGUF_GGUFMATRICES_H

#include "runtime/src/files/gguf/GgufFile.h"
#include "runtime/src/files/quantized/Quantized.h"

namespace tfc::rt {

/// Where the rows of a matrix are in the file.
struct GgufRows {
  Tensor stored; // the file's bytes
  const GgufType *type = nullptr;
  int64_t headWidth = 0; // where rows change places
  float added = 0;       // to each element, by who wrote the file
  std::shared_ptr<GgufFile> file;

  /// Neighbours in the file are halves of a head apart in Hugging Face's order.
  int64_t storedRow(int64_t row) const;
  /// Block `number` of a row of `columns`.
  const uint8_t *block(int64_t row, int64_t columns, int64_t number) const;
};

/// Rows of blocks, or of floats whose order changes.
class GgufMatrix : public QuantizedMatrix {
public:
  GgufRows from;

  void decode(int64_t first, int64_t count, float *out) const override;
};

/// The same of blocks that are integers times a scale.
class GgufIntegers : public IntegerMatrix {
public:
  GgufRows from;

  void readIntegers(int64_t row, int32_t *integers) const override;
  void readGroups(int64_t row, float *scales, int32_t *zeros) const override;
};

/// Of each expert `own` rows of one or two tensors, the first one's in front or
/// in turns.
class GgufJoined : public QuantizedMatrix {
public:
  std::vector<std::shared_ptr<const Tensor>> from;
  int64_t own = 1;
  bool inTurns = false;

  void decode(int64_t first, int64_t count, float *out) const override;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_FILES_GGUF_GGUFMATRICES_H
