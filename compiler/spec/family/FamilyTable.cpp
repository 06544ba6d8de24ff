// Finds the tables that are built in, and merges what they extend.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/family/FamilyTable.h"

#include "compiler/spec/family/Config.h"
#include "compiler/spec/family/Instantiate.h"
#include "compiler/spec/family/Rules.h"
#include "compiler/spec/read/ExpandSpec.h"

#include <algorithm>
#include <iterator>
#include <list>

using namespace tfc;
using namespace tfc::family;
using spec::Json;

namespace {

struct Text {
  const char *name, *text;
};
const Text builtIn[] = {
#include "compiler/spec/FamilyTables.inc"
};

/// Those that are built in, and those that a program added.
std::vector<Text> &texts() {
  static std::vector<Text> all(std::begin(builtIn), std::end(builtIn));
  return all;
}

const char *const refused =
#include "compiler/spec/RefusedFamilies.inc"
    ;

constexpr int maxChain = 8;

/// A merge patch that replaces holes whole: the parts of one mean nothing in
/// another.
void patchTable(Json &target, const Json &patch) {
  if (!patch.isObject() || !target.isObject() || isHole(patch) ||
      isHole(target)) {
    target = patch;
    return;
  }
  for (const spec::Member &member : patch.members) {
    if (member.value.isNull()) {
      target.remove(member.key);
    } else if (Json *old = target.find(member.key)) {
      patchTable(*old, member.value);
    } else {
      target.members.push_back(member);
    }
  }
}

std::optional<Json> readMerged(std::string_view name, int depth,
                               spec::Diagnostics &diagnostics) {
  auto found =
      std::find_if(texts().begin(), texts().end(),
                   [&](const Text &each) { return each.name == name; });
  if (found == texts().end() || depth == maxChain) {
    return std::nullopt;
  }
  std::optional<Json> table = spec::parseJson(
      std::string(name) + ".json (of tfc)", found->text, diagnostics);
  const Json *extends = table ? table->find("extends") : nullptr;
  if (!extends) {
    return table;
  }
  std::optional<Json> base = readMerged(extends->text, depth + 1, diagnostics);
  if (!base) {
    spec::report(diagnostics, extends->place, 0,
                 "expected a table of tfc, got " + spec::describe(*extends));
    return std::nullopt;
  }
  // Model types, classes and what tells them apart are a table's own.
  for (const char *own :
       {"model_type", "classes", "refuse_classes", "guess", "preset"}) {
    base->remove(own);
  }
  patchTable(*base, *table);
  base->remove("extends");
  return base;
}

/// `inside`: "decoder." where keys are those of an object at this one.
void collectKeys(const Json &value, const std::string &inside,
                 std::set<std::string> &keys) {
  auto add = [&](const Json *names) {
    if (names && names->isString()) {
      keys.insert(inside + names->text);
    }
    for (const Json &item : names ? names->items : std::vector<Json>()) {
      keys.insert(inside + item.text);
    }
  };
  if (const Json *object = value.find("$inside")) {
    collectKeys(*value.find("value"), object->text + ".", keys);
    return;
  }
  add(value.find("$key"));
  if (const Json *name = value.find("$rule"); name && name->isString()) {
    add(value.find("key"));
    add(value.find("alias"));
    for (std::string_view key : keysOfRule(name->text)) {
      keys.insert(inside + std::string(key));
    }
  }
  for (const Json &item : value.items) {
    collectKeys(item, inside, keys);
  }
  for (const spec::Member &member : value.members) {
    collectKeys(member.value, inside, keys);
  }
}

/// Gives a tree the places that it would have as the text of a spec.
void placeAs(Json &value, const spec::Place &place) {
  value.place = place;
  for (size_t i = 0; i < value.items.size(); ++i) {
    placeAs(value.items[i], place.child(std::to_string(i)));
  }
  for (spec::Member &member : value.members) {
    member.keyPlace = place.child(member.key);
    placeAs(member.value, member.keyPlace);
  }
}

} // namespace

bool family::addTable(const std::string &name, const std::string &text) {
  static std::list<std::string> kept;
  spec::Diagnostics diagnostics;
  std::optional<Json> json = spec::parseJson(name, text, diagnostics);
  if (!json || !json->isObject() || loadTable(name, diagnostics)) {
    return false;
  }
  kept.push_back(name);
  kept.push_back(text);
  texts().push_back({std::prev(kept.end(), 2)->c_str(), kept.back().c_str()});
  std::optional<Table> table = loadTable(name, diagnostics);
  auto has = [&](const char *key, Json::Type type) {
    const Json *value = table ? table->root.find(key) : nullptr;
    return value && value->type == type;
  };
  bool isGood =
      has("family", Json::Type::Integer) &&
      table->root.find("family")->integer == 1 &&
      has("model_type", Json::Type::Array) && has("spec", Json::Type::Object) &&
      has("heads", Json::Type::Object) && has("classes", Json::Type::Object);
  if (!isGood) {
    texts().pop_back();
  }
  return isGood;
}

std::vector<std::string> family::tableNames() {
  std::vector<std::string> names;
  for (const Text &each : texts()) {
    names.push_back(each.name);
  }
  return names;
}

