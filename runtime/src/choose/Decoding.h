// How tokens are chosen: the caller's options or the model's defaults, checked,
// as what the parts of the runtime take.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_CHOOSE_DECODING_H
#define TFC_RUNTIME_SRC_CHOOSE_DECODING_H

#include "runtime/src/Error.h"
#include "runtime/src/choose/BeamSearch.h"
#include "runtime/src/choose/ProcessScores.h"
#include "tfc/abi.h"
#include "tfc/runtime.h"

namespace tfc::rt {

/// What a model's library says.
tfc_decoding_options defaultDecoding(const tfc_module_v0 &table);

/// Errors: InvalidArgument, a line for every value that means nothing. Token
/// ids are below `vocabulary`.
Status checkDecoding(const tfc_decoding_options &options, int64_t vocabulary);

/// The rules for a sequence whose prompt has `promptLength` tokens and which
/// ends with `maxNewTokens` more.
ScoreRules makeScoreRules(const tfc_decoding_options &options,
                          const std::vector<int64_t> &eos, int64_t promptLength,
                          int64_t maxNewTokens);

/// The same for a beam search.
BeamOptions makeBeamOptions(const tfc_decoding_options &options,
                            const std::vector<int64_t> &eos,
                            int64_t promptLength, int64_t maxNewTokens);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_CHOOSE_DECODING_H
