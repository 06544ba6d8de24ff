// Which layers of a mixture of experts are dense.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/family/Rules.h"

#include <algorithm>

using namespace tfc;
using namespace tfc::family;
using spec::Json;

/// The layers that config.json lists as dense; none after a fault.
static std::vector<int64_t> readList(Config &config, const Json &hole,
                                     int64_t layers) {
  std::vector<int64_t> dense;
  const std::string &key = hole.find("list")->text;
  const Json *list = config.value(key);
  list = list && !config.isNull(key) ? list : hole.find("listed");
  if (!list) {
    return dense;
  }
  bool isGood = list->isArray();
  for (const Json &item : list->items) {
    isGood = isGood && item.isInteger() && item.integer >= 0 &&
             item.integer <= spec::maxRows;
    dense.push_back(isGood ? item.integer : 0);
  }
  if (!isGood) {
    config.fault(key, "expected a list of layers, got another value");
  }
  return dense;
}

/// Whether each layer is dense by config.json's list of their types; none where
/// there is no such key, or after a fault.
static std::vector<bool> readTypes(Config &config, const std::string &key,
                                   int64_t layers) {
  const Json *list = config.value(key);
  std::vector<bool> areDense;
  if (!list || config.isNull(key)) {
    return areDense;
  }
  bool isGood = list->isArray() && int64_t(list->items.size()) >= layers;
  for (const Json &item : list->items) {
    isGood = isGood && item.isString() &&
             (item.text == "dense" || item.text == "sparse");
    areDense.push_back(item.isString() && item.text == "dense");
  }
  if (!isGood) {
    config.fault(key, "expected \"dense\" or \"sparse\" for each of " +
                          std::to_string(layers) +
                          " layers, got another value");
    areDense.clear();
  }
  return areDense;
}

/// The same by the key whose list names the layers with experts.
static std::vector<bool> readSparse(Config &config, const std::string &key,
                                    int64_t layers) {
  const Json *list = config.value(key);
  if (!list || config.isNull(key)) {
    return {};
  }
  std::vector<bool> areDense(size_t(layers), true);
  bool isGood = list->isArray();
  for (const Json &item : list->items) {
    isGood = isGood && item.isInteger() && item.integer >= 0 &&
             item.integer < layers;
    if (isGood) {
      areDense[size_t(item.integer)] = false;
    }
  }
  if (!isGood) {
    config.fault(key, "expected a list of layers below " +
                          std::to_string(layers) + ", got another value");
    return {};
  }
  return areDense;
}

/// Whether there are experts in layer `i`, by the holes that count them.
static bool isSparse(Instantiator &made, const Json &hole, int64_t i,
                     int64_t layers) {
  int64_t first = made.integer(hole, "first", 0, 0, spec::maxRows);
  int64_t last = made.integer(hole, "last", -1, -1, spec::maxRows);
  int64_t every = made.integer(hole, "every", 1, 1, spec::maxRows);
  if (hole.find("sparse")) {
    // So many of them, if the step between them divides their number.
    int64_t sparse = made.integer(hole, "sparse", 1, 0, spec::maxRows);
    int64_t step = sparse == 0 ? layers : layers / sparse;
    return step == 1 || (step > 1 && i % step == 1);
  }
  int64_t at = made.integer(hole, "at", every - 1, 0, every - 1);
  return i >= first && (last < 0 || i <= last) && i % every == at;
}

std::optional<Json> family::denseLayersRule(Instantiator &made,
                                            const Json &hole) {
  int64_t layers = made.integer(hole, "layers", 0, 0, spec::maxLayers);
  std::vector<int64_t> listed;
  if (hole.find("list")) {
    listed = readList(made.config, hole, layers);
  }
  std::vector<bool> areDense;
  if (const Json *types = hole.find("types")) {
    areDense = readTypes(made.config, types->text, layers);
  }
  if (const Json *sparse = hole.find("sparse_list")) {
    areDense = readSparse(made.config, sparse->text, layers);
  }
  Json selected = Json::array();
  for (int64_t i = 0; i < layers; ++i) {
    if (!areDense.empty()) {
      if (areDense[i]) {
        selected.items.push_back(i);
      }
      continue;
    }
    if (!isSparse(made, hole, i, layers) ||
        std::find(listed.begin(), listed.end(), i) != listed.end()) {
      selected.items.push_back(i);
    }
  }
  bool isAny = !selected.items.empty();
  if (hole.find("then")) {
    return isAny ? made.member(hole, "then") : std::nullopt;
  }
  if (isAny && int64_t(selected.items.size()) == layers) {
    made.config.fault(hole.find("key")->text,
                      "expected a layer with experts, got none (all " +
                          std::to_string(layers) + " are dense)");
    return std::nullopt;
  }
  if (!isAny) {
    return std::nullopt;
  }
  Json patch = Json::object();
  patch.set("moe", Json());
  patch.set("ffn", made.member(hole, "ffn").value_or(Json::object()));
  if (std::optional<Json> attention = made.member(hole, "attn")) {
    patch.set("attn", std::move(*attention));
  }
  Json item = Json::object();
  item.set("layers", std::move(selected));
  item.set("set", std::move(patch));
  return Json::array({std::move(item)});
}
