// Binds a model's parameters to the tensors of a checkpoint: which tensor, of
// which shape, and whether tied weights really are.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/Safetensors.h"

#include "runtime/src/files/quantized/Quantized.h"

#include <algorithm>

namespace tfc::rt {

/// Without axes of length 1 in front and between others, which move no element.
static std::vector<int64_t> significant(const std::vector<int64_t> &shape) {
  auto first = std::find_if(shape.begin(), shape.end(),
                            [](int64_t axis) { return axis != 1; });
  std::vector<int64_t> axes(first, shape.end());
  if (!axes.empty()) {
    axes.erase(std::remove(axes.begin(), axes.end() - 1, 1), axes.end() - 1);
  }
  return axes;
}

/// Whether neighbouring axes of `found` together are those of `expected`: heads
/// that have an axis of their own.
static bool mergesTo(const std::vector<int64_t> &found,
                     const std::vector<int64_t> &expected) {
  size_t next = 0;
  for (int64_t axis : expected) {
    int64_t merged = 1;
    while (merged < axis && next < found.size() && found[next] > 0 &&
           axis % merged == 0 && found[next] <= axis / merged) {
      merged *= found[next++];
    }
    if (merged != axis) {
      return false;
    }
  }
  // Axes of one behind the last are nothing to it.
  while (next < found.size() && found[next] == 1) {
    ++next;
  }
  return next == found.size();
}

Status checkTensor(const Tensor &tensor, const WeightSource &weight) {
  std::string where =
      concat(tensor.file, ": tensor ", quoteName(tensor.name), ": expected ");
  std::string why = concat(" (weight ", weight.name, "), got ");
  if (!isWeightDType(tensor.dtype)) {
    return makeError(Code::Incompatible, where, "dtype F32, F16 or BF16", why,
                     dtypeName(tensor.dtype));
  }
  std::vector<int64_t> expected{weight.storedRows};
  if (weight.rank != 1) {
    expected.push_back(weight.storedWidth());
  }
  if (isStoredInOut(tensor, weight.inOut)) {
    std::reverse(expected.begin(), expected.end());
  }
  if (weight.stacked) {
    expected.insert(expected.begin(), weight.experts);
  }
  std::vector<int64_t> found = significant(tensor.shape);
  if (found == significant(expected) ||
      (!tensor.quantized && mergesTo(tensor.shape, expected))) {
    return {};
  }
  if (weight.stacked && weight.rank != 1) {
    // All of them one below the other are the same numbers.
    std::vector<int64_t> merged(expected.begin() + 1, expected.end());
    merged[0] *= weight.experts;
    if (found == significant(merged)) {
      return {};
    }
  }
  std::vector<int64_t> transposed = expected;
  std::reverse(transposed.begin() + weight.stacked, transposed.end());
  bool fits = weight.rank != 1 && found == significant(transposed);
  return makeError(Code::Incompatible, where, "shape ", shapeText(expected),
                   why, shapeText(tensor.shape),
                   fits ? "; the transposed layout would fit" : "");
}

namespace {

// Searching for a similar name costs a pass over all names; after so many
// missing tensors the user has understood.
constexpr int maxHints = 8;

/// Binds one table to one set of files.
class Binder {
public:
  Binder(const TensorFiles &files, const WeightTable &table)
      : files(files), table(table) {
    std::vector<PatternUse> uses;
    for (const WeightSource &weight : table.weights) {
      for (const std::string &pattern : weight.patterns) {
        uses.push_back({pattern, weight.firstLayer});
      }
    }
    prefix = files.choosePrefix(uses, table.prefixes, table.aliases);
  }

  Result<BoundWeights> run() {
    BoundWeights bound(table.weights.size());
    for (size_t w = 0; w < table.weights.size(); ++w) {
      const WeightSource &weight = table.weights[w];
      for (int64_t i = 0; i < weight.layers; ++i) {
        bound[w].push_back(bind(weight, weight.layerOf(i), weight.expertOf(i)));
      }
    }
    for (size_t w = 0; w < table.weights.size() && !faults.any(); ++w) {
      checkTied(bound, w);
    }
    Status status = faults.take();
    if (!status) {
      return std::move(status.error());
    }
    return bound;
  }

private:
  const Tensor *bind(const WeightSource &weight, int64_t layer,
                     int64_t expert) {
    const Tensor *tensor = nullptr;
    for (const std::string &pattern : weight.patterns) {
      tensor = files.find(pattern, prefix, layer, table.aliases, expert);
      if (tensor) {
        faults.add(checkTensor(*tensor, weight));
        return tensor;
      }
    }
    if (!weight.fillZeros && weight.tiedTo < 0) {
      reportMissing(weight, layer, expert);
    }
    return nullptr;
  }

  void reportMissing(const WeightSource &weight, int64_t layer,
                     int64_t expert) {
    std::string name =
        weight.patterns.empty()
            ? weight.name
            : expandPattern(weight.patterns[0], prefix, layer, expert);
    std::string hint;
    if (numHints < maxHints) {
      ++numHints;
      hint = files.closestName(name);
    }
    faults.add(makeError(
        Code::NotFound, files.path(), ": expected tensor ", quoteName(name),
        " (weight ", weight.name, "), got none",
        hint.empty() ? "" : "; the closest name is " + quoteName(hint)));
  }

  void checkTied(const BoundWeights &bound, size_t w) {
    int64_t target = table.weights[w].tiedTo;
    for (size_t i = 0; target >= 0 && i < bound[w].size(); ++i) {
      const Tensor *stored = bound[w][i];
      const auto &others = bound[static_cast<size_t>(target)];
      const Tensor *other = i < others.size() ? others[i] : nullptr;
      if (stored && other && !sameValues(*stored, *other)) {
        faults.add(makeError(
            Code::Incompatible, stored->file, ": tensor ",
            quoteName(stored->name), ": expected the values of tensor ",
            quoteName(other->name),
            " (the model was compiled with tied weights", "), got others"));
      }
    }
  }

  const TensorFiles &files;
  const WeightTable &table;
  std::string prefix;
  Faults faults;
  int numHints = 0;
};

} // namespace

Result<BoundWeights> bindWeights(const TensorFiles &files,
                                 const WeightTable &table) {
  return Binder(files, table).run();
}

} // namespace tfc::rt
