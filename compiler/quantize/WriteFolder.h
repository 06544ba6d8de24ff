// A quantised model as files.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_QUANTIZE_WRITEFOLDER_H
#define TFC_COMPILER_QUANTIZE_WRITEFOLDER_H

#include "compiler/quantize/QuantizeModel.h"

namespace tfc::quantize {

/// Writes `folder` whole or not at all: Hugging Face's, in the form
/// int-quantized of compressed-tensors. config.json is the source's with a
/// quantization_config; integers and scales are in model.safetensors, matrices
/// that are none in 16 bits; the tokenizer's files are copied; `report` is
/// tfc-quantize.json. `modules` are names of Linear modules without tensors of
/// their own, which are not quantised. Errors name a file: InvalidArgument (a
/// config.json that is no object, or has a quantization_config), Io.
rt::Status writeFolder(const std::string &folder, const std::string &source,
                       const QuantizedModel &model,
                       const std::vector<std::string> &modules,
                       const std::string &report);

} // namespace tfc::quantize

#endif // TFC_COMPILER_QUANTIZE_WRITEFOLDER_H
