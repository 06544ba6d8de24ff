// Rules about layers that are not all alike: windows, and what some layers do
// without.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/family/Rules.h"

#include <cmath>
#include <map>

using namespace tfc;
using namespace tfc::family;
using spec::Json;

static Json makeObject(std::vector<std::pair<std::string_view, Json>> members) {
  Json object = Json::object();
  for (auto &[key, value] : members) {
    object.set(key, std::move(value));
  }
  return object;
}

/// Overrides that set `patch` in some layers; nothing where there are none.
static std::optional<Json> overridesOf(std::vector<Json> layers, Json patch) {
  if (layers.empty()) {
    return std::nullopt;
  }
  return Json::array({makeObject({{"layers", Json::array(std::move(layers))},
                                  {"set", std::move(patch)}})});
}

/// And those of `more`.
static std::optional<Json> withMore(Instantiator &made, const Json &hole,
                                    std::optional<Json> overrides) {
  if (std::optional<Json> more = made.member(hole, "more")) {
    overrides = overrides.value_or(Json::array());
    for (Json &item : more->items) {
      overrides->items.push_back(std::move(item));
    }
  }
  return overrides;
}

static int64_t countLayers(Instantiator &made, const Json &hole) {
  return made.integer(hole, "layers", 0, 0, spec::maxLayers);
}

/// An error at the key that says that there is a window.
static void refuseBothSides(Config &config, std::string_view key,
                            const Json &byDefault) {
  config.fault(key, "expected no window (\"is_causal\" is false; windows to "
                    "both sides are not supported by this tfc), got " +
                        spec::describe(config.value(key) ? *config.value(key)
                                                         : byDefault));
}

std::optional<Json> family::windowRule(Instantiator &made, const Json &hole) {
  const std::string &key = hole.find("key")->text;
  const Json *byDefault = hole.find("default");
  Config &config = made.config;
  const Json *given = config.value(key);
  bool isNone = config.isNull(key) || (!given && !byDefault) ||
                (given && hole.find("zero") && *given == Json(0));
  if (isNone) {
    return Json("none");
  }
  int64_t size =
      config.integer(key, byDefault ? byDefault->integer : 1, 1, spec::maxRows);
  if (made.halvesWindows) {
    return makeObject({{"left", size / 2}, {"right", size / 2}});
  }
  if (made.bothSides && !hole.find("of_layers")) {
    refuseBothSides(config, key, byDefault ? *byDefault : Json(size));
  }
  // A token sees itself and the size - 1 positions before.
  return makeObject({{"left", size - 1}, {"right", 0}});
}

namespace {

/// What a table says of layers without layer_types.
bool slidesByDefault(Instantiator &made, const Json &rule, int64_t layer,
                     int64_t layers) {
  if (rule.find("from")) {
    return layer >= made.integer(rule, "from", 0, 0, spec::maxRows);
  }
  if (rule.find("every")) {
    int64_t every = made.integer(rule, "every", 1, 1, spec::maxRows);
    int64_t at = made.integer(rule, "at", every - 1, 0, every - 1);
    bool isEnd = layer < made.integer(rule, "first", 0, 0, spec::maxRows) ||
                 (rule.find("last") && layer == layers - 1);
    return layer % every != at && !isEnd;
  }
  if (rule.find("first_of")) {
    return layer % made.integer(rule, "first_of", 1, 1, spec::maxRows) != 0;
  }
  return rule.isString("sliding_attention");
}

/// The layers whose type says that they have a window.
std::vector<Json> readTypes(Instantiator &made, const Json &types,
                            int64_t layers, bool hasWindow) {
  std::vector<Json> selected;
  if (!types.isArray() || int64_t(types.items.size()) != layers) {
    made.config.fault("layer_types",
                      "expected a list with a type for each of the " +
                          std::to_string(layers) + " layers, got " +
                          (types.isArray() ? std::to_string(types.items.size())
                                           : spec::describe(types)));
    return {};
  }
  for (int64_t layer = 0; layer < layers; ++layer) {
    const Json &type = types.items[size_t(layer)];
    if (type.isString("sliding_attention") && hasWindow) {
      selected.push_back(layer);
    } else if (!type.isString("full_attention")) {
      made.config.faultAt(type,
                          std::string("expected \"full_attention\"") +
                              (hasWindow ? " or \"sliding_attention\""
                                         : " (there is no sliding window)") +
                              ", got " + spec::describe(type));
    }
  }
  return selected;
}

} // namespace

