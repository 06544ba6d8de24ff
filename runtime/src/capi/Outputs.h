// The handle of results.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_CAPI_OUTPUTS_H
#define TFC_RUNTIME_SRC_CAPI_OUTPUTS_H

#include "runtime/src/step/Forward.h"

#include <algorithm>

struct tfc_outputs {
  explicit tfc_outputs(std::vector<tfc::rt::OutputTensor> results)
      : owned(std::move(results)) {
    for (const tfc::rt::OutputTensor &from : owned) {
      tfc_tensor view{};
      view.name = from.name.c_str();
      view.dtype = from.dtype;
      view.rank = static_cast<uint32_t>(from.shape.size());
      std::copy(from.shape.begin(), from.shape.end(), view.shape);
      view.data = from.dtype == TFC_F32
                      ? static_cast<const void *>(from.floats.data())
                      : from.ints.data();
      views.push_back(view);
    }
  }
  std::vector<tfc::rt::OutputTensor> owned;
  std::vector<tfc_tensor> views;
};

#endif // TFC_RUNTIME_SRC_CAPI_OUTPUTS_H
