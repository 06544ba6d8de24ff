// `tfc verify`: compiles a model with taps and compares every value.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/VerifyCommand.h"

#include "compiler/driver/Compile.h"
#include "compiler/frontend/BuildModel.h"
#include "compiler/pipeline/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"

using namespace mlir;
using namespace tfc;

/// The model as the interpreter takes it: stage `model`, with taps.
static OwningOpRef<ModuleOp> buildTapped(const spec::ModelSpec &model,
                                         MLIRContext &context) {
  prepareContext(context);
  OwningOpRef<ModuleOp> module = buildModel(model, &context);
  PassManager pm(&context);
  buildTaps(pm);
  if (!module || failed(pm.run(*module))) {
    return {};
  }
  return module;
}

int tfc::verifyModel(const spec::ModelSpec &model, CompileOptions compile,
                     const VerifyOptions &options, llvm::raw_ostream &out,
                     llvm::raw_ostream &errors) {
  llvm::SmallString<128> library;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("tfc-verify", "so", library)) {
    errors << "tfc: error: expected a writable folder for temporary files, "
              "got: "
           << code.message() << '\n';
    return kBadInput;
  }
  llvm::FileRemover remove(library);
  compile.taps = true;
  // Only one program runs here: others would be compiled for nothing.
  compile.target = compile.target.empty() ? "cpu" : compile.target;
  if (int code = compileModel(model, compile, library.str().str(), errors)) {
    return code;
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> tapped = buildTapped(model, context);
  if (!tapped) {
    return kInternalError;
  }
  return verifyLibrary(*tapped, library.str().str(), options, out, errors)
             ? kOk
             : kBadInput;
}

int tfc::runVerify(const std::string &path, const CompileOptions &compile,
                   const VerifyOptions &options) {
  std::optional<spec::ModelSpec> model =
      readSpecOrReport(path, compile.dtype, llvm::errs());
  return model
             ? verifyModel(*model, compile, options, llvm::outs(), llvm::errs())
             : kBadInput;
}
