// A decoder whose tokens see those after them as well: to the spec, an encoder.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/Family.h"

using namespace tfc;
using namespace tfc::huggingface;
using spec::Json;

bool huggingface::readCausal(Source &source, bool generates) {
  Config &config = source.config;
  if (generates) {
    config.expectBoolean("is_causal", true,
                         "a language model generates causally; the class "
                         "without its head runs");
    return true;
  }
  return config.boolean("is_causal", !config.isNull("is_causal"));
}

bool huggingface::readBothSides(Source &source, const Json *key,
                                bool generates) {
  if (!key) {
    return false;
  }
  Config &config = source.config;
  if (generates) {
    config.expectBoolean(key->text, false,
                         "a language model generates causally; the class "
                         "without its head runs");
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
static void rename(std::string &name) {
  constexpr std::string_view stack = "decoder";
  bool ends = name.size() == stack.size() ||
              (name.size() > stack.size() && name[stack.size()] == '.');
  if (name.compare(0, stack.size(), stack) == 0 && ends) {
    name.replace(0, stack.size(), "encoder");
  }
}

static void renameKeys(Json *object) {
  for (spec::Member &member : object->members) {
    rename(member.key);
  }
}

void huggingface::makeEncoder(Json &spec) {
  spec.set("kind", "encoder");
  renameKeys(&spec);
  renameKeys(spec.find("weights")->find("map"));
  Json *block = spec.find("encoder")->find("layers")->find("block");
  block->find("attn")->set("causal", false);
  for (spec::Member &head : spec.find("heads")->members) {
    rename(head.value.find("from")->text);
  }
  for (spec::Member &output : spec.find("outputs")->members) {
    rename(output.value.text);
  }
}
