// Compares what compiled code and interpreter reported.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/verify/VerifyTaps.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using namespace tfc;

template <typename Element> static std::string nameOf(const Tap<Element> &tap) {
  return tap.layer < 0
             ? tap.id
             : llvm::formatv("{0}, layer {1}", tap.id, tap.layer).str();
}

/// "[3, 17]", with the sequence and token when rows are tokens.
static std::string placeOf(const ReferenceTap &tap, size_t element,
                           const reference::Step &step) {
  int64_t row = static_cast<int64_t>(element) / tap.cols;
  std::string place = llvm::formatv("[{0}, {1}]", row,
                                    static_cast<int64_t>(element) % tap.cols);
  int64_t tokens = 0;
  for (const reference::Sequence &sequence : step.sequences) {
    tokens += sequence.count;
  }
  for (const reference::Sequence &sequence : step.sequences) {
    if (tap.rows == tokens && row >= sequence.first &&
        row < sequence.first + sequence.count) {
      place += llvm::formatv(" (token {0} of sequence {1})",
                             sequence.past + row - sequence.first, sequence.id)
                   .str();
      break;
    }
  }
  return place;
}

/// |got - expected|; 0 for equal infinities and for two NaNs.
static double distance(double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) {
    return 0;
  }
  return std::abs(got - expected);
}

static std::optional<std::string> compareTap(const CompiledTap &got,
                                             const ReferenceTap &expected,
                                             const reference::Step &step,
                                             Agreement &agreement) {
  std::string name = nameOf(expected);
  if (nameOf(got) != name || got.rows != expected.rows ||
      got.cols != expected.cols) {
    return llvm::formatv("expected {0}, [{1}, {2}] (the interpreter's order), "
                         "got {3}, [{4}, {5}]",
                         name, expected.rows, expected.cols, nameOf(got),
                         got.rows, got.cols)
        .str();
  }
  double largest = expected.tolerance.least, worst = 0;
  for (double value : expected.data) {
    largest =
        std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
  }
  double tolerance = expected.tolerance.relative * largest;
  std::optional<size_t> first;
  for (size_t i = 0; i < expected.data.size(); ++i) {
    double apart = distance(got.data[i], expected.data[i]);
    worst = worst < apart || std::isnan(apart) ? apart : worst;
    // Of an infinity there are no steps.
    double own = std::isfinite(expected.data[i])
                     ? expected.tolerance.step * std::abs(expected.data[i])
                     : 0;
    // Written so that a NaN is a difference.
    if (!first && !(apart <= tolerance + own)) {
      first = i;
    }
  }
  agreement.worst = std::max(agreement.worst, worst);
  if (!first) {
    return std::nullopt;
  }
  return llvm::formatv(
             "expected {0} to be {1:f6} at {2} (the interpreter, within "
             "{3:e2}), got {4:f6}; max abs diff {5:e2}",
             name, expected.data[*first], placeOf(expected, *first, step),
             tolerance, got.data[*first], worst)
      .str();
}

std::optional<std::string>
tfc::findDifference(const std::vector<CompiledTap> &compiled,
                    const std::vector<ReferenceTap> &reference,
                    const reference::Step &step, Agreement &agreement) {
  size_t count = std::min(compiled.size(), reference.size());
  for (size_t i = 0; i < count; ++i) {
    if (auto difference =
            compareTap(compiled[i], reference[i], step, agreement)) {
      return difference;
    }
    ++agreement.values;
    agreement.ops.insert(reference[i].id);
  }
  if (compiled.size() != reference.size()) {
    return llvm::formatv("expected {0} values (of the interpreter), got {1}",
                         reference.size(), compiled.size())
        .str();
  }
  return std::nullopt;
}
