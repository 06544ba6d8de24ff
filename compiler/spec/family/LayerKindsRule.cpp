// Which layers have an attention where others keep a state, and how wide LFM2's
// are.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/family/Rules.h"

#include <algorithm>
#include <cmath>

using namespace tfc;
using namespace tfc::family;
using spec::Json;

/// A word or a list of words that mean the same.
static std::vector<std::string> wordsOf(const Json &words) {
  std::vector<std::string> all;
  for (const Json &word :
       words.isArray() ? words.items : std::vector<Json>{words}) {
    all.push_back(word.text);
  }
  return all;
}

static bool isOneOf(const Json &type, const std::vector<std::string> &words) {
  return type.isString() &&
         std::find(words.begin(), words.end(), type.text) != words.end();
}

/// All words in one order: of a table with several kinds each says the same of
/// a word that is none.
static std::string listAll(std::vector<std::string> words,
                           const std::vector<std::string> &more) {
  words.insert(words.end(), more.begin(), more.end());
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::string text = spec::inQuotes(words.front());
  for (size_t i = 1; i < words.size(); ++i) {
    text += (i + 1 < words.size() ? ", " : " or ") + spec::inQuotes(words[i]);
  }
  return text;
}

/// The key that says of what type each layer is: the first of `alias` that is
/// there, or "layer_types".
static std::string keyOfTypes(Config &config, const Json &hole) {
  if (const Json *alias = hole.find("alias")) {
    for (const std::string &key : wordsOf(*alias)) {
      if (config.value(key) && !config.isNull(key)) {
        return key;
      }
    }
  }
  return "layer_types";
}

/// Of so many layers the types that a table lists, or the first ones and, by
/// number, those that come in turns.
static Json listDefaults(const Json &byDefault, int64_t layers) {
  if (byDefault.isArray()) {
    return byDefault;
  }
  const std::vector<Json> &first = byDefault.find("first")->items;
  const std::vector<Json> &turns = byDefault.find("turns")->items;
  Json types = Json::array();
  for (size_t layer = 0; layer < size_t(layers); ++layer) {
    types.items.push_back(layer < first.size() ? first[layer]
                                               : turns[layer % turns.size()]);
  }
  return types;
}

/// Whether a key that the table names lists the layers that are not `kind`.
static bool hasList(Config &config, const Json &hole) {
  const Json *list = hole.find("list");
  return list && config.value(list->text) && !config.isNull(list->text);
}

/// The types that it has, or by default; a text has a letter for each layer.
/// Null where neither says anything.
static std::optional<Json> findTypes(Config &config, const Json &hole,
                                     const std::string &key, int64_t layers) {
  const Json *types = config.value(key);
  if (!types || config.isNull(key)) {
    const Json *byDefault = hole.find("default");
    if (hasList(config, hole)) {
      return std::nullopt;
    }
    return byDefault ? std::optional(listDefaults(*byDefault, layers))
                     : std::nullopt;
  }
  if (!types->isString()) {
    return *types;
  }
  Json letters = Json::array();
  for (char letter : types->text) {
    letters.items.push_back(Json(std::string(1, letter)));
    letters.items.back().place = types->place;
  }
  return letters;
}

/// By layer, whether its type is `kind`; the others are `other`. Empty after a
/// fault.
static std::vector<bool> readTypes(Config &config, const std::string &key,
                                   const Json &types, int64_t layers,
                                   const std::vector<std::string> &kind,
                                   const std::vector<std::string> &other) {
  std::vector<bool> isKind;
  if (!types.isArray() || int64_t(types.items.size()) != layers) {
    config.fault(key, "expected a list with a type for each of the " +
                          std::to_string(layers) + " layers, got " +
                          (types.isArray() ? std::to_string(types.items.size())
                                           : spec::describe(types)));
    return {};
  }
  for (const Json &type : types.items) {
    if (!isOneOf(type, kind) && !isOneOf(type, other)) {
      config.faultAt(type, "expected " + listAll(kind, other) + ", got " +
                               spec::describe(type));
    }
    isKind.push_back(isOneOf(type, kind));
  }
  return isKind;
}

/// The layers that the list at `key` names, of which the first is `first`;
/// those that there are.
static std::vector<int64_t> readLayers(Config &config, const std::string &key,
                                       int64_t first, int64_t layers) {
  const Json *list = config.value(key);
  bool isGood = list && list->isArray();
  std::vector<int64_t> named;
  for (const Json &item : isGood ? list->items : std::vector<Json>()) {
    isGood = isGood && item.isInteger();
    if (isGood && item.integer >= first && item.integer - first < layers) {
      named.push_back(item.integer - first);
    }
  }
  if (!isGood) {
    config.fault(key, "expected a list of layers, got another value");
  }
  return named;
}

/// Whether each layer is none of those that the key `list` of the table names;
/// what `rest` names must be the others.
static std::vector<bool> readList(Instantiator &made, const Json &hole,
                                  int64_t layers) {
  std::vector<bool> isKind(size_t(layers), true);
  const std::string &list = hole.find("list")->text;
  int64_t first = made.integer(hole, "from", 0, 0, 1);
  for (int64_t layer : readLayers(made.config, list, first, layers)) {
    isKind[size_t(layer)] = false;
  }
  if (const Json *rest = hole.find("rest")) {
    std::vector<bool> isNamed(size_t(layers), false);
    for (int64_t layer : readLayers(made.config, rest->text, first, layers)) {
      isNamed[size_t(layer)] = true;
    }
    if (isNamed != isKind) {
      made.config.fault(rest->text, "expected the layers that " +
                                        spec::inQuotes(list) +
                                        " does not list, got others");
    }
  }
  return isKind;
}

