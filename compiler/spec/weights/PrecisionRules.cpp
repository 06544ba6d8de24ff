// "precision.rules": matrices that are kept in other elements than the rest.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/SpecReader.h"
#include "compiler/spec/weights/ResolveWeights.h"

namespace tfc::spec {

/// Heads decide between many near numbers, and are small beside the layers: of
/// int4 models they are int8.
static void keepHeads(ModelSpec &model) {
  for (Parameter &parameter : model.parameters) {
    parameter.isKeptByte |= model.storage == Storage::Int4 &&
                            parameter.rank == 2 &&
                            parameter.name.rfind("heads.", 0) == 0;
  }
}

void applyRules(const Json &root, ModelSpec &model, Diagnostics &diagnostics) {
  keepHeads(model);
  const Json *precision = root.find("precision");
  const Json *rules = precision ? precision->find("rules") : nullptr;
  for (const Json &rule : rules ? rules->items : std::vector<Json>()) {
    const Json &match = *rule.find("match");
    bool matches = false;
    for (Parameter &parameter : model.parameters) {
      if (parameter.rank == 2 &&
          matchesGlob(cutLast(parameter.name).first, match.text)) {
        matches = true;
        // The last rule that matches holds.
        const std::string &kept = rule.find("weights")->text;
        parameter.isKeptWide = kept == "bf16";
        parameter.isKeptByte = kept == "int8";
      }
    }
    if (!matches) {
      report(diagnostics, match.place, BadType,
             "expected the name of a matrix or a glob of some, as "
             "\"*.ffn.down\", got " +
                 describe(match));
    }
  }
}

} // namespace tfc::spec
