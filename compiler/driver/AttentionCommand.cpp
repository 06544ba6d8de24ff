// `tfc attention`: where a model looks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/AttentionCommand.h"

#include "compiler/driver/Options.h"
#include "compiler/driver/OutputFile.h"
#include "compiler/driver/ReadModel.h"
#include "compiler/frontend/BuildModel.h"
#include "compiler/pipeline/Registration.h"
#include "compiler/pipeline/Road.h"

using namespace mlir;
using namespace tfc;

int tfc::runAttention(const std::string &path, const AttentionFiles &files,
                      bool force) {
  std::optional<spec::ModelSpec> model =
      readModelOrReport(path, {}, llvm::errs());
  if (!model) {
    return kBadInput;
  }
  if (int code = checkOutput(files.outputs, {path, files.weights, files.inputs},
                             force, llvm::errs())) {
    return code;
  }
  MLIRContext context;
  prepareContext(context);
  OwningOpRef<ModuleOp> module = buildModel(*model, &context);
  if (!module) {
    return kInternalError;
  }
  return writeAttentions(*module, files, llvm::errs()) ? kOk : kBadInput;
}