std::optional<Json> family::layerTypesRule(Instantiator &made,
                                           const Json &hole) {
  std::optional<Json> window = made.member(hole, "window");
  bool hasWindow = window && window->isObject();
  const Json &byDefault = *hole.find("default");
  if (hole.find("fixed")) {
    expectLayerTypes(made.config,
                     hasWindow ? byDefault.text : "full_attention");
    return std::nullopt;
  }
  int64_t layers = countLayers(made, hole);
  std::vector<Json> selected;
  if (const Json *types = made.config.value("layer_types")) {
    selected = readTypes(made, *types, layers, hasWindow);
  } else {
    for (int64_t layer = 0; hasWindow && layer < layers; ++layer) {
      if (slidesByDefault(made, byDefault, layer, layers)) {
        selected.push_back(layer);
      }
    }
  }
  if (made.bothSides && !made.halvesWindows && !selected.empty()) {
    refuseBothSides(made.config, hole.find("key")->text, true);
    return std::nullopt;
  }
  Json attention = makeObject({{"window", window ? *window : Json("none")}});
  if (std::optional<Json> set = made.member(hole, "set")) {
    for (spec::Member &member : set->members) {
      attention.set(member.key, std::move(member.value));
    }
  }
  return withMore(made, hole,
                  overridesOf(std::move(selected),
                              makeObject({{"attn", std::move(attention)}})));
}

std::optional<Json> family::layerPatternRule(Instantiator &made,
                                             const Json &hole) {
  const std::string &key = hole.find("key")->text;
  const Json *list = made.config.value(key);
  int64_t layers = countLayers(made, hole);
  int64_t every = made.integer(hole, "every", 1, 1, spec::maxRows);
  if (hole.find("or_empty") && list &&
      (made.config.isNull(key) || (list->isArray() && list->items.empty()))) {
    list = nullptr;
  }
  if (list && (!list->isArray() || int64_t(list->items.size()) != layers)) {
    made.config.fault(key,
                      "expected a list with 0 or 1 for each of the " +
                          std::to_string(layers) + " layers, got " +
                          (list->isArray() ? std::to_string(list->items.size())
                                           : spec::describe(*list)));
    return std::nullopt;
  }
  std::vector<Json> selected;
  for (int64_t layer = 0; layer < layers; ++layer) {
    const Json *entry = list ? &list->items[size_t(layer)] : nullptr;
    if (entry && !(*entry == Json(0)) && !(*entry == Json(1))) {
      made.config.faultAt(*entry,
                          "expected 0 or 1, got " + spec::describe(*entry));
    } else if (entry ? *entry == Json(0) : (layer + 1) % every == 0) {
      selected.push_back(layer);
    }
  }
  return withMore(made, hole,
                  overridesOf(std::move(selected), *made.member(hole, "set")));
}

/// The kinds of [[["global", "local"], 12], ...]: each list, so many times;
/// nothing where it has another form or more than `most`.
static std::optional<std::vector<Json>> expandTypes(const Json &types,
                                                    int64_t most) {
  std::vector<Json> kinds;
  for (const Json &run : types.items) {
    bool good = run.items.size() == 2 && run.items[0].isArray() &&
                run.items[1].isInteger() && run.items[1].integer <= most;
    for (int64_t i = 0; good && i < run.items[1].integer; ++i) {
      kinds.insert(kinds.end(), run.items[0].items.begin(),
                   run.items[0].items.end());
      good = int64_t(kinds.size()) <= most;
    }
    if (!good) {
      return std::nullopt;
    }
  }
  return kinds;
}

std::optional<Json> family::attentionTypesRule(Instantiator &made,
                                               const Json &hole) {
  Config &config = made.config;
  int64_t layers = countLayers(made, hole);
  const Json *types = config.value("attention_types");
  const Json *list = config.value("attention_layers");
  std::optional<std::vector<Json>> kinds;
  if (list && list->isArray()) {
    kinds = list->items;
  } else if (!list && types) {
    kinds = expandTypes(*types, layers);
  } else if (!list) {
    kinds.emplace();
    for (int64_t layer = 0; layer < layers; ++layer) {
      kinds->push_back(layer % 2 == 1 ? "local" : "global");
    }
  }
  std::vector<Json> selected;
  bool good = kinds && int64_t(kinds->size()) == layers;
  for (int64_t layer = 0; good && layer < layers; ++layer) {
    const Json &kind = (*kinds)[size_t(layer)];
    if (kind.isString("local")) {
      selected.push_back(layer);
    }
    good = kind.isString("local") || kind.isString("global");
  }
  if (!good) {
    config.fault(list ? "attention_layers" : "attention_types",
                 "expected \"global\" or \"local\" for each of the " +
                     std::to_string(layers) + " layers, got another list");
    return std::nullopt;
  }
  std::optional<Json> window = made.member(hole, "window");
  Json attention = makeObject({{"window", window ? *window : Json("none")}});
  return overridesOf(std::move(selected),
                     makeObject({{"attn", std::move(attention)}}));
}

