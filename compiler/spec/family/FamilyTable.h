// The tables of families: what a model type's config.json and tensors mean, as
// a spec with holes. docs/family-tables.md describes the format.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_FAMILY_FAMILYTABLE_H
#define TFC_COMPILER_SPEC_FAMILY_FAMILYTABLE_H

#include "compiler/spec/JsonTree.h"

#include <map>
#include <set>

namespace tfc::family {

/// A table that is part of tfc, "extends" merged in and $def replaced. Its
/// places are lines of the table itself.
struct Table {
  std::string name;
  spec::Json root;
};

/// Adds a table to those that are built in, for a program that links tfc
/// (docs/extending.md), before anything is read and not from several threads.
/// It is code as those are: what is wrong with it is reported where it is used,
/// or is a fault of the program. Returns false where the name is taken, or
/// `text` is no object with "family": 1 and "model_type", "spec", "heads" and
/// "classes", its own or, of the middle two, those of the table it extends.
bool addTable(const std::string &name, const std::string &text);

/// Names of all tables, those that are built in in alphabetical order.
std::vector<std::string> tableNames();

/// Nothing when there is no table of this name, or with a diagnostic when it
/// is wrong, which a test rules out.
std::optional<Table> loadTable(std::string_view name,
                               spec::Diagnostics &diagnostics);

/// The tables of a model type: one, or one for each kind of its classes.
std::vector<Table> tablesOf(std::string_view modelType,
                            spec::Diagnostics &diagnostics);

/// config.json with the members of the objects that its model type's tables
/// have `inside` in their place: "attn_config.clip_qkv". Keys of all model
/// types are left out there.
spec::Json openInside(spec::Json config, spec::Diagnostics &diagnostics);

/// All model types that some table has, in alphabetical order.
std::vector<std::string> modelTypes(spec::Diagnostics &diagnostics);

/// The model types that tfc knows by name and does not import, and why.
std::map<std::string, std::string> refusedTypes(spec::Diagnostics &diagnostics);

/// The keys of config.json that a table decides about, whichever branch of it
/// an import takes.
std::set<std::string> keysOf(const Table &table);

/// The spec that a table makes of a config.json without any key (or with those
/// that it has as "preset", where the class's own defaults are of a kind that
/// tfc does not run): no heads and no outputs. Places have the file of `origin`
/// and pointers into the spec. Nothing when there is no such table.
std::optional<spec::Json> makePreset(std::string_view name,
                                     const spec::Place &origin,
                                     spec::Diagnostics &diagnostics);

} // namespace tfc::family

#endif // TFC_COMPILER_SPEC_FAMILY_FAMILYTABLE_H
