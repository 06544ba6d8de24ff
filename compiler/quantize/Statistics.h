// What a model's matrices multiply when it reads texts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_QUANTIZE_STATISTICS_H
#define TFC_COMPILER_QUANTIZE_STATISTICS_H

#include "compiler/quantize/FindProducts.h"
#include "compiler/verify/VerifyBatch.h"

namespace tfc::quantize {

/// Of the rows that a matrix multiplied.
struct RowStatistics {
  int64_t numRows = 0;
  std::vector<float> greatest; // by column, of its size
  std::vector<double> squares; // by column, their sum
  /// Some of the rows, one after the other.
  std::vector<float> samples;
  int64_t numSamples = 0;
};

/// Runs the interpreter over `batches`, each with a batch for every entry of
/// `module` in the order of execution, where tapProducts has put taps. One for
/// each matrix of `products`. Nothing when the interpreter fails, which has
/// reported why.
std::optional<std::vector<RowStatistics>>
collectStatistics(mlir::ModuleOp module, const Products &products,
                  const VerifyWeights &weights,
                  llvm::ArrayRef<std::vector<PaddedBatch>> batches);

} // namespace tfc::quantize

#endif // TFC_COMPILER_QUANTIZE_STATISTICS_H
