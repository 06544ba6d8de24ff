// A decoder whose tokens see those after them as well is an encoder to the
// spec, and an encoder whose tokens do not is a decoder.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/Family.h"

using namespace tfc;
using namespace tfc::huggingface;
using spec::Json;

static constexpr char kWhyCausal[] =
    "a language model generates causally; the class without its head runs";

bool huggingface::readCausal(Source &source, const Json &sides,
                             bool generates) {
  Config &config = source.config;
  if (!sides.find("is")) {
    if (generates) {
      config.expectBoolean("is_causal", true, kWhyCausal);
      return true;
    }
    return config.boolean("is_causal", !config.isNull("is_causal"));
  }
  const std::string &key = sides.find("key")->text;
  const Json &causal = *sides.find("is");
  const Json *given = config.value(key);
  bool isCausal = given && *given == causal;
  if (generates && !isCausal) {
    config.fault(key, "expected " + spec::describe(causal) +
                          " (a language model generates causally), got " +
                          (given ? spec::describe(*given) : "nothing"));
  }
  return isCausal || generates;
}

bool huggingface::readBothSides(Source &source, const Json &sides,
                                bool generates) {
  const Json *key = sides.find("key");
  if (!key || sides.find("is")) {
    return false;
  }
  Config &config = source.config;
  if (generates) {
    config.expectBoolean(key->text, false, kWhyCausal);
    return false;
  }
  bool sees = !config.isNull(key->text) && config.boolean(key->text, false);
  if (sees) {
    config.expectBoolean("is_causal", true,
                         "\"" + key->text + "\" says what tokens see");
  }
  return sees;
}

/// "decoder.hidden" -> "encoder.hidden"; names of heads stay.
static void rename(std::string &name, std::string_view from,
                   std::string_view to) {
  bool ends = name.size() == from.size() ||
              (name.size() > from.size() && name[from.size()] == '.');
  if (name.compare(0, from.size(), from) == 0 && ends) {
    name.replace(0, from.size(), to);
  }
}

static void renameKeys(Json *object, std::string_view from,
                       std::string_view to) {
  for (spec::Member &member : object->members) {
    rename(member.key, from, to);
  }
}

void huggingface::setCausal(Json &spec, bool isCausal) {
  std::string to = isCausal ? "decoder" : "encoder";
  std::string from = spec.find("kind")->text;
  if (from == to) {
    return;
  }
  spec.set("kind", to);
  renameKeys(&spec, from, to);
  renameKeys(spec.find("weights")->find("map"), from, to);
  Json *block = spec.find(to)->find("layers")->find("block");
  block->find("attn")->set("causal", isCausal);
  for (spec::Member &head : spec.find("heads")->members) {
    rename(head.value.find("from")->text, from, to);
    for (Json &step : head.value.find("steps")->items) {
      if (Json *tied = step.find("tied")) {
        rename(tied->text, from, to);
      }
    }
  }
  for (spec::Member &output : spec.find("outputs")->members) {
    rename(output.value.text, from, to);
  }
}
