// Matrices of a GGUF file: blocks, rows that change places, and rows of two
// tensors as one matrix.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_FILES_GGUF_GGUFMATRICES_H
#define TFC_RUNTIME_SRC_FILES_GGUF_GGUFMATRICES_H

#include "runtime/src/files/gguf/GgufFile.h"
#include "runtime/src/files/quantized/Quantized.h"

namespace tfc::rt {

/// Rows (or columns) that the file has in another order than Hugging Face.
struct GgufOrder {
  enum Kind { Same, Pairs, Heads, Joined };
  Kind kind = Same;
  int64_t width = 1; // of a head
  /// Of Heads: as many as are not moved in front of them, and of the others
  /// `groups` of `each`, a group one after the other; in the file the first
  /// ones of all groups come first. Of Joined: groups of `each` heads of
  /// queries, one of keys and one of values; in the file all queries come
  /// first.
  int64_t before = 0, groups = 1, each = 1;

  /// Of Pairs, neighbours in the file are halves of a head apart.
  int64_t stored(int64_t place) const;
};

/// What has been done to elements by who wrote the file.
enum class GgufChange { None, OneAdded, NegativePower };

/// Where the rows of a matrix are in the file.
struct GgufRows {
  Tensor stored; // the file's bytes
  const GgufType *type = nullptr;
  GgufOrder order, columnOrder;
  GgufChange change = GgufChange::None;
  std::shared_ptr<GgufFile> file;

  /// Block `number` of a row of `columns`.
  const uint8_t *block(int64_t row, int64_t columns, int64_t number) const;
  /// Whether they are floats, in their order, as they are.
  bool isPlain() const {
    return !type->decode && order.kind == GgufOrder::Same &&
           columnOrder.kind == GgufOrder::Same && change == GgufChange::None;
  }
};

/// Rows of blocks, or of floats whose order changes.
class GgufMatrix : public QuantizedMatrix {
public:
  GgufRows from;

  void decode(int64_t first, int64_t count, float *out) const override;
};

/// The same of blocks whose groups are integers times a scale, and which
/// columns change places with whole.
class GgufIntegers : public IntegerMatrix {
public:
  GgufRows from;

  void decode(int64_t first, int64_t count, float *out) const override;
  void readIntegers(int64_t row, int32_t *integers) const override;
  void readGroups(int64_t row, float *scales, int32_t *zeros) const override;
  void readFloatZeros(int64_t row, float *zeros) const override;

private:
  /// Of the row's block number `number`.
  const uint8_t *block(int64_t row, int64_t number) const {
    int64_t elements = from.type->elements;
    return from.block(row, columns,
                      from.columnOrder.stored(number * elements) / elements);
  }
  int64_t blocks() const { return columns / from.type->elements; }
};

/// Rows of one or two tensors. They are in groups (experts, heads) of some runs
/// each, of which a tensor has that of each group one after the other.
class GgufJoined : public QuantizedMatrix {
public:
  struct Run {
    size_t part;
    int64_t first, rows; // in the tensor, of a group
  };
  std::vector<std::shared_ptr<const Tensor>> from;
  std::vector<Run> runs;

  void decode(int64_t first, int64_t count, float *out) const override;
};

/// What makes keys and values of a latent: of each head rows of keys and of
/// values. In the file these are two tensors, [heads, columns, keys] and
/// [heads, values, columns].
class GgufLatents : public QuantizedMatrix {
public:
  std::shared_ptr<const Tensor> keys, values;

  void decode(int64_t first, int64_t count, float *out) const override;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_FILES_GGUF_GGUFMATRICES_H
