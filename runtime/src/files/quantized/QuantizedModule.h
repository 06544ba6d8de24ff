// The tensors of one quantised module, M.weight's parts, while they are put
// together: found by name, with dtypes and shapes checked.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_FILES_QUANTIZED_QUANTIZEDMODULE_H
#define TFC_RUNTIME_SRC_FILES_QUANTIZED_QUANTIZEDMODULE_H

#include "runtime/src/files/quantized/Quantized.h"
#include "runtime/src/files/quantized/QuantizedSettings.h"

namespace tfc::rt {

/// By name.
using TensorsByName = std::map<std::string_view, const Tensor *>;

class QuantizedModule {
public:
  QuantizedModule(std::string stem, const TensorsByName &tensors,
                  const QuantizedSettings &settings)
      : stem(std::move(stem)), settings(settings), tensors(tensors) {}

  /// Part `name`, or null. What is found is a part from here on.
  const Tensor *find(const std::string &name);
  /// The same; an error where there is none, or none of these dtypes.
  Result<const Tensor *> take(const std::string &name,
                              const std::vector<DType> &dtypes);
  /// The same of a matrix: two axes from 1 to a size that can be multiplied.
  Result<const Tensor *> takeMatrix(const std::string &name,
                                    const std::vector<DType> &dtypes);
  /// An error where the tensor has another shape; axes of 1 count.
  Status expectShape(const Tensor &tensor, const std::vector<int64_t> &shape,
                     const std::string &why) const;
  /// An error about a tensor: "FILE: tensor NAME: ...".
  template <typename... Ts>
  Error fault(const Tensor &tensor, const Ts &...parts) const {
    return makeError(Code::InvalidArgument, tensor.file, ": tensor ",
                     quoteName(tensor.name), ": ", parts...);
  }

  std::string stem;
  const QuantizedSettings &settings;
  std::vector<const Tensor *> parts;

private:
  const TensorsByName &tensors;
};

/// A matrix and the words for it: "GPTQ 4 bits, groups of 128".
struct MadeMatrix {
  std::shared_ptr<QuantizedMatrix> matrix;
  std::string format;
};

/// Group of each of `columns`, `size` of them a group.
std::vector<int32_t> groupsOf(int64_t columns, int64_t size);
/// The same from a tensor [columns] of I32, each below `groups`.
Result<std::vector<int32_t>> readGroupIndex(const QuantizedModule &module,
                                            const Tensor &index,
                                            int64_t columns, int64_t groups);
/// ", groups of 32", ", a scale a row": for `columns` columns.
std::string groupWords(int64_t groups, int64_t size);

/// Word `index` of a tensor of I32.
uint32_t wordAt(const Tensor &tensor, int64_t index);
/// Scales [first, first + count) as f32: F32, F16, BF16, F8_E4M3, and F8_E8M0
/// or U8, which are powers of two.
void readScales(const Tensor &tensor, int64_t first, int64_t count, float *out);
/// The narrowest of F16, BF16 and F32 that has all scales of a tensor, and
/// halves of those that are powers of two.
DType scaleTypeOf(const Tensor &tensor);
/// Types of scales that are numbers.
extern const std::vector<DType> floatScales;

// A family of formats each: what its file says.
Result<MadeMatrix> makeGptqOrAwq(QuantizedModule &module);
Result<MadeMatrix> makeCompressedPacked(QuantizedModule &module);
Result<MadeMatrix> makeCompressedInt8(QuantizedModule &module);
Result<MadeMatrix> makeFp8(QuantizedModule &module);
Result<MadeMatrix> makeFp4(QuantizedModule &module);
/// MXFP4 of all experts, NAME_blocks [experts, rows, groups, 16] and
/// NAME_scales [experts, rows, groups]: a matrix of all rows, one expert below
/// the other.
Result<MadeMatrix> makeExpertsFp4(QuantizedModule &module,
                                  const std::string &name);

/// What the zero points of all GPTQ modules say together. Errors:
/// InvalidArgument where a symmetric file has other ones than those of the
/// middle.
Result<GptqZeros> readGptqZeros(const TensorsByName &tensors,
                                const QuantizedSettings &settings);

/// An error for a tensor that only a format has that tfc does not read.
Status refuseByTensor(const Tensor &tensor);
/// An error for a method of `quantization_config` that tfc does not read.
Status refuseByMethod(const QuantizedSettings &settings);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_FILES_QUANTIZED_QUANTIZEDMODULE_H
