// "precision.rules": matrices that are kept in other elements than the rest.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/SpecReader.h"
#include "compiler/spec/weights/ResolveWeights.h"

namespace tfc::spec {

void applyRules(const Json &root, ModelSpec &model, Diagnostics &diagnostics) {
  const Json *precision = root.find("precision");
  const Json *rules = precision ? precision->find("rules") : nullptr;
  for (const Json &rule : rules ? rules->items : std::vector<Json>()) {
    const Json &match = *rule.find("match");
    bool matches = false;
    for (Parameter &parameter : model.parameters) {
      if (parameter.rank == 2 &&
          matchesGlob(cutLast(parameter.name).first, match.text)) {
        matches = true;
        parameter.isKeptWide = true;
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
