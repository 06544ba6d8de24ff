// Tensors of a file as inputs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/InputTensors.h"

namespace tfc::tools {

rt::Result<std::vector<tfc_tensor>>
readInputTensors(const rt::TensorFile &file) {
  std::vector<tfc_tensor> inputs;
  rt::Faults faults;
  for (const rt::Tensor &tensor : file.tensors()) {
    std::string where =
        rt::concat(file.path(), ": input ", rt::quoteName(tensor.name), ": ");
    bool isLong = tensor.dtype == rt::DType::I64;
    bool isFloat = tensor.dtype == rt::DType::F32;
    if (!isLong && !isFloat && tensor.dtype != rt::DType::I32) {
      faults.add(rt::makeError(rt::Code::InvalidArgument, where,
                               "expected dtype I32 or I64, or F32 of patches, ",
                               "got ", rt::dtypeName(tensor.dtype)));
    } else if (isFloat && tensor.shape.size() == 3) {
      inputs.push_back({tensor.name.c_str(),
                        TFC_F32,
                        3,
                        {tensor.shape[0], tensor.shape[1], tensor.shape[2]},
                        tensor.data});
    } else if (tensor.shape.size() != 2) {
      faults.add(rt::makeError(rt::Code::InvalidArgument, where,
                               "expected shape [batch, length], got ",
                               rt::shapeText(tensor.shape)));
    } else {
      inputs.push_back({tensor.name.c_str(),
                        static_cast<uint32_t>(isLong    ? TFC_I64
                                              : isFloat ? TFC_F32
                                                        : TFC_I32),
                        2,
                        {tensor.shape[0], tensor.shape[1], 0},
                        tensor.data});
    }
  }
  rt::Status status = faults.take();
  if (!status) {
    return std::move(status.error());
  }
  return inputs;
}

} // namespace tfc::tools
