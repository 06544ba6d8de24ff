// Takes the configuration of one encoder out of that of several.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/family/Tower.h"

using namespace tfc;
using namespace tfc::family;
using spec::Json;

namespace {

const char *const text =
#include "compiler/spec/Towers.inc"
    ;

/// By model type, the list of towers.
const Json &known() {
  static const Json towers = [] {
    spec::Diagnostics unused;
    return spec::parseJson("towers.json (of tfc)", text, unused)
        .value_or(Json::object());
  }();
  return towers;
}

/// The inner configuration, under the name of the class by itself.
Json configOf(const Json &outer, const Json &tower) {
  const Json *inner = outer.find(tower.find("config")->text);
  Json config = inner && inner->isObject() ? *inner : Json::object();
  if (!inner) {
    config.place = outer.place;
  }
  Json type = *outer.find("model_type");
  type.text = tower.find("type")->text;
  config.set("model_type", std::move(type));
  config.set("architectures", *outer.find("architectures"));
  return config;
}

/// Tensors of the other towers have no effect.
void ignoreOthers(Json &table, const Json &others) {
  Json *spec = table.find("spec");
  Json *weights = spec ? spec->find("weights") : nullptr;
  if (!weights) {
    return;
  }
  const Json *own = weights->find("ignore");
  Json all = own ? *own : Json::array();
  all.items.insert(all.items.end(), others.items.begin(), others.items.end());
  weights->set("ignore", std::move(all));
}

} // namespace

std::optional<Tower> family::findTower(const Json &json,
                                       spec::Diagnostics &diagnostics) {
  const Json *type = json.find("model_type");
  const Json *towers =
      type && type->isString() ? known().find(type->text) : nullptr;
  if (!towers) {
    return std::nullopt;
  }
  const Json *classes = json.find("architectures");
  bool isNamed = classes && classes->isArray() && !classes->items.empty() &&
                 classes->items.front().isString();
  std::string names;
  for (const Json &each : towers->items) {
    std::vector<Table> tables = tablesOf(each.find("type")->text, diagnostics);
    for (Table &table : tables) {
      const Json &own = *table.root.find("classes");
      if (isNamed && own.find(classes->items.front().text)) {
        ignoreOthers(table.root, *each.find("others"));
        return Tower{configOf(json, each), {std::move(table)}};
      }
      for (const spec::Member &known : own.members) {
        names += (names.empty() ? "" : ", ") + known.key;
      }
    }
  }
  spec::report(diagnostics, classes ? classes->place : type->place, 0,
               "expected the class of one of its encoders (" + names +
                   "; tfc import --class names one), got " +
                   spec::describe(isNamed ? classes->items.front() : *type));
  return std::nullopt;
}

std::map<std::string, std::vector<std::string>> family::listTowers() {
  std::map<std::string, std::vector<std::string>> all;
  for (const spec::Member &model : known().members) {
    for (const Json &tower : model.value.items) {
      all[model.key].push_back(tower.find("type")->text);
    }
  }
  return all;
}
