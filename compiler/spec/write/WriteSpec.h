// The canonical form of a spec: one text for all ways of saying a model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_WRITE_WRITESPEC_H
#define TFC_COMPILER_SPEC_WRITE_WRITESPEC_H

#include "compiler/spec/JsonTree.h"
#include "compiler/spec/ModelSpec.h"

namespace tfc::spec {

/// Parts of a spec that are kept for the runtime's defaults and for readers of
/// the canonical text, already in canonical form.
struct KeptParts {
  Json tokens = Json::object(), generation, precision;
};

/// The canonical text of a model whose weights are resolved: every default
/// filled, layers as runs of ordered sublayers, every parameter with its own
/// entry in weights.map. Reading it gives the same model and the same text.
std::string writeSpec(const ModelSpec &model, const KeptParts &kept);

// ---- Its parts -----------------------------------------------------------

/// An object from its members, in the given order.
Json objectOf(std::vector<std::pair<const char *, Json>> members);

Json writeStack(const Stack &stack);

/// A token table.
Json writeTable(int64_t rows, int64_t hidden);

const char *nameOf(Norm::Kind kind);
/// Cutoffs and div.
Json writePieces(const Pieces &pieces);

/// "none" without one.
Json writeNorm(const std::optional<Norm> &norm);

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_WRITE_WRITESPEC_H
