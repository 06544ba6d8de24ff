// What a model's folder says of its answers: names of classes, and how a
// sentence becomes one vector.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_MODELNOTES_H
#define TFC_RUNTIME_TOOLS_MODELNOTES_H

#include "runtime/src/Error.h"

namespace tfc::run {

struct ModelNotes {
  enum Pooling { Pooler, Mean, First, Last };

  std::vector<std::string> labels; // by class; may be fewer than the model has
  bool isRegression = false, isMultiLabel = false;
  /// Of sentence encoders; otherwise what the model pools itself.
  Pooling pooling = Pooler;
  bool normalizes = false;
  /// Why the tool cannot pool as the folder says; empty when it can. It does
  /// not matter where the model pools itself.
  std::string poolingFault;

  std::string label(size_t index) const {
    return index < labels.size() ? labels[index]
                                 : "LABEL_" + std::to_string(index);
  }
};

/// A folder without these files has no notes, nor has a file of weights.
/// Errors: InvalidArgument.
rt::Result<ModelNotes> readModelNotes(const std::string &folder);

} // namespace tfc::run

#endif // TFC_RUNTIME_TOOLS_MODELNOTES_H
