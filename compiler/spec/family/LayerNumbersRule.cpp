// A number of each layer, which a key lists.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/family/Rules.h"

#include <map>

using namespace tfc;
using namespace tfc::family;
using spec::Json;

/// What layers have where the key says nothing: "default", and the first ones
/// of more than so many another number.
static std::vector<Json> usualNumbers(Instantiator &made, const Json &hole,
                                      size_t layers) {
  std::vector<Json> numbers(layers, *made.member(hole, "default"));
  const Json *begins = hole.find("begins");
  size_t count = begins ? size_t(begins->find("count")->integer) : 0;
  for (size_t i = 0; layers > count && i < count; ++i) {
    numbers[i] = *begins->find("number");
  }
  return numbers;
}

/// By layer; of one number, where the hole lets it be one, the same for all.
/// Empty after a fault.
static std::vector<Json> readNumbers(Instantiator &made, const Json &hole) {
  const std::string &key = hole.find("key")->text;
  Config &config = made.config;
  auto layers = size_t(made.integer(hole, "layers", 0, 0, spec::maxLayers));
  const Json *given = config.value(key);
  if (!given) {
    return usualNumbers(made, hole, layers);
  }
  bool mayBeOne = hole.find("or_one");
  if (mayBeOne && given->isNumber()) {
    return std::vector<Json>(layers, *given);
  }
  if (!given->isArray() || given->items.size() != layers) {
    config.fault(key,
                 std::string("expected ") + (mayBeOne ? "a number, or " : "") +
                     "a list with a number for each of the " +
                     std::to_string(layers) + " layers, got " +
                     (given->isArray() ? std::to_string(given->items.size())
                                       : spec::describe(*given)));
    return {};
  }
  for (const Json &number : given->items) {
    if (!number.isNumber() || number.real < 0) {
      config.faultAt(number, "expected a number from 0 on, got " +
                                 spec::describe(number));
      return {};
    }
  }
  return given->items;
}

std::optional<Json> family::layerNumbersRule(Instantiator &made,
                                             const Json &hole) {
  std::vector<Json> numbers = readNumbers(made, hole);
  if (hole.find("first")) {
    return numbers.empty() ? made.member(hole, "default") : numbers.front();
  }
  std::optional<Json> usual = made.member(hole, "usual");
  std::map<double, std::pair<Json, std::vector<Json>>> layersOf;
  for (size_t layer = 0; layer < numbers.size(); ++layer) {
    if (!usual || numbers[layer].real != usual->real) {
      auto &[number, layers] = layersOf[numbers[layer].real];
      number = numbers[layer];
      layers.emplace_back(int64_t(layer));
    }
  }
  Json overrides = Json::array();
  for (auto &[unused, own] : layersOf) {
    Json part = Json::object(), set = Json::object(), item = Json::object();
    part.set(hole.find("as")->text, std::move(own.first));
    set.set(hole.find("part")->text, std::move(part));
    item.set("layers", Json::array(std::move(own.second)));
    item.set("set", std::move(set));
    overrides.items.push_back(std::move(item));
  }
  if (std::optional<Json> more = made.member(hole, "more")) {
    for (Json &item : more->items) {
      overrides.items.push_back(std::move(item));
    }
  }
  return overrides;
}
