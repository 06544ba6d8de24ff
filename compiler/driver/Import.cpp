// `tfc import` and `tfc spec`.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/Import.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/WriteText.h"
#include "compiler/huggingface/Import.h"
#include "compiler/spec/ReadSpec.h"

using namespace tfc;

int tfc::runImport(const std::string &directory, bool strict,
                   const std::string &output) {
  spec::Diagnostics diagnostics;
  std::optional<huggingface::Imported> imported =
      huggingface::importDirectory(directory, {strict}, diagnostics);
  for (const spec::Diagnostic &diagnostic : diagnostics) {
    llvm::errs() << "tfc: "
                 << (diagnostic.severity == spec::Severity::Error ? "error: "
                                                                  : "")
                 << spec::formatDiagnostic(diagnostic) << '\n';
  }
  if (!imported) {
    return kBadInput;
  }
  int code = writeText(output, imported->spec, llvm::errs());
  if (code == kOk) {
    llvm::errs() << imported->summary;
  }
  return code;
}

int tfc::runSpec(const std::string &path, bool canonical,
                 const std::string &output) {
  std::optional<spec::ModelSpec> model =
      readSpecOrReport(path, "", llvm::errs());
  if (!model) {
    return kBadInput;
  }
  return canonical ? writeText(output, model->canonical, llvm::errs()) : kOk;
}

int tfc::runSchema(const std::string &output) {
  return writeText(output, spec::printSchema(), llvm::errs());
}
