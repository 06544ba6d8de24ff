// A library's weight table bound to tensor files, and the packed weights that a
// program makes of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_WEIGHTS_H
#define TFC_RUNTIME_SRC_WEIGHTS_H

#include "runtime/src/Memory.h"
#include "runtime/src/Safetensors.h"
#include "tfc/abi.h"

namespace tfc::rt {

/// The table of a checked module, as Safetensors.h wants it.
WeightTable weightTable(const tfc_module_v0 &module);

/// Binds the module's weights to the files at `path` and packs them, in
/// parallel. (weight, layer) pairs that no tensor stores are left zero. Errors:
/// those of TensorFiles::open and bindWeights, Exhausted, Internal.
Result<Mapping> packWeights(const tfc_module_v0 &module,
                            const tfc_program_v0 &program,
                            const std::string &path, uint32_t threads);

/// Packs numbers of no meaning, as a model's first ones are (small, norms near
/// 1): for measuring without a checkpoint. The same for every call. Errors:
/// Exhausted, Internal.
Result<Mapping> packRandomWeights(const tfc_module_v0 &module,
                                  const tfc_program_v0 &program,
                                  uint32_t threads);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_WEIGHTS_H
