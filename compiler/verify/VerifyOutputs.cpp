// The outputs of a forward pass, without padding and spectators.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/verify/VerifyOutputs.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tfc;
using transformer::RowKind;
using transformer::Take;

std::vector<CompiledTap>
tfc::packOutputs(const EntryInfo &info, const PaddedBatch &batch,
                 std::vector<rt::OutputTensor> &outputs) {
  std::vector<CompiledTap> values;
  for (auto op : func::FuncOp(info.entry).getOps<transformer::OutputOp>()) {
    auto found = llvm::find_if(outputs, [&](const rt::OutputTensor &output) {
      return output.name == op.getName();
    });
    if (found == outputs.end()) {
      continue;
    }
    CompiledTap value;
    value.id = found->name;
    bool isPerToken =
        op.getRows() == RowKind::Tokens || op.getTake() == Take::All;
    int64_t places = batch.batch * (isPerToken ? batch.length : 1);
    value.cols = static_cast<int64_t>(found->floats.size()) / places;
    for (int64_t place = 0; place < places; ++place) {
      if (isPerToken && !batch.mask[place]) {
        continue;
      }
      auto row = found->floats.begin() + place * value.cols;
      value.data.insert(value.data.end(), row, row + value.cols);
      ++value.rows;
    }
    values.push_back(std::move(value));
  }
  return values;
}

/// Takes the rows of tokens that see and are not seen out of `value`.
static void dropSpectators(const reference::Step &step, ReferenceTap &value) {
  std::vector<double> kept;
  for (const reference::Sequence &sequence : step.sequences) {
    if (sequence.past < sequence.keys) {
      auto row = value.data.begin() + sequence.first * value.cols;
      kept.insert(kept.end(), row, row + sequence.count * value.cols);
    }
  }
  value.data = std::move(kept);
  value.rows = static_cast<int64_t>(value.data.size()) / value.cols;
}

std::vector<ReferenceTap> tfc::packOutputs(const EntryInfo &info,
                                           const reference::Step &step,
                                           const reference::Outputs &outputs) {
  std::vector<ReferenceTap> values;
  for (auto op : func::FuncOp(info.entry).getOps<transformer::OutputOp>()) {
    auto found = outputs.find(op.getName().str());
    if (found == outputs.end()) {
      continue;
    }
    const reference::Matrix &matrix = found->second;
    ReferenceTap value = {found->first, -1, matrix.rows, matrix.cols,
                          matrix.data};
    if (op.getRows() == RowKind::Tokens) {
      dropSpectators(step, value);
    }
    values.push_back(std::move(value));
  }
  return values;
}

double tfc::signalToNoise(const std::vector<CompiledTap> &got,
                          const std::vector<ReferenceTap> &expected) {
  constexpr double none = -std::numeric_limits<double>::infinity();
  if (got.size() != expected.size()) {
    return none;
  }
  double signal = 0, noise = 0;
  for (auto [compiled, reference] : llvm::zip_equal(got, expected)) {
    if (compiled.data.size() != reference.data.size()) {
      return none;
    }
    for (auto [number, exact] :
         llvm::zip_equal(compiled.data, reference.data)) {
      if (!std::isfinite(number) && !std::isfinite(exact)) {
        continue;
      }
      if (!std::isfinite(number) || !std::isfinite(exact)) {
        return none;
      }
      signal += exact * exact;
      noise += (exact - number) * (exact - number);
    }
  }
  return noise == 0 ? std::numeric_limits<double>::infinity()
                    : 10 * std::log10(signal / noise);
}
