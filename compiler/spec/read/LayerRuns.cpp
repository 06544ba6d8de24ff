// Which layers are one loop.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/LayerRuns.h"

#include "compiler/spec/read/LayerPeriods.h"

namespace tfc::spec {

/// Whether the two turn the same columns; one of them may turn none.
static bool turnAlike(const std::optional<Rotary> &a,
                      const std::optional<Rotary> &b) {
  return !a || !b || (a->dim == b->dim && a->interleaved == b->interleaved);
}

/// Whether the two differ in numbers alone.
static bool areAlike(const Sublayer &a, const Sublayer &b) {
  const Attention *attn = a.attention();
  const Attention *other = b.attention();
  if (a.around() != b.around() || !attn || !other) {
    return a == b;
  }
  return attn->structure() == other->structure() &&
         (attn->cross ? attn->numbers() == other->numbers()
                      : turnAlike(attn->rotary, other->rotary));
}

/// Makes of `common` what it has in common with `layer`; false, and nothing,
/// when they differ in more than numbers.
static bool joinLayer(std::vector<Sublayer> &common,
                      const std::vector<Sublayer> &layer) {
  if (common.size() != layer.size()) {
    return false;
  }
  for (size_t i = 0; i < layer.size(); ++i) {
    if (!areAlike(common[i], layer[i])) {
      return false;
    }
  }
  for (size_t i = 0; i < layer.size(); ++i) {
    Attention *mine = common[i].attention();
    if (mine) {
      const Attention &other = *layer[i].attention();
      mine->window = mine->window ? mine->window : other.window;
      mine->rotary = mine->rotary ? mine->rotary : other.rotary;
    }
  }
  return true;
}

void appendLayers(Stack &stack, int64_t count,
                  const std::vector<Sublayer> &layer) {
  appendShared(stack, count, 0, 1, layer);
}

void appendShared(Stack &stack, int64_t count, int64_t numShared, int64_t inner,
                  const std::vector<Sublayer> &layer) {
  for (int64_t place = 0; place < inner; ++place) {
    LayerRun &run = stack.runs.emplace_back();
    run.first = stack.layers + place;
    run.step = inner;
    run.count = count;
    run.numShared = numShared;
    run.place = place;
    run.sublayers = layer;
    run.groups.push_back({count, layer});
  }
  stack.layers += count * inner;
}

namespace {

/// Joins the runs of one stack.
class RunJoiner {
public:
  std::vector<LayerRun> join(const std::vector<LayerRun> &appended) {
    for (const LayerRun &run : appended) {
      if (run.numShared > 0) {
        addRuns();
        next += run.count;
        runs.push_back(run);
        continue;
      }
      layers.insert(layers.end(), size_t(run.count), &run.sublayers);
      kinds.insert(kinds.end(), size_t(run.count), kindOf(run.sublayers));
    }
    addRuns();
    return std::move(runs);
  }

private:
  std::vector<LayerRun> runs;
  /// Layers from `next` on that are in no run yet, and their kinds.
  std::vector<const std::vector<Sublayer> *> layers;
  std::vector<size_t> kinds;
  int64_t next = 0;
  /// What layers of a kind have in common.
  std::vector<std::vector<Sublayer>> common;

  /// What turns no columns goes with several kinds, the layer's before first.
  size_t kindOf(const std::vector<Sublayer> &layer) {
    if (!kinds.empty() && joinLayer(common[kinds.back()], layer)) {
      return kinds.back();
    }
    size_t kind = 0;
    while (kind < common.size() && !joinLayer(common[kind], layer)) {
      ++kind;
    }
    if (kind == common.size()) {
      common.push_back(layer);
    }
    return kind;
  }

  void addRuns() {
    size_t begin = 0;
    for (const LayerPeriod &loop : findPeriods(kinds)) {
      for (size_t place = 0; place < loop.period; ++place) {
        addRun(begin + place, loop);
      }
      begin += loop.period * loop.trips;
    }
    next += int64_t(layers.size());
    layers.clear();
    kinds.clear();
  }

  void addRun(size_t first, const LayerPeriod &loop) {
    LayerRun &run = runs.emplace_back();
    run.first = next + int64_t(first);
    run.step = int64_t(loop.period);
    run.count = int64_t(loop.trips);
    run.sublayers = *layers[first];
    for (size_t trip = 0; trip < loop.trips; ++trip) {
      const std::vector<Sublayer> &layer = *layers[first + trip * loop.period];
      joinLayer(run.sublayers, layer);
      if (!run.groups.empty() && run.groups.back().sublayers == layer) {
        ++run.groups.back().count;
      } else {
        run.groups.push_back({1, layer});
      }
    }
  }
};

} // namespace

void joinRuns(Stack &stack) {
  stack.runs = RunJoiner().join(stack.runs);
  for (LayerRun &run : stack.runs) {
    run.prefix = stack.name + ".layers";
    if (stack.runs.size() > 1) {
      run.prefix += "." + std::to_string(run.first);
    }
    if (stack.runs.size() > 1 && run.count > 1) {
      run.prefix += "-" + std::to_string(run.layerOf(run.count - 1));
    }
    if (run.step > 1) {
      run.prefix += ":" + std::to_string(run.step);
    }
  }
}

const Attention *selfAttentionOf(const std::vector<Sublayer> &layer) {
  for (const Sublayer &sublayer : layer) {
    const Attention *attn = sublayer.attention();
    if (attn && !attn->cross) {
      return attn;
    }
  }
  return nullptr;
}

std::vector<const Attention *> Stack::selfAttentions() const {
  std::vector<const Attention *> all(size_t(layers), nullptr);
  for (const LayerRun &run : runs) {
    int64_t i = 0;
    for (const LayerGroup &group : run.groups) {
      for (int64_t end = i + group.count; i < end; ++i) {
        all[size_t(run.layerOf(i))] = selfAttentionOf(group.sublayers);
      }
    }
  }
  return all;
}

/// In f64, as models were trained: 18 layers of 14 groups have a layer 9 of
/// group 6, not 7.
int64_t LayerRun::weightsOf(int64_t layer) const {
  double layersOfAGroup = double(count) / double(numShared);
  return int64_t(double(layer) / layersOfAGroup);
}

} // namespace tfc::spec
