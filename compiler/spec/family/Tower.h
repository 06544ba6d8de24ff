// One of the encoders of a model that is several, as its class by itself: its
// configuration inside the other's, and the tables that it has.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_FAMILY_TOWER_H
#define TFC_COMPILER_SPEC_FAMILY_TOWER_H

#include "compiler/spec/family/FamilyTable.h"

namespace tfc::family {

struct Tower {
  /// As the tower by itself would have it, with the class that is asked for;
  /// values keep their places.
  spec::Json config;
  std::vector<Table> tables;
};

/// That of the model whose config.json is `json` that has the class which
/// `architectures` names. None where its model type is none of those with
/// towers, and after a diagnostic.
std::optional<Tower> findTower(const spec::Json &json,
                               spec::Diagnostics &diagnostics);

/// Model types that have some, and those of their towers.
std::map<std::string, std::vector<std::string>> listTowers();

} // namespace tfc::family

#endif // TFC_COMPILER_SPEC_FAMILY_TOWER_H
