// Which layers are one loop.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/LayerRuns.h"

namespace tfc::spec {

/// Whether the two turn the same columns; one of them may turn none.
static bool turnAlike(const std::optional<Rotary> &a,
                      const std::optional<Rotary> &b) {
  return !a || !b || (a->dim == b->dim && a->interleaved == b->interleaved);
}

/// Makes of `common` what it has in common with `layer`; false, and nothing,
/// when they differ in more than numbers.
static bool join(Attention &common, const Attention &layer) {
  if (common == layer) {
    return true;
  }
  Attention other = layer;
  other.scale = common.scale;
  other.window = common.window;
  other.rotary = common.rotary;
  if (common.cross || !(common == other) ||
      !turnAlike(common.rotary, layer.rotary)) {
    return false;
  }
  common.window = common.window ? common.window : layer.window;
  common.rotary = common.rotary ? common.rotary : layer.rotary;
  return true;
}

static bool join(std::vector<Sublayer> &common,
                 const std::vector<Sublayer> &layer) {
  if (common.size() != layer.size()) {
    return false;
  }
  std::vector<Sublayer> joined = common;
  for (size_t i = 0; i < layer.size(); ++i) {
    auto *mine = std::get_if<Attention>(&joined[i].f);
    const auto *other = std::get_if<Attention>(&layer[i].f);
    bool isJoined = mine && other ? join(*mine, *other) : joined[i] == layer[i];
    if (!isJoined || layer[i].around() != joined[i].around()) {
      return false;
    }
  }
  common = std::move(joined);
  return true;
}

void appendLayers(Stack &stack, int64_t count, std::vector<Sublayer> layer) {
  if (stack.runs.empty() || stack.runs.back().numShared > 0 ||
      !join(stack.runs.back().sublayers, layer)) {
    stack.runs.push_back({"", stack.layers, 0, layer, {}});
  }
  LayerRun &run = stack.runs.back();
  if (!run.groups.empty() && run.groups.back().sublayers == layer) {
    run.groups.back().count += count;
  } else {
    run.groups.push_back({count, std::move(layer)});
  }
  run.count += count;
  stack.layers += count;
}

void appendShared(Stack &stack, int64_t count, int64_t numShared,
                  std::vector<Sublayer> layer) {
  stack.runs.push_back({"", stack.layers, count, layer, {}});
  stack.runs.back().groups.push_back({count, std::move(layer)});
  stack.runs.back().numShared = numShared;
  stack.layers += count;
}

/// In f64, as models were trained: 18 layers of 14 groups have a layer 9 of
/// group 6, not 7.
int64_t LayerRun::weightsOf(int64_t layer) const {
  double layersOfAGroup = double(count) / double(numShared);
  return int64_t(double(layer) / layersOfAGroup);
}

} // namespace tfc::spec
