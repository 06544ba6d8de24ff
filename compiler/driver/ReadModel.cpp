// What a command line names as a model: a spec, a Hugging Face folder, or a
// GGUF file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/ReadModel.h"

#include "compiler/driver/Compile.h"
#include "compiler/spec/SpecFiles.h"
#include "runtime/src/files/Safetensors.h"
#include "runtime/src/files/gguf/GgufFile.h"
#include "llvm/Support/FileSystem.h"

using namespace tfc;
namespace fs = llvm::sys::fs;

std::optional<huggingface::Imported>
tfc::importFolder(const std::string &directory, spec::Diagnostics &diagnostics,
                  llvm::raw_ostream &errors) {
  // The importer would list all that is missing.
  if (fs::is_directory(directory) && !fs::exists(directory + "/config.json") &&
      !rt::isGguf(directory)) {
    errors << "tfc: error: " << directory
           << ": expected a model's folder (config.json, safetensors files and "
              "a tokenizer), got one without config.json\n";
    return std::nullopt;
  }
  auto imported = huggingface::importDirectory(directory, {}, diagnostics);
  if (!imported) {
    report(diagnostics, errors);
  }
  return imported;
}

std::optional<spec::ModelSpec>
tfc::readModelOrReport(const std::string &path,
                       const spec::ReadOptions &options,
                       llvm::raw_ostream &errors) {
  if (!rt::isCheckpoint(path)) {
    return readSpecOrReport(path, options, errors);
  }
  spec::Diagnostics diagnostics;
  auto imported = importFolder(path, diagnostics, errors);
  if (!imported) {
    return std::nullopt;
  }
  auto model =
      spec::readSpecText(path, imported->spec, path, diagnostics, options);
  report(diagnostics, errors);
  return model;
}

std::vector<std::string> tfc::listModelFiles(const std::string &path) {
  return rt::isCheckpoint(path) ? huggingface::listInputs(path)
                                : spec::listFiles(path);
}
