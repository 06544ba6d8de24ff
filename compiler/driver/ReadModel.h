// What a command line names as a model: a spec, a Hugging Face folder, or a
// GGUF file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_READMODEL_H
#define TFC_COMPILER_DRIVER_READMODEL_H

#include "compiler/huggingface/Import.h"
#include "compiler/spec/read/ReadSpec.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace tfc {

/// Imports a folder, without printing anything of it but errors; what else is
/// to be said goes to `diagnostics`. Nothing when there is an error, of which
/// a folder without a config.json is one line.
std::optional<huggingface::Imported>
importFolder(const std::string &directory, spec::Diagnostics &diagnostics,
             llvm::raw_ostream &errors);

/// Reads a spec, or of a folder or a GGUF file the spec that `tfc import`
/// makes, and reports its diagnostics. Nothing when there is an error.
std::optional<spec::ModelSpec>
readModelOrReport(const std::string &path, const spec::ReadOptions &options,
                  llvm::raw_ostream &errors);

/// The files that it may read.
std::vector<std::string> listModelFiles(const std::string &path);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_READMODEL_H
