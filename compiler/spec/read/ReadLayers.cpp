// The layers of a stack: which overrides a layer has.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/read/ExpandSpec.h"
#include "compiler/spec/read/LayerRuns.h"
#include "compiler/spec/read/SpecReader.h"

#include <algorithm>
#include <charconv>

namespace tfc::spec {

void SpecReader::readLayers(const Json &layers) {
  if (layers.isObject()) {
    readRepeated(layers);
  }
  for (const Json &run : layers.items) {
    const Json *block = run.find("block");
    std::optional<int64_t> repeat = sizeOf(run, "repeat");
    if (repeat && block && run.find("share")) {
      addShared(run, *block, std::min(*repeat, maxLayers));
    } else if (repeat && block && block->isArray()) {
      addPeriods(*block, std::min(*repeat, maxLayers));
    } else if (repeat && block) {
      addRun(*block, std::min(*repeat, maxLayers));
    }
  }
  if (stack->layers > maxLayers) {
    error(layers.place, BadBlock,
          "expected at most " + std::to_string(maxLayers) + " layers, got " +
              std::to_string(stack->layers));
    return;
  }
  joinRuns(*stack);
}

void SpecReader::readRepeated(const Json &layers) {
  const Json *block = layers.find("block"), *repeat = layers.find("repeat");
  if (!block || !repeat || !repeat->isInteger() || repeat->integer < 0 ||
      repeat->integer > maxLayers) {
    return;
  }
  if (repeat->integer == 0) {
    checkFields(*block, blockType(), diagnostics);
  } else if (layers.find("share")) {
    addShared(layers, *block, repeat->integer);
    return;
  }
  std::vector<std::vector<size_t>> selected =
      selectOverrides(layers.find("overrides"), repeat->integer);
  // Every run needs a block of its own; a hostile file could ask for many
  // large ones.
  size_t values = 0;
  for (size_t first = 0, last = 0; first < selected.size(); first = last) {
    while (last < selected.size() && selected[last] == selected[first]) {
      ++last;
    }
    Json whole = *block;
    values += countValues(whole);
    for (size_t index : selected[first]) {
      const Json &set = *layers.find("overrides")->items[index].find("set");
      values += countValues(set);
      mergePatch(whole, set);
    }
    if (values > 2000000) {
      error(layers.find("overrides")->place, BadSelector,
            "expected at most 2000000 values in the blocks of all runs, got "
            "more");
      return;
    }
    addRun(whole, int64_t(last - first));
  }
}

void SpecReader::addRun(const Json &block, int64_t count) {
  checkFields(block, blockType(), diagnostics);
  appendLayers(*stack, count, readBlock(block));
}

/// Layers that have the weights of others.
void SpecReader::addShared(const Json &layers, const Json &block,
                           int64_t count) {
  const Json &share = *layers.find("share");
  const Json *groups = share.find("groups");
  const Json *overrides = layers.find("overrides");
  if (overrides && !overrides->items.empty()) {
    error(overrides->place, Unsupported,
          "expected no overrides (of layers that share weights they are not "
          "supported by this tfc), got " +
              describe(*overrides));
  }
  if (block.isArray()) {
    error(block.place, Unsupported,
          "expected one block (of layers that share weights periods are not "
          "supported by this tfc), got a list");
    return;
  }
  int64_t number = groups && groups->isInteger() ? groups->integer : 1;
  if (number > count) {
    error(groups->place, BadBlock,
          "expected at most " + std::to_string(count) + " (repeat), got " +
              std::to_string(number));
  }
  int64_t inner = sizeOf(share, "inner").value_or(1);
  if (inner > maxLayers / count) {
    error(share.find("inner")->place, BadBlock,
          "expected at most " + std::to_string(maxLayers / count) + " (" +
              std::to_string(maxLayers) + " layers in all), got " +
              std::to_string(inner));
    inner = 1;
  }
  checkFields(block, blockType(), diagnostics);
  appendShared(*stack, count, std::clamp<int64_t>(number, 1, count),
               std::max<int64_t>(inner, 1), readBlock(block));
}

/// The blocks in turn, `repeat` times.
void SpecReader::addPeriods(const Json &blocks, int64_t repeat) {
  if (blocks.items.empty() || blocks.items.size() > size_t(maxPeriod)) {
    error(blocks.place, BadBlock,
          "expected 1 to " + std::to_string(maxPeriod) + " blocks, got " +
              std::to_string(blocks.items.size()));
  }
  std::vector<std::vector<Sublayer>> layers;
  for (const Json &block : blocks.items) {
    checkFields(block, blockType(), diagnostics);
    layers.push_back(readBlock(block));
  }
  for (int64_t i = 0; i < repeat && stack->layers <= maxLayers; ++i) {
    for (const std::vector<Sublayer> &layer : layers) {
      appendLayers(*stack, 1, layer);
    }
  }
}

/// For every layer, the overrides that it has, in order.
std::vector<std::vector<size_t>>
SpecReader::selectOverrides(const Json *overrides, int64_t repeat) {
  std::vector<std::vector<size_t>> selected(static_cast<size_t>(repeat));
  if (!overrides) {
    return selected;
  }
  for (size_t index = 0; index < overrides->items.size(); ++index) {
    const Json &item = overrides->items[index];
    const Json *selector = item.find("layers"), *set = item.find("set");
    if (!selector || !set) {
      continue;
    }
    if (!set->isObject()) {
      error(set->place, BadType, "expected an object, got " + describe(*set));
      continue;
    }
    std::vector<bool> layers = selectLayers(*selector, repeat);
    for (size_t layer = 0; layer < layers.size(); ++layer) {
      if (layers[layer]) {
        selected[layer].push_back(index);
      }
    }
  }
  return selected;
}

/// A number of a slice; `fallback` for an empty text, nothing for any other
/// text.
static std::optional<int64_t> sliceNumber(std::string_view text,
                                          int64_t fallback) {
  if (text.empty()) {
    return fallback;
  }
  int64_t value = 0;
  const char *end = text.data() + text.size();
  auto [stop, failure] = std::from_chars(text.data(), end, value);
  bool good = failure == std::errc() && stop == end && value >= -maxLayers &&
              value <= maxLayers;
  return good ? std::optional(value) : std::nullopt;
}

/// "5", "-1" or "start:stop:step" with Python's rules, steps above 0 only.
static std::optional<std::vector<int64_t>> parseSlice(std::string_view text,
                                                      int64_t repeat) {
  std::vector<std::string_view> parts;
  for (size_t colon = 0; colon != text.npos && parts.size() < 4;) {
    colon = text.find(':');
    parts.push_back(text.substr(0, colon));
    text.remove_prefix(colon == text.npos ? text.size() : colon + 1);
  }
  auto part = [&](size_t i, int64_t fallback) {
    return sliceNumber(i < parts.size() ? parts[i] : "", fallback);
  };
  std::optional<int64_t> start = part(0, 0), stop = part(1, repeat),
                         step = part(2, 1);
  if (parts.size() > 3 || !start || !stop || !step || *step < 1) {
    return std::nullopt;
  }
  if (parts.size() == 1) {
    return parts[0].empty() ? std::nullopt
                            : std::optional(std::vector<int64_t>{*start});
  }
  auto bound = [&](int64_t value) {
    return std::clamp<int64_t>(value < 0 ? value + repeat : value, 0, repeat);
  };
  std::vector<int64_t> layers;
  for (int64_t layer = bound(*start); layer < bound(*stop); layer += *step) {
    layers.push_back(layer);
  }
  return layers;
}

/// Which of the layers a selector selects; a diagnostic when it is none.
std::vector<bool> SpecReader::selectLayers(const Json &selector,
                                           int64_t repeat) {
  std::vector<bool> selected(size_t(repeat), false);
  std::optional<std::vector<int64_t>> layers;
  if (selector.isString()) {
    layers = parseSlice(selector.text, repeat);
    if (!layers) {
      error(selector.place, BadSelector,
            "expected a layer or a slice (\"5\", \"-1\", \"start:stop:step\"), "
            "got " +
                describe(selector));
      return selected;
    }
  } else {
    layers.emplace();
    for (const Json &item : selector.items) {
      layers->push_back(item.integer);
    }
  }
  bool any = false;
  for (int64_t layer : *layers) {
    int64_t index = layer < 0 ? layer + repeat : layer;
    if (index < 0 || index >= repeat) {
      error(selector.place, BadSelector,
            "expected layers below " + std::to_string(repeat) +
                " (repeat), got " + std::to_string(layer));
      return selected;
    }
    selected[size_t(index)] = true;
    any = true;
  }
  if (!any && repeat > 0) {
    error(selector.place, BadSelector,
          "expected at least one of the " + std::to_string(repeat) +
              " layers, got " + describe(selector));
  }
  return selected;
}

} // namespace tfc::spec
