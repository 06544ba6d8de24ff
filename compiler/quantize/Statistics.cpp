// Statistics of what taps give.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/quantize/Statistics.h"

#include <cmath>

using namespace mlir;
using namespace tfc;
using namespace tfc::quantize;

/// Rows of a batch that are kept as samples, and of all batches.
static constexpr int64_t kBatchSamples = 8, kSamples = 64;

static void add(const reference::Matrix &rows, RowStatistics &to) {
  to.greatest.resize(rows.cols);
  to.squares.resize(rows.cols);
  for (int64_t row = 0; row < rows.rows; ++row) {
    for (int64_t column = 0; column < rows.cols; ++column) {
      double value = rows.at(row, column);
      to.greatest[column] =
          std::max(to.greatest[column], static_cast<float>(std::fabs(value)));
      to.squares[column] += value * value;
    }
  }
  to.numRows += rows.rows;
  int64_t wanted = std::min({kBatchSamples, rows.rows,
                             std::max<int64_t>(0, kSamples - to.numSamples)});
  for (int64_t i = 0; i < wanted; ++i) {
    // Spread over the batch.
    const double *row = &rows.data[i * rows.rows / wanted * rows.cols];
    to.samples.insert(to.samples.end(), row, row + rows.cols);
  }
  to.numSamples += wanted;
}

std::optional<std::vector<RowStatistics>>
tfc::quantize::collectStatistics(ModuleOp module, const Products &products,
                                 const VerifyWeights &weights,
                                 ArrayRef<std::vector<PaddedBatch>> batches) {
  std::vector<RowStatistics> statistics(products.matrices.size());
  auto provider = [&](transformer::ParameterOp parameter,
                      int64_t layer) -> FailureOr<std::vector<double>> {
    return weights.read(parameter, layer);
  };
  // Parts of one tensor have the same rows.
  auto tap = [&](transformer::TapOp op, int64_t layer,
                 const reference::Matrix &rows) {
    add(rows, statistics[products.matricesOf.lookup(op.getId())[layer]]);
    return std::nullopt;
  };
  for (const std::vector<PaddedBatch> &each : batches) {
    reference::Cache cache;
    for (auto [entry, batch] : llvm::zip(module.getOps<func::FuncOp>(), each)) {
      EntryInfo info(entry);
      reference::Step step = packForward(info, batch, each.front());
      // Outputs are no products of layers.
      step.outputs = {""};
      if (failed(runEntry(entry, step, provider, cache, tap))) {
        return std::nullopt;
      }
    }
  }
  return statistics;
}
