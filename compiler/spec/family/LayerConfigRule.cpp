// What transformers' "per_layer_config" says of the layers of one type.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/family/Rules.h"

#include <algorithm>
#include <charconv>
#include <map>

using namespace tfc;
using namespace tfc::family;
using spec::Json;

/// The key, here and in the common ones.
static constexpr const char *kKey = "per_layer_config";

/// The layers that are of the type `of`: by layer_types, or the last of each
/// `every`. The last layer of all is one: transformers makes it so.
static std::vector<bool> readTypes(Instantiator &made, const Json &hole,
                                   int64_t layers) {
  const std::string &of = hole.find("of")->text;
  int64_t every = made.integer(hole, "every", 1, 1, spec::maxRows);
  const Json *types = made.config.value("layer_types");
  std::vector<bool> areOf;
  for (int64_t i = 0; i < layers; ++i) {
    bool isListed =
        types && types->isArray() && i < int64_t(types->items.size());
    areOf.push_back(isListed ? types->items[size_t(i)].isString(of)
                             : (i + 1) % every == 0 || i + 1 == layers);
  }
  if (types && !areOf.empty() && !areOf.back()) {
    made.config.fault("layer_types", "expected " + spec::inQuotes(of) +
                                         " for the last layer, got another");
  }
  return areOf;
}

namespace {

/// Reads the entries of the key, for one key of theirs.
class EntryReader {
public:
  EntryReader(Instantiator &made, const Json &hole)
      : config(made.config), key(hole.find("key")->text),
        known(hole.find("known")->items),
        usual(made.integer(hole, "usual", 1, 1, spec::maxWidth)),
        layers(made.integer(hole, "layers", 0, 0, spec::maxLayers)),
        areOf(readTypes(made, hole, layers)) {}

  std::optional<Json> read(const Json &entries) {
    if (!entries.isObject()) {
      fault(entries, "expected an object, got " + spec::describe(entries));
      return std::nullopt;
    }
    for (const spec::Member &member : entries.members) {
      readEntry(member);
    }
    return choose(entries);
  }

private:
  Config &config;
  std::string key;
  const std::vector<Json> &known;
  int64_t usual, layers;
  std::vector<bool> areOf;
  std::map<int64_t, int64_t> numbers; // by layer

  void fault(const Json &at, const std::string &message) {
    config.faultAt(at, message);
  }
  void readEntry(const spec::Member &member);
  std::optional<Json> choose(const Json &entries);
};

} // namespace

void EntryReader::readEntry(const spec::Member &member) {
  int64_t layer = -1;
  const char *end = member.key.data() + member.key.size();
  auto [stop, failed] = std::from_chars(member.key.data(), end, layer);
  if (failed != std::errc() || stop != end || layer < 0 || layer >= layers ||
      !member.value.isObject()) {
    fault(member.value, "expected an object for a layer below " +
                            std::to_string(layers) + ", got " +
                            spec::inQuotes(member.key));
    return;
  }
  for (const spec::Member &own : member.value.members) {
    if (std::none_of(known.begin(), known.end(), [&](const Json &word) {
          return word.isString(own.key);
        })) {
      fault(own.value, "expected no " + spec::inQuotes(own.key) +
                           " of a layer by itself (not supported by this "
                           "tfc), got " +
                           spec::describe(own.value));
    } else if (own.key == key) {
      bool isGood = own.value.isInteger() && own.value.integer >= 1 &&
                    own.value.integer <= spec::maxWidth;
      if (!isGood) {
        fault(own.value,
              "expected an integer above 0, got " + spec::describe(own.value));
      }
      numbers[layer] = isGood ? own.value.integer : usual;
    }
  }
}

/// The number that all layers of the type have; others have the usual one.
std::optional<Json> EntryReader::choose(const Json &entries) {
  std::optional<int64_t> chosen;
  for (int64_t layer = 0; layer < layers; ++layer) {
    auto entry = numbers.find(layer);
    int64_t number = entry == numbers.end() ? usual : entry->second;
    int64_t wanted = areOf[size_t(layer)] ? chosen.value_or(number) : usual;
    if (number != wanted) {
      fault(entries, "expected the same " + spec::inQuotes(key) +
                         " in all layers of a type, got " +
                         std::to_string(number) + " in layer " +
                         std::to_string(layer));
      return std::nullopt;
    }
    if (areOf[size_t(layer)]) {
      chosen = number;
    }
  }
  return Json(chosen.value_or(usual));
}

std::optional<Json> family::layerConfigRule(Instantiator &made,
                                            const Json &hole) {
  const Json *entries = made.config.value(kKey);
  if (!entries) {
    return made.member(hole, "else");
  }
  return EntryReader(made, hole).read(*entries);
}

std::optional<Json> family::lastLayersRule(Instantiator &made,
                                           const Json &hole) {
  int64_t layers = made.integer(hole, "layers", 0, 0, spec::maxLayers);
  int64_t count = made.integer(hole, "count", 0, 0, spec::maxLayers);
  Json selected = Json::array();
  for (int64_t i = std::max<int64_t>(layers - count, 0); i < layers; ++i) {
    selected.items.push_back(i);
  }
  if (selected.items.empty()) {
    return std::nullopt;
  }
  Json item = Json::object();
  item.set("layers", std::move(selected));
  item.set("set", made.member(hole, "set").value_or(Json::object()));
  return Json::array({std::move(item)});
}