/// The layers of each number that the hole's key lists; none without the key,
/// and after a fault.
static std::map<double, std::vector<Json>>
layersByNumber(Instantiator &made, const Json &hole, double least) {
  const std::string &key = hole.find("key")->text;
  Config &config = made.config;
  const Json *numbers = config.value(key);
  std::map<double, std::vector<Json>> layersOf;
  if (!numbers || config.isNull(key)) {
    return layersOf;
  }
  int64_t layers = countLayers(made, hole);
  if (!numbers->isArray() || int64_t(numbers->items.size()) != layers) {
    config.fault(key,
                 "expected a list with a number for each of the " +
                     std::to_string(layers) + " layers, got " +
                     (numbers->isArray() ? std::to_string(numbers->items.size())
                                         : spec::describe(*numbers)));
    return layersOf;
  }
  for (size_t layer = 0; layer < numbers->items.size(); ++layer) {
    const Json &number = numbers->items[layer];
    if (number.isNumber() && number.real >= least) {
      layersOf[number.real].emplace_back(int64_t(layer));
    } else {
      config.faultAt(number, "expected a number from " +
                                 spec::describe(Json(int64_t(least))) +
                                 " on, got " + spec::describe(number));
    }
  }
  return layersOf;
}

/// An override of what `layers` have in their attention.
static Json overrideAttention(std::vector<Json> layers, std::string_view key,
                              Json value) {
  Json attention = makeObject({{key, std::move(value)}});
  return makeObject({{"layers", Json::array(std::move(layers))},
                     {"set", makeObject({{"attn", std::move(attention)}})}});
}

std::optional<Json> family::layerThetasRule(Instantiator &made,
                                            const Json &hole) {
  Json overrides = Json::array();
  for (auto &[theta, layers] : layersByNumber(made, hole, 0)) {
    Json rotary =
        theta == 0 ? Json("none") : makeObject({{"theta", Json(theta)}});
    overrides.items.push_back(
        overrideAttention(std::move(layers), "rotary", std::move(rotary)));
  }
  return overrides;
}

std::optional<Json> family::layerHeadsRule(Instantiator &made,
                                           const Json &hole) {
  int64_t usual = made.integer(hole, "heads", 1, 1, spec::maxWidth);
  Json overrides = Json::array();
  for (auto &[heads, layers] : layersByNumber(made, hole, 1)) {
    Json number = std::floor(heads) == heads && heads <= double(spec::maxWidth)
                      ? Json(int64_t(heads))
                      : Json(heads);
    number.place = made.config.placeOf(hole.find("key")->text);
    if (!(number == Json(usual))) {
      overrides.items.push_back(
          overrideAttention(std::move(layers), "num_heads", number));
    }
  }
  if (std::optional<Json> more = made.member(hole, "more")) {
    for (Json &item : more->items) {
      overrides.items.push_back(std::move(item));
    }
  }
  return overrides;
}

/// The widths of both sides together that the hole's key has, by layer: an even
/// number, or a list of one for each layer. Empty after a fault.
static std::vector<Json> widthsByLayer(Instantiator &made, const Json &hole) {
  const std::string &key = hole.find("key")->text;
  Config &config = made.config;
  int64_t layers = countLayers(made, hole);
  const Json *given = config.value(key);
  Json one = given ? *given : *hole.find("default");
  std::vector<Json> widths =
      one.isArray() ? one.items : std::vector<Json>(size_t(layers), one);
  if (int64_t(widths.size()) != layers) {
    config.fault(key, "expected a number, or a list with one for each of the " +
                          std::to_string(layers) + " layers, got " +
                          std::to_string(widths.size()));
    return {};
  }
  for (const Json &width : widths) {
    if (!width.isInteger() || width.integer < 1 || width.integer % 2 != 0 ||
        width.integer > spec::maxRows) {
      config.faultAt(width, "expected an even number above 0 (half of it is to "
                            "each side), got " +
                                spec::describe(width));
      return {};
    }
  }
  return widths;
}

std::optional<Json> family::layerWindowsRule(Instantiator &made,
                                             const Json &hole) {
  std::map<int64_t, std::vector<Json>> layersOf;
  int64_t layer = 0;
  for (const Json &width : widthsByLayer(made, hole)) {
    layersOf[width.integer / 2].emplace_back(layer++);
  }
  Json overrides = Json::array();
  for (auto &[side, layers] : layersOf) {
    overrides.items.push_back(
        overrideAttention(std::move(layers), "window",
                          makeObject({{"left", side}, {"right", side}})));
  }
  return overrides;
}
