// Generation of a padded batch.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_SESSION_GENERATE_H
#define TFC_RUNTIME_SRC_SESSION_GENERATE_H

#include "runtime/src/step/Engine.h"
#include "runtime/src/step/Forward.h"

#include <functional>

namespace tfc::rt {

struct GenerateOptions {
  std::optional<std::vector<int64_t>> eos; // nothing: the model's
  int64_t maxNewTokens = 0;
  EngineOptions engine;
  int64_t maxDrafts = 0;                        // of sequences; beams have none
  std::shared_ptr<const Model> draft;           // the same
  std::optional<tfc_decoding_options> decoding; // nothing: the model's
  /// Row, token, whether the row ends with it; false stops the generation.
  std::function<bool(int64_t, int64_t, bool)> onToken;
};

/// tfc_generate: the tensor "sequences", and "sequences_scores" of beams.
Result<std::vector<OutputTensor>> runGenerate(const Model &model,
                                              const tfc_tensor *inputs,
                                              uint32_t numInputs,
                                              const GenerateOptions &options);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_SESSION_GENERATE_H
