// How far a model's answers are from those of a reference.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_AGREEMENT_H
#define TFC_RUNTIME_TOOLS_AGREEMENT_H

#include "runtime/src/load/Model.h"

namespace tfc::bench {

/// One output beside the reference's.
struct Agreement {
  std::string output;
  /// The largest difference and the largest reference value, both absolute. Of
  /// tokens: nothing.
  std::optional<double> maxError, largest;
  /// Rows of two or more columns, those of masked tokens left out, and how many
  /// of them have their largest value in the same column. Of "sequences":
  /// tokens that follow the prompts, and how many of them are the same.
  int64_t rows = 0, equalRows = 0;
  /// What Quality.h says of it, in dB and nats; of tokens: nothing.
  std::optional<double> signalToNoise{}, meanDivergence{}, highDivergence{};
};

/// Runs the model over the tensors of one file and compares with those of the
/// other, by name: outputs of a forward pass [batch, ...], or "sequences"
/// [batch, prompt and new tokens], which are then generated, the model's own
/// end tokens ending them. Errors: those of TensorFile::open, runForward and
/// runGenerate; InvalidArgument when the reference has another shape or dtype.
rt::Result<std::vector<Agreement>> compareOutputs(const rt::Model &model,
                                                  const std::string &inputsPath,
                                                  const std::string &reference);

} // namespace tfc::bench

#endif // TFC_RUNTIME_TOOLS_AGREEMENT_H
