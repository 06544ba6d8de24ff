// What a model tells of itself through the C API.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_CAPI_INFO_H
#define TFC_RUNTIME_SRC_CAPI_INFO_H

#include "runtime/src/load/Model.h"

namespace tfc::rt {

/// What a tfc_model_info points at.
struct PortTables {
  explicit PortTables(const Model &model);
  std::vector<tfc_port_info> inputs, outputs;
  tfc_decoding_options decoding;

private:
  void addOutputs(const tfc_entry_v0 &entry);
};

/// Everything but struct_size.
tfc_model_info describe(const Model &model, const PortTables &ports);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_CAPI_INFO_H
