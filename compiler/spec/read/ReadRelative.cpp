// The table of distances of a stack, and the terms that attentions make of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/SpecReader.h"

#include <cmath>

namespace tfc::spec {

void SpecReader::readRelativeTable(const Json *json) {
  if (!json || !json->isObject()) {
    return;
  }
  RelativeTable table;
  table.span = sizeOf(*json, "span").value_or(0);
  table.maxDistance = sizeOf(*json, "max_distance");
  table.norm = readNorm(json->find("norm"));
  table.sinusoid = wordOf(*json, "kind", "table") == "sinusoid";
  table.perLayer = flagOf(*json, "per_layer", false);
  table.ofHidden = table.sinusoid && wordOf(*json, "width", "head") == "hidden";
  const Json *width = json->find("width");
  if (width && !table.sinusoid) {
    error(width->place, BadBias,
          "expected no \"width\" (it is of a sinusoid), got " +
              describe(*width));
  }
  if (table.ofHidden && model.hidden % 2 != 0) {
    error(width->place, BadBias,
          "expected \"head\" (a sinusoid has an even width, hidden is " +
              std::to_string(model.hidden) + "), got \"hidden\"");
  }
  if (stack->name != "encoder" && !table.ofHidden) {
    error(json->place, Unsupported,
          "expected \"none\" or a sinusoid as wide as hidden (other tables of "
          "distances in a decoder are not supported by this tfc), got another "
          "one");
    return;
  }
  for (const char *key : {"max_distance", "norm"}) {
    const Json *given = json->find(key);
    if (given && table.isOdd() && !given->isString("none")) {
      error(given->place, Unsupported,
            std::string("expected no \"") + key + "\" (of " +
                (table.ofHidden ? "a sinusoid" : "tables as wide as a head") +
                " it is not supported by this tfc), got " + describe(*given));
      table.maxDistance.reset(); // what follows from it is no other fault
    }
  }
  if (table.sinusoid && table.perLayer) {
    error(json->find("per_layer")->place, BadBias,
          "expected false (a sinusoid is the same in all layers), got true");
  }
  // The logarithms are of what is farther than half of the span.
  bool isHalved = table.span >= 4 && table.span % 2 == 0;
  if (table.maxDistance && table.span > 0 &&
      (!isHalved || *table.maxDistance - 1 <= table.span / 2)) {
    error(json->find("max_distance")->place, BadBias,
          !isHalved
              ? "expected no \"max_distance\" (the nearer half of the span has "
                "a row a distance: it is even and at least 4), got " +
                    std::to_string(*table.maxDistance)
              : "expected more than " + std::to_string(table.span / 2 + 1) +
                    " (nearer distances have a row each), got " +
                    std::to_string(*table.maxDistance));
  }
  if (table.span > 0) {
    stack->relative = table;
  }
}

void SpecReader::readRelativeTerms(const Json &attn, Attention &attention) {
  const Json *json = attn.find("relative");
  if (!json || !json->isObject()) {
    return;
  }
  using Use = RelativeTerms::Use;
  auto useOf = [&](const char *key) {
    std::string word = wordOf(*json, key, "none");
    return word == "own"        ? Use::Own
           : word == "shared"   ? Use::Shared
           : word == "identity" ? Use::Identity
                                : Use::None;
  };
  RelativeTerms terms;
  terms.keys = useOf("keys");
  terms.queries = useOf("queries");
  const Json *bias = json->find("bias");
  bool all = bias && bias->isBoolean() && bias->boolean;
  auto biasOf = [&](const char *key, Use use) {
    bool own = bias && flagOf(*bias, key, all);
    if (own && use != Use::Own && bias->isObject()) {
      error(bias->find(key)->place, BadBias,
            std::string("expected false (\"") + key +
                "\" has no projection of its own), got true");
    }
    return own && use == Use::Own;
  };
  terms.keysBias = biasOf("keys", terms.keys);
  terms.queriesBias = biasOf("queries", terms.queries);
  terms.values = flagOf(*json, "values", false);
  attention.queryBias = flagOf(*json, "query_bias", false);
  attention.segments = flagOf(*json, "segments", false);
  if (attention.queryBias && terms.keys == Use::None) {
    error(json->find("query_bias")->place, BadBias,
          "expected false (there are no \"keys\" whose products have one), got "
          "true");
  }
  if (attention.segments && stack->name != "encoder") {
    error(json->find("segments")->place, Unsupported,
          "expected false (types of tokens of earlier steps are not supported "
          "by this tfc), got true");
  }
  if (terms.keys == Use::None && terms.queries == Use::None && !terms.values) {
    error(json->place, BadBias,
          "expected \"keys\", \"queries\" or \"values\" (without a term there "
          "is nothing to add; \"none\" says that), got none of them");
    attention.relative = terms; // it has its diagnostic
    return;
  }
  if (attention.numKvHeads != attention.numHeads && attention.numKvHeads > 0) {
    error(json->place, Unsupported,
          "expected \"none\" (relative terms of heads that share keys are not "
          "supported by this tfc), got an object");
  }
  if (!stack->relative) {
    error(json->place, BadBias,
          "expected a table of distances in the stack's \"relative\" (the "
          "terms are of it), got none");
    return;
  }
  checkUses(*json, terms, attention);
  attention.relative = terms;
  readZeroMemory(*json, attention);
}

/// Of queries that see as far back at the beginning as anywhere else.
void SpecReader::readZeroMemory(const Json &json, Attention &attention) {
  attention.zeroMemory = flagOf(json, "zero_memory", false);
  if (!attention.zeroMemory) {
    return;
  }
  auto expectFalse = [&](const std::string &why) {
    error(json.find("zero_memory")->place, BadBias,
          "expected false (" + why + "), got true");
    attention.zeroMemory = false; // what follows from it is no other fault
  };
  if (!stack->relative->ofHidden ||
      attention.relative->keys != RelativeTerms::Use::Own) {
    expectFalse("there are no \"keys\" of their own of a sinusoid as wide as "
                "hidden, which is all that the memory's scores are of");
  } else if (!attention.window) {
    expectFalse("there is no \"window\", whose beginning the memory is");
  } else if (attention.sinks || attention.cap || attention.logBase ||
             attention.scaleByInverseLayer || !attention.slopes.empty() ||
             attention.relative->keysBias || attention.kBias ||
             attention.vBias || attention.positionBias || attention.rotary ||
             attention.qkNorm ||
             attention.scale != 1 / std::sqrt(double(attention.headDim))) {
    expectFalse("scores or keys of zeros are not zeros, or have other terms "
                "beside those of \"relative\"");
  }
}

/// Rows as wide as a head are terms themselves, of all heads; others are
/// projected.
void SpecReader::checkUses(const Json &json, const RelativeTerms &terms,
                           const Attention &attention) {
  using Use = RelativeTerms::Use;
  bool isOfHeads = stack->relative->isOfHeads();
  for (auto [key, use] :
       {std::pair("keys", terms.keys), std::pair("queries", terms.queries)}) {
    if (use != Use::None && (use == Use::Identity) != isOfHeads) {
      error(json.find(key)->place, BadBias,
            isOfHeads ? "expected \"identity\" or \"none\" (the stack's table "
                        "is as wide as a head), got " +
                            describe(*json.find(key))
                      : "expected \"own\", \"shared\" or \"none\" (the "
                        "stack's table is as wide as hidden), got "
                        "\"identity\"");
    }
  }
  if (terms.values && !isOfHeads) {
    error(json.find("values")->place, Unsupported,
          "expected false (terms of values are supported by this tfc where the "
          "stack's table is as wide as a head), got true");
  }
  if (stack->relative->sinusoid && isOfHeads && attention.headDim % 2 != 0) {
    error(json.place, BadBias,
          "expected \"none\" (a sinusoid has an even width, head_dim is " +
              std::to_string(attention.headDim) + "), got an object");
  }
}

/// A table that nothing reads would be a parameter without a use.
void SpecReader::checkRelative(const Json &json) {
  if (!stack->relative || stack->layers == 0) {
    return;
  }
  for (const LayerRun &run : stack->runs) {
    for (const Sublayer &sublayer : run.sublayers) {
      const Attention *attn = sublayer.attention();
      if (attn && attn->relative) {
        return;
      }
    }
  }
  error(json.find("relative")->place, BadBias,
        "expected an attention with \"relative\" terms of the table, got none");
}

} // namespace tfc::spec
