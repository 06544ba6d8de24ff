// `tfc import` and `tfc spec`.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/Import.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/OutputFile.h"
#include "compiler/driver/WriteText.h"
#include "compiler/huggingface/Import.h"
#include "compiler/spec/SpecFiles.h"
#include "compiler/spec/read/ReadSpec.h"
#include "runtime/text/WriteTokenizer.h"

using namespace tfc;

/// Where both may go, asked before the work.
static int checkOutputs(const std::string &directory,
                        const ImportPlaces &places) {
  if (places.spec == "-" && places.tokenizer == "-") {
    llvm::errs() << "tfc: error: expected a file for the spec or for the "
                    "tokenizer, got - (standard output) for both\n";
    return kBadCommandLine;
  }
  std::vector<std::string> inputs = huggingface::listInputs(directory);
  for (std::string &path : text::listTokenizerInputs(directory)) {
    inputs.push_back(std::move(path));
  }
  int code = checkTextOutput(places.spec, inputs, places.force, llvm::errs());
  return code || places.tokenizer.empty()
             ? code
             : checkTextOutput(places.tokenizer, inputs, places.force,
                               llvm::errs());
}

int tfc::runImport(const std::string &directory,
                   const huggingface::ImportOptions &options,
                   const ImportPlaces &places) {
  if (int code = checkOutputs(directory, places)) {
    return code;
  }
  spec::Diagnostics diagnostics;
  std::optional<huggingface::Imported> imported =
      huggingface::importDirectory(directory, options, diagnostics);
  report(diagnostics, llvm::errs());
  if (!imported) {
    return kBadInput;
  }
  std::string tokenizer;
  if (!places.tokenizer.empty()) {
    auto made = text::makeTokenizerText(directory);
    if (!made) {
      llvm::errs() << "tfc: error: " << made.error().message << '\n';
      return kBadInput;
    }
    tokenizer = std::move(*made);
  }
  int code = writeText(places.spec, imported->spec, llvm::errs());
  if (code == kOk && !places.tokenizer.empty()) {
    code = writeText(places.tokenizer, tokenizer, llvm::errs());
  }
  if (code == kOk) {
    llvm::errs() << imported->summary;
  }
  return code;
}

int tfc::runListFamilies(const std::string &output, bool force) {
  int code = checkTextOutput(output, {}, force, llvm::errs());
  return code ? code
              : writeText(output, huggingface::listFamilies(), llvm::errs());
}

int tfc::runSpec(const std::string &path, bool canonical,
                 const std::string &output, bool force) {
  std::optional<spec::ModelSpec> model =
      readSpecOrReport(path, {}, llvm::errs());
  if (!model) {
    return kBadInput;
  }
  if (!canonical) {
    return kOk;
  }
  int code =
      checkTextOutput(output, spec::listFiles(path), force, llvm::errs());
  return code ? code : writeText(output, model->canonical, llvm::errs());
}

int tfc::runSchema(const std::string &output, bool force) {
  int code = checkTextOutput(output, {}, force, llvm::errs());
  return code ? code : writeText(output, spec::printSchema(), llvm::errs());
}
