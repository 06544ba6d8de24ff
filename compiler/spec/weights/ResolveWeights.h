// The parameters of a model, and where in the weights each of them is stored.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_WEIGHTS_RESOLVEWEIGHTS_H
#define TFC_COMPILER_SPEC_WEIGHTS_RESOLVEWEIGHTS_H

#include "compiler/spec/JsonTree.h"
#include "compiler/spec/ModelSpec.h"

#include <unordered_map>

namespace tfc::spec {

/// A parameter before its source is known. `stem` is the name without its last
/// part; `common` is the stem without the layers of its run, which is what
/// most keys of weights.map say.
struct Slot {
  Parameter parameter;
  std::string stem, common, part; // part: "weight" or "bias"
  /// Layers of the stack whose layers have it; 0 outside of layers.
  int64_t stackLayers = 0;
  /// Of layers in groups that share their weights: which of a group's it is, of
  /// how many; of others 0 of 0.
  int64_t place = 0, places = 0;
  /// Of a vocabulary in pieces, or a step of several layers, which of them it
  /// is; its stem is `ofPieces` and the number. Else -1.
  int64_t piece = -1;
  std::string ofPieces;
  /// The parameter is stored at most as a copy of this one, for checking.
  std::string tiedTo;
};

/// All parameters of a model, in the order in which it uses them, sources
/// empty. A tied head has a slot too.
std::vector<Slot> listParameters(const ModelSpec &model);

/// Fills the model's parameters, prefixes, aliases and ignore from the spec's
/// "weights". Without weights.map a parameter is expected under tfc's own name.
/// Errors 50, 51, 52, 55, 58, 90.
void resolveWeights(const Json &root, ModelSpec &model,
                    Diagnostics &diagnostics);

// ---- Its parts -----------------------------------------------------------

/// Rows of the weight of a stem.
using RowsOf = std::unordered_map<std::string, int64_t>;

/// Whether an entry of weights.map has the form that its key asks for: a
/// tensor, a stem, or a packed stem.
bool checkSourceForm(const Member &member, Diagnostics &diagnostics);

/// Fills the slot's parameter from an entry of good form.
bool readSource(const Member &member, const RowsOf &rowsOf, Slot &slot,
                Diagnostics &diagnostics);

/// The key under which a packed tensor gives a stem: "attn.qkv" for "attn.q";
/// "" for stems that are never packed.
std::string packKey(const std::string &stem);

/// "a.b.c" -> "a.b" and "c".
std::pair<std::string, std::string> cutLast(const std::string &name);

/// A text, or the texts of a list.
std::vector<std::string> textsOf(const Json &value);

/// Whether a name matches a pattern in which * stands for anything.
bool matchesGlob(std::string_view name, std::string_view glob);

/// Marks the parameters that "precision.rules" keep wide. A rule that matches
/// none is error 4.
void applyRules(const Json &root, ModelSpec &model, Diagnostics &diagnostics);

/// Reports globs of "ignore" that match a tensor that a parameter is read
/// from. Later alternatives of a name may be ignored: they are copies.
void checkIgnore(const Json &ignore, const ModelSpec &model,
                 Diagnostics &diagnostics);

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_WEIGHTS_RESOLVEWEIGHTS_H
