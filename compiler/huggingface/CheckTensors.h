// Compares a spec with the tensors of a directory: every parameter must be
// there in the right shape, and every tensor must be somebody's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_HUGGINGFACE_CHECKTENSORS_H
#define TFC_COMPILER_HUGGINGFACE_CHECKTENSORS_H

#include "compiler/spec/Diagnostics.h"
#include "compiler/spec/ModelSpec.h"
#include "runtime/src/files/Safetensors.h"

#include <set>

namespace tfc::huggingface {

/// What the check saw.
struct TensorUse {
  size_t claimed = 0;
  int64_t elements = 0; // of the claimed tensors
  std::vector<std::string> ignored;
  std::set<rt::DType> matrices; // what the claimed matrices are stored as
  /// Of a checkpoint with quantised matrices, those of the layers that are none
  /// in some layer, by the names that "precision.rules" has.
  std::vector<std::string> keptWide;
  /// Of a checkpoint with integers in groups, how precision.group and
  /// precision.zeros keep them as they are, but for those that no group does; 0
  /// where there are none.
  int64_t group = 0;
  bool hasZeros = false, hasFloatZeros = false;
  /// The narrowest type that has the scales of all integers that are kept in
  /// four bits, and their float zeros, for precision.scales.
  std::optional<rt::DType> scales;
  /// Whether there are integers of fewer bits than a byte, kept or not, and the
  /// quantised matrices of layers that are not kept in four in some layer, by
  /// the names that "precision.rules" has.
  bool hasFew = false;
  std::vector<std::string> keptByte;
};

/// A fault of the runtime's readers, one diagnostic a line.
void reportError(const rt::Error &error, spec::Diagnostics &diagnostics);

/// Binds the parameters as tfc-run does: one error for each that is missing,
/// has another shape or a dtype that is no weight's. Tensors that are neither
/// bound nor ignored by the spec are one warning, an error if `strict`.
TensorUse checkTensors(const spec::ModelSpec &model,
                       const rt::TensorFiles &files, bool strict,
                       spec::Diagnostics &diagnostics);

/// Whether `name` matches `glob`, in which * stands for any characters.
bool matchesGlob(std::string_view name, std::string_view glob);

} // namespace tfc::huggingface

#endif // TFC_COMPILER_HUGGINGFACE_CHECKTENSORS_H