std::optional<Table> family::loadTable(std::string_view name,
                                       spec::Diagnostics &diagnostics) {
  std::optional<Json> merged = readMerged(name, 0, diagnostics);
  if (!merged) {
    return std::nullopt;
  }
  std::vector<std::string> unused;
  merged = spec::expandSpec(std::move(*merged), "", diagnostics, unused);
  return merged ? std::optional(Table{std::string(name), std::move(*merged)})
                : std::nullopt;
}

std::vector<Table> family::tablesOf(std::string_view modelType,
                                    spec::Diagnostics &diagnostics) {
  std::string quoted = "\"" + std::string(modelType) + "\"";
  std::vector<Table> tables;
  for (const Text &each : texts()) {
    // Most tables do not even have the word.
    if (std::string_view(each.text).find(quoted) == std::string_view::npos) {
      continue;
    }
    std::optional<Table> table = loadTable(each.name, diagnostics);
    const Json *types = table ? table->root.find("model_type") : nullptr;
    for (const Json &type : types ? types->items : std::vector<Json>()) {
      if (type.isString(modelType)) {
        tables.push_back(std::move(*table));
        break;
      }
    }
  }
  return tables;
}

/// Puts the members of the object at `key` in its place.
static void openObject(Json &config, const std::string &key,
                       spec::Diagnostics &diagnostics) {
  const Json *found = config.find(key);
  if (!found || found->isNull()) {
    config.remove(key);
    return;
  }
  Json object = *found;
  if (!object.isObject()) {
    spec::report(diagnostics, object.place, 4,
                 "expected an object, got " + spec::describe(object));
    return;
  }
  config.remove(key);
  for (spec::Member &member : object.members) {
    if (!isOfAll(member.key)) {
      member.key = key + "." + member.key;
      config.members.push_back(std::move(member));
    }
  }
}

Json family::openInside(Json config, spec::Diagnostics &diagnostics) {
  const Json *type = config.find("model_type");
  if (!type || !type->isString()) {
    return config;
  }
  // Faults of tables are found where they are read for good.
  spec::Diagnostics unused;
  std::vector<Table> tables = tablesOf(type->text, unused);
  const Json *inside =
      tables.empty() ? nullptr : tables.front().root.find("inside");
  for (const Json &key : inside ? inside->items : std::vector<Json>()) {
    openObject(config, key.text, diagnostics);
  }
  return config;
}

std::vector<std::string> family::modelTypes(spec::Diagnostics &diagnostics) {
  std::set<std::string> types;
  for (const Text &each : texts()) {
    std::optional<Json> table =
        spec::parseJson(each.name, each.text, diagnostics);
    const Json *own = table ? table->find("model_type") : nullptr;
    for (const Json &type : own ? own->items : std::vector<Json>()) {
      types.insert(type.text);
    }
  }
  return {types.begin(), types.end()};
}

std::map<std::string, std::string>
family::refusedTypes(spec::Diagnostics &diagnostics) {
  std::optional<Json> reasons =
      spec::parseJson("refused.json (of tfc)", refused, diagnostics);
  std::map<std::string, std::string> types;
  for (const spec::Member &member :
       reasons ? reasons->members : std::vector<spec::Member>()) {
    types[member.key] = member.value.text;
  }
  return types;
}

std::set<std::string> family::keysOf(const Table &table) {
  std::set<std::string> keys;
  collectKeys(table.root, "", keys);
  for (const char *list : {"expect", "refuse"}) {
    const Json *object = table.root.find(list);
    for (const spec::Member &member :
         object ? object->members : std::vector<spec::Member>()) {
      keys.insert(member.key);
    }
  }
  if (const Json *sides = table.root.find("both_sides")) {
    if (const Json *key = sides->find("key")) {
      keys.insert(key->text);
    }
    if (!sides->find("is")) {
      keys.insert("is_causal");
    }
  }
  const Json *ignored = table.root.find("ignore_keys");
  for (const Json &key : ignored ? ignored->items : std::vector<Json>()) {
    keys.insert(key.text);
  }
  return keys;
}

std::optional<Json> family::makePreset(std::string_view name,
                                       const spec::Place &origin,
                                       spec::Diagnostics &diagnostics) {
  std::optional<Table> table = loadTable(name, diagnostics);
  if (!table) {
    return std::nullopt;
  }
  const Json *assumed = table->root.find("preset");
  Json keys = assumed ? *assumed : Json::object();
  Config config(keys, diagnostics);
  Instantiator instantiator(table->root, keys, config, diagnostics);
  std::optional<Json> made = instantiator.make(*table->root.find("spec"));
  Json whole = Json::object();
  whole.set("tfc", 1);
  std::string title(name);
  std::replace(title.begin(), title.end(), '_', '-');
  whole.set("name", title);
  for (spec::Member &member : made->members) {
    whole.set(member.key, std::move(member.value));
  }
  spec::Place root = origin;
  while (root.path && root.path->parent) {
    root.path = root.path->parent;
  }
  placeAs(whole, root);
  return whole;
}
