// `tfc import` and `tfc spec`.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/Import.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/OutputFile.h"
#include "compiler/driver/WriteText.h"
#include "compiler/huggingface/Import.h"
#include "compiler/spec/ReadSpec.h"
#include "compiler/spec/SpecFiles.h"

using namespace tfc;

int tfc::runImport(const std::string &directory, bool strict,
                   const std::string &output, bool force) {
  if (int code = checkTextOutput(output, huggingface::listInputs(directory),
                                 force, llvm::errs())) {
    return code;
  }
  spec::Diagnostics diagnostics;
  std::optional<huggingface::Imported> imported =
      huggingface::importDirectory(directory, {strict}, diagnostics);
  report(diagnostics, llvm::errs());
  if (!imported) {
    return kBadInput;
  }
  int code = writeText(output, imported->spec, llvm::errs());
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
