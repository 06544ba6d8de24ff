// One forward pass over a padded batch.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_STEP_FORWARD_H
#define TFC_RUNTIME_SRC_STEP_FORWARD_H

#include "runtime/src/step/Inputs.h"
#include "runtime/src/step/StepHost.h"

namespace tfc::rt {

/// A result that owns its values: floats or ints, as dtype says.
struct OutputTensor {
  std::string name;
  tfc_dtype dtype = TFC_F32;
  std::vector<int64_t> shape;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  bool isPerToken = false; // whether shape[1] is the batch's length
};

/// tfc_encode. Empty `wanted`: all outputs; empty `headRows`: all columns.
/// `unseen`: as InputBatch, of an encoder alone.
Result<std::vector<OutputTensor>>
runForward(const Model &model, const tfc_tensor *inputs, uint32_t numInputs,
           const std::vector<std::string> &wanted, const StopRequest &stop = {},
           const std::vector<int64_t> &headRows = {},
           std::vector<InputBatch::Unseen> unseen = {});

/// Whether an output's columns are the entry's vocabulary, so that some of them
/// can be asked for; of programs that compute all anyhow they are picked.
bool isHead(const tfc_entry_v0 &entry, const tfc_port_v0 &port);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_STEP_FORWARD_H
