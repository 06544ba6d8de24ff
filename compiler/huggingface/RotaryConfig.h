// Rotary embeddings as config.json says them, in the keys of transformers 4
// and 5.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_HUGGINGFACE_ROTARYCONFIG_H
#define TFC_COMPILER_HUGGINGFACE_ROTARYCONFIG_H

#include "compiler/huggingface/Family.h"

namespace tfc::huggingface {

/// The spec's "rotary": from rope_parameters (5.x), or rope_scaling, rope_theta
/// and original_max_position_embeddings (4.x). `positions` is what the model's
/// max_position_embeddings says. Scalings that tfc does not have are errors.
spec::Json readRotary(Source &source, int64_t positions);

} // namespace tfc::huggingface

#endif // TFC_COMPILER_HUGGINGFACE_ROTARYCONFIG_H
