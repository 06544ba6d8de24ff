// Takes a text model's configuration out of another.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/family/TextPart.h"

#include <algorithm>

using namespace tfc;
using namespace tfc::family;
using spec::Json;

namespace {

const char *const text =
#include "compiler/spec/TextParts.inc"
    ;

/// The list of model types, and the tensors and keys of the other parts.
const Json &known() {
  static const Json parts = [] {
    spec::Diagnostics unused;
    return spec::parseJson("text_parts.json (of tfc)", text, unused)
        .value_or(Json::object());
  }();
  return parts;
}

/// Keys of positions on a grid, which are alike for texts.
void removeGrids(Json &rotation) {
  rotation.remove("mrope_section");
  rotation.remove("mrope_interleaved");
  for (const char *key : {"rope_type", "type"}) {
    Json *type = rotation.find(key);
    if (type && type->isString("mrope")) {
      type->text = "default";
    }
  }
}

/// The text model's own keys, and what the other says in its place.
Json mergeConfig(const Json &outer, const Json &inner) {
  Json merged = inner;
  merged.remove("architectures");
  merged.remove("model_type");
  for (const char *key :
       {"architectures", "tie_word_embeddings", "bos_token_id", "eos_token_id",
        "pad_token_id", "quantization_config", "transformers_version"}) {
    const Json *own = outer.find(key);
    if (own && !own->isNull()) {
      merged.set(key, *own);
    }
  }
  for (const char *key : {"rope_parameters", "rope_scaling"}) {
    Json *rotation = merged.find(key);
    if (rotation && rotation->isObject()) {
      removeGrids(*rotation);
    }
  }
  return merged;
}

bool endsWith(const std::string &text, std::string_view end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.npos, end) == 0;
}

/// Gives the text model's class with a head over the vocabulary, or without
/// one, the other's name of it; others of its classes are none of the text's.
void renameClasses(Json &table, const std::string &className) {
  bool isBody = endsWith(className, "Model");
  bool generates = endsWith(className, "ForConditionalGeneration") ||
                   endsWith(className, "ForCausalLM");
  for (const spec::Member &each : table.find("classes")->members) {
    const Json *logits = each.value.find("logits");
    bool isMeant = (generates && logits && logits->isString("lm")) ||
                   (isBody && each.value.find("last_hidden_state"));
    if (isMeant) {
      Json classes = Json::object();
      classes.set(className, each.value);
      table.set("classes", std::move(classes));
      return;
    }
  }
}

/// Tensors of the other parts have no effect.
void ignoreOthers(Json &table) {
  Json *spec = table.find("spec");
  Json *weights = spec ? spec->find("weights") : nullptr;
  if (!weights) {
    return;
  }
  const Json *own = weights->find("ignore");
  Json all = own ? *own : Json::array();
  for (const Json &each : known().find("tensors")->items) {
    all.items.push_back(each);
  }
  weights->set("ignore", std::move(all));
}

} // namespace

std::optional<TextPart> family::textPart(const Json &json,
                                         spec::Diagnostics &diagnostics) {
  const Json *type = json.find("model_type");
  const Json *model = type && type->isString()
                          ? known().find("models")->find(type->text)
                          : nullptr;
  if (!model) {
    return std::nullopt;
  }
  const Json *inner = json.find("text_config");
  // Older configurations have the text model's keys beside the others.
  const Json &config = inner && inner->isObject() ? *inner : json;
  const std::vector<Json> &types = model->find("text")->items;
  const Json *named = inner ? config.find("model_type") : nullptr;
  std::string textType = types.front().text;
  if (named) {
    bool isKnown =
        std::any_of(types.begin(), types.end(),
                    [&](const Json &one) { return named->isString(one.text); });
    if (!isKnown) {
      std::string words;
      for (const Json &one : types) {
        words += (words.empty() ? "" : ", ") + one.text;
      }
      spec::report(diagnostics, named->place, 0,
                   "expected a text model that tfc runs (" + words + "), got " +
                       spec::describe(*named));
      return std::nullopt;
    }
    textType = named->text;
  }
  const Json *as = model->find("as");
  TextPart part;
  part.modelType = as ? as->text : textType;
  part.config = mergeConfig(json, config);
  const Json *set = model->find("set");
  for (const spec::Member &fixed :
       set ? set->members : std::vector<spec::Member>()) {
    Json value = fixed.value;
    value.place = type->place;
    part.config.set(fixed.key, std::move(value));
  }
  for (const Json &other : known().find("keys")->items) {
    part.config.remove(other.text);
  }
  Json typeOfText = *type;
  typeOfText.text = part.modelType;
  part.config.set("model_type", std::move(typeOfText));
  part.tables = tablesOf(part.modelType, diagnostics);
  const Json *classes = json.find("architectures");
  bool isNamed = classes && classes->isArray() && !classes->items.empty() &&
                 classes->items.front().isString();
  for (Table &table : part.tables) {
    if (isNamed) {
      renameClasses(table.root, classes->items.front().text);
    }
    ignoreOthers(table.root);
  }
  return part;
}

std::map<std::string, std::vector<std::string>> family::textParts() {
  std::map<std::string, std::vector<std::string>> all;
  for (const spec::Member &model : known().find("models")->members) {
    std::vector<std::string> &types = all[model.key];
    const Json *as = model.value.find("as");
    if (as) {
      types.push_back(as->text);
      continue;
    }
    for (const Json &each : model.value.find("text")->items) {
      types.push_back(each.text);
    }
  }
  return all;
}
