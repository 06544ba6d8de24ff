// `tfc verify`: compiles a model with taps and compares every value.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/VerifyCommand.h"

#include "compiler/driver/Compile.h"
#include "compiler/frontend/BuildModel.h"
#include "compiler/fusion/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"

using namespace mlir;
using namespace tfc;

int tfc::runVerify(const std::string &path, CompileOptions compile,
                   const VerifyOptions &options) {
  std::optional<spec::ModelSpec> model =
      readSpecOrReport(path, compile.dtype, llvm::errs());
  if (!model) {
    return kBadInput;
  }
  llvm::SmallString<128> library;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("tfc-verify", "so", library)) {
    llvm::errs() << "tfc: error: expected a writable folder for temporary "
                    "files, got: "
                 << code.message() << '\n';
    return kBadInput;
  }
  llvm::FileRemover remove(library);
  compile.taps = true;
  if (int code = compileModel(*model, compile, library.str().str(),
                              llvm::errs())) {
    return code;
  }
  MLIRContext context;
  prepareContext(context);
  OwningOpRef<ModuleOp> tapped = buildModel(*model, &context);
  PassManager pm(&context);
  pm.addPass(createInsertTapsPass());
  if (!tapped || failed(pm.run(*tapped))) {
    return kInternalError;
  }
  return verifyLibrary(*tapped, library.str().str(), options, llvm::outs(),
                       llvm::errs())
             ? kOk
             : kBadInput;
}
