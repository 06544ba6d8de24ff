// The JSON spec of a model -> ModelSpec: the entry of the spec library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_READ_READSPEC_H
#define TFC_COMPILER_SPEC_READ_READSPEC_H

#include "compiler/spec/JsonTree.h"
#include "compiler/spec/ModelSpec.h"

#include <optional>
#include <string>
#include <string_view>

namespace tfc::spec {

struct ReadOptions {
  /// Replaces precision.weights and precision.compute of the spec, as --dtype
  /// does, and lets stored weights be rounded to it; "" leaves the spec's own.
  std::string dtype;
  /// Replaces precision.cache, as --cache does.
  std::string cache;
  /// Adds an output of all hidden states of each stack, as --hidden-states
  /// does.
  bool hiddenStates = false;
  /// Of dtype int8 and int4, columns that have a scale, as --group does; 0
  /// leaves the spec's own, or all of a row, or of int4 32.
  int64_t group = 0;
};

/// Reads a spec from a file: extends, $def and overrides resolved, every value
/// checked, every default filled, every parameter given its place in the
/// weights, the canonical text written. Nothing when there is an error;
/// `diagnostics` then has all of them in order of place, and may have warnings
/// in both cases. Never throws and never aborts, whatever the file says.
std::optional<ModelSpec> readSpec(const std::string &path,
                                  Diagnostics &diagnostics,
                                  const ReadOptions &options = {});

/// The same from a text. `name` stands for the file in diagnostics, relative
/// paths in `extends` start at `baseDir` and lead to places in it or below.
std::optional<ModelSpec> readSpecText(const std::string &name,
                                      std::string_view text,
                                      const std::string &baseDir,
                                      Diagnostics &diagnostics,
                                      const ReadOptions &options = {});

/// The same from a tree without `extends`, whose values have the places that
/// diagnostics name.
std::optional<ModelSpec> readSpecTree(const Json &spec,
                                      Diagnostics &diagnostics);

/// The JSON schema (draft 2020-12) of a spec in which extends, $def and
/// overrides have been applied; ends with a newline.
std::string printSchema();

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_READ_READSPEC_H
