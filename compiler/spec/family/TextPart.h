// The text model of a model that reads images or sound, too: its configuration
// inside the other's, and the tables that it has by itself.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_FAMILY_TEXTPART_H
#define TFC_COMPILER_SPEC_FAMILY_TEXTPART_H

#include "compiler/spec/family/FamilyTable.h"

namespace tfc::family {

struct TextPart {
  /// As the text model by itself would have it, with the other's class, token
  /// ids and tie; values keep their places.
  spec::Json config;
  std::string modelType;
  /// Those of the text model, whose classes are the other's.
  std::vector<Table> tables;
};

/// That of the model whose config.json is `json`. None where its model type is
/// none of those with a text part, and after a diagnostic.
std::optional<TextPart> textPart(const spec::Json &json,
                                 spec::Diagnostics &diagnostics);

/// Model types that have one, and those of their text models.
std::map<std::string, std::vector<std::string>> textParts();

} // namespace tfc::family

#endif // TFC_COMPILER_SPEC_FAMILY_TEXTPART_H
