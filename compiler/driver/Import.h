// `tfc import` and `tfc spec`: specs from Hugging Face directories, and specs
// as text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_IMPORT_H
#define TFC_COMPILER_DRIVER_IMPORT_H

#include "compiler/huggingface/Import.h"

#include <string>

namespace tfc {

/// Where `tfc import` writes. What may be written over, also with `force`:
/// checkTextOutput.
struct ImportPlaces {
  std::string spec;
  std::string tokenizer; // a tokenizer.json; "": none
  bool force = false;
};

/// `tfc import DIR -o OUTPUT`: writes the spec, and the tokenizer where one is
/// asked for, prints a summary to standard error. Returns an ExitCode.
int runImport(const std::string &directory,
              const huggingface::ImportOptions &options,
              const ImportPlaces &places);

/// `tfc import --list`: writes what can be imported.
int runListFamilies(const std::string &output, bool force);

/// `tfc spec SPEC`: checks it; with `canonical`, writes its canonical form.
int runSpec(const std::string &path, bool canonical, const std::string &output,
            bool force);

/// `tfc spec --schema`: writes the JSON schema of specs.
int runSchema(const std::string &output, bool force);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_IMPORT_H
