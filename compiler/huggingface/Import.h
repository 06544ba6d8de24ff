// `tfc import` as a library: a Hugging Face directory becomes a model spec.
// Only the headers of the weights are needed, except where a tie must be known.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_HUGGINGFACE_IMPORT_H
#define TFC_COMPILER_HUGGINGFACE_IMPORT_H

#include "compiler/spec/JsonTree.h"

#include <optional>
#include <string>
#include <vector>

namespace tfc::huggingface {

struct ImportOptions {
  /// Unknown config keys and unclaimed tensors are errors, not warnings.
  bool strict = false;
  /// The class of transformers to read the directory as, in place of the first
  /// of `architectures`; empty: that.
  std::string className = {};
};

struct Imported {
  /// The spec, as JSON text: `extends` a preset, and what differs from it.
  /// It depends on the directory's content alone, not on its name.
  std::string spec;
  /// A page for the user: class, sizes, what the tensors hold. Ends with a
  /// newline.
  std::string summary;
  /// The same spec as a tree, in which values from config.json have their
  /// places in it, and the name of the family's table.
  spec::Json tree;
  std::string family;
  /// The model type of the whole model where this is the text model inside of
  /// one, or one of its encoders; else empty.
  std::string inside = "";
};

/// Reads config.json, generation_config.json, modules.json (a sentence encoder
/// gets the output "sentence_embedding" and no head of its own) and the
/// safetensors files of `directory`, or a GGUF file. The spec is read back and
/// every parameter's tensor, shape and dtype is checked as tfc-run does.
/// Nothing when a diagnostic is an error; all faults that can be seen are
/// reported at once, in order, beside warnings. Never throws for bad input.
std::optional<Imported> importDirectory(const std::string &directory,
                                        const ImportOptions &options,
                                        spec::Diagnostics &diagnostics);

/// The files of `directory` that importDirectory may read; none where it cannot
/// be listed.
std::vector<std::string> listInputs(const std::string &directory);

/// The model types and classes that tfc imports, and those that it refuses by
/// name, as Markdown.
std::string listFamilies();

} // namespace tfc::huggingface

#endif // TFC_COMPILER_HUGGINGFACE_IMPORT_H
