// The inputs of a call from a tensor file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_INPUTTENSORS_H
#define TFC_RUNTIME_TOOLS_INPUTTENSORS_H

#include "runtime/src/files/Safetensors.h"
#include "tfc/runtime.h"

namespace tfc::tools {

/// The file's tensors as the API wants them; they point into the file. Errors:
/// InvalidArgument for every tensor that is not [batch, length] of I32 or I64.
rt::Result<std::vector<tfc_tensor>>
readInputTensors(const rt::TensorFile &file);

} // namespace tfc::tools

#endif // TFC_RUNTIME_TOOLS_INPUTTENSORS_H