/// The same where no types are given: all but the last of each `every` (with
/// `last` also of fewer layers), or number `at` of them, or those that `list`
/// does not name; without a list none, or with `all` all.
static std::vector<bool> makeTypes(Instantiator &made, const Json &hole,
                                   int64_t layers) {
  if (hole.find("every")) {
    std::vector<bool> isKind(size_t(layers), false);
    int64_t every = made.integer(hole, "every", 1, 1, spec::maxRows);
    int64_t at = made.integer(hole, "at", every - 1, 0, every - 1);
    for (int64_t layer = 0; layer < layers; ++layer) {
      isKind[size_t(layer)] = layer % every != at;
    }
    if (hole.find("last") && layers > 0 && layers < every) {
      isKind.back() = false;
    }
    return isKind;
  }
  if (hasList(made.config, hole)) {
    return readList(made, hole, layers);
  }
  const Json *all = hole.find("all");
  return std::vector<bool>(size_t(layers), all && all->boolean);
}

/// A config that has types and a list, as transformers writes both, says the
/// same twice.
static void checkList(Instantiator &made, const Json &hole,
                      const std::string &key, const std::vector<bool> &isKind) {
  if (!isKind.empty() && hasList(made.config, hole) &&
      readList(made, hole, int64_t(isKind.size())) != isKind) {
    made.config.fault(hole.find("list")->text, "expected the layers that " +
                                                   spec::inQuotes(key) +
                                                   " says, got others");
  }
}

std::optional<Json> family::layerKindsRule(Instantiator &made,
                                           const Json &hole) {
  int64_t layers = made.integer(hole, "layers", 0, 0, spec::maxLayers);
  std::vector<std::string> kind = wordsOf(*hole.find("kind"));
  std::vector<std::string> other = wordsOf(*hole.find("other"));
  std::string key = keyOfTypes(made.config, hole);
  std::optional<Json> types = findTypes(made.config, hole, key, layers);
  std::vector<bool> isKind =
      types ? readTypes(made.config, key, *types, layers, kind, other)
            : makeTypes(made, hole, layers);
  if (types) {
    checkList(made, hole, key, isKind);
  }
  bool wanted = !hole.find("of") || isOneOf(*hole.find("of"), kind);
  Json selected = Json::array();
  for (size_t layer = 0; layer < isKind.size(); ++layer) {
    if (isKind[layer] == wanted) {
      selected.items.push_back(int64_t(layer));
    }
  }
  bool isAny = !selected.items.empty();
  if (hole.find("then")) {
    return isAny ? made.member(hole, "then") : std::nullopt;
  }
  Json overrides = Json::array();
  if (isAny) {
    Json item = Json::object();
    item.set("layers", std::move(selected));
    item.set("set", made.member(hole, "set").value_or(Json::object()));
    overrides.items.push_back(std::move(item));
  }
  if (std::optional<Json> more = made.member(hole, "more")) {
    for (Json &each : more->items) {
      overrides.items.push_back(std::move(each));
    }
  }
  return overrides;
}

std::optional<Json> family::layerCountRule(Instantiator &made,
                                           const Json &hole) {
  std::string key = keyOfTypes(made.config, hole);
  std::optional<Json> types = findTypes(made.config, hole, key, /*layers=*/0);
  size_t count = types && types->isArray() ? types->items.size() : 0;
  if (count == 0 || count > size_t(spec::maxLayers)) {
    made.config.fault(key,
                      "expected the types of 1 to " +
                          std::to_string(spec::maxLayers) + " layers, got " +
                          (types && !types->isArray() ? spec::describe(*types)
                                                      : std::to_string(count)));
    count = 1;
  }
  Json value = int64_t(count);
  value.place = made.config.placeOf(key);
  return value;
}

std::optional<Json> family::adjustedWidthRule(Instantiator &made,
                                              const Json &hole) {
  Config &config = made.config;
  const char *key =
      config.value("block_ff_dim") ? "block_ff_dim" : "intermediate_size";
  int64_t width =
      config.integer(key, hole.find("default")->integer, 1, spec::maxWidth);
  if (config.boolean("block_auto_adjust_ff_dim", true)) {
    width = 2 * width / 3;
    const Json *factor = config.value("block_ffn_dim_multiplier");
    bool isNumber = factor && factor->isNumber();
    bool isGood = !factor || config.isNull("block_ffn_dim_multiplier") ||
                  (isNumber && factor->real > 0 && factor->real <= 1e3);
    if (!isGood) {
      config.fault("block_ffn_dim_multiplier",
                   "expected a number above 0, at most 1000, got " +
                       spec::describe(*factor));
    } else if (!factor || isNumber) {
      int64_t multiple =
          config.integer("block_multiple_of", 256, 1, spec::maxWidth);
      width = int64_t(std::floor((factor ? factor->real : 1) * double(width)));
      width = (width + multiple - 1) / multiple * multiple;
    }
  }
  Json value = std::clamp<int64_t>(width, 1, spec::maxRows);
  value.place = config.placeOf(key);
  return value;
}
