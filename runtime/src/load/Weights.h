// A library's weight table bound to tensor files, and the packed weights that a
// program makes of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_WEIGHTS_H
#define TFC_RUNTIME_SRC_LOAD_WEIGHTS_H

#include "runtime/src/files/Safetensors.h"
#include "runtime/src/load/Loading.h"
#include "runtime/src/memory/Memory.h"
#include "tfc/abi.h"

namespace tfc::rt {

/// The table of a checked module, as Safetensors.h wants it.
WeightTable weightTable(const tfc_module_v0 &module);

/// Gives the whole pages of these bytes of a tensor that is mapped back to the
/// system, which reads them again when they are needed again.
void releasePages(const Tensor &tensor, uint64_t first, uint64_t bytes);
/// All of a tensor's, and of those that it is made of.
void releasePages(const Tensor &tensor);

/// Stored bytes that packing a bound weight reads.
uint64_t bytesToPack(const tfc_weight_v0 &weight, const Tensor &tensor);

/// Packs bound tensors by ranges of rows, in parallel, and has the program
/// prepare what it makes of them; in a library of ranks the part of one.
/// (weight, layer) pairs that no tensor stores are left zero. Errors:
/// Exhausted, Incompatible (what would be rounded), Internal, Cancelled, those
/// of prepareWeights.
Result<Mapping> packWeights(const tfc_module_v0 &module,
                            const tfc_program_v0 &program,
                            const BoundWeights &bound, Loading &loading,
                            uint32_t rank = 0);

/// Where weights come from: a checkpoint (files and folders, whose tensors are
/// one set), a file of packed weights, or both, in which case the file is made
/// of the checkpoint if it does not exist yet. Empty: not given.
struct WeightPaths {
  std::vector<std::string> checkpoint;
  std::string packed;
  bool sharesPacked = false; // PackedMemory::Shared
  uint32_t rank = 0;         // whose part they are, of a library of ranks
};

struct LoadedWeights {
  Mapping packed;
  std::string fault; // why they could not be saved; empty: nothing is wrong
};

/// The packed weights, read or made. Errors: those of TensorFiles::open,
/// bindWeights, openPacked, packWeights and writePacked, except for its Io: the
/// weights are complete without their file; NotFound when there is neither;
/// Incompatible when the packed ones are of another checkpoint; Cancelled.
Result<LoadedWeights> loadWeights(const tfc_module_v0 &module,
                                  const tfc_program_v0 &program,
                                  const WeightPaths &paths, Loading &loading);

/// Packs numbers of no meaning, as a model's first ones are (small, norms near
/// 1): for measuring without a checkpoint. The same for every call. Errors:
/// Exhausted, Internal, Cancelled.
Result<Mapping> packRandomWeights(const tfc_module_v0 &module,
                                  const tfc_program_v0 &program,
                                  Loading &loading, uint32_t rank = 0);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_LOAD_WEIGHTS_H
