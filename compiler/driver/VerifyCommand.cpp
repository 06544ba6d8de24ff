// `tfc verify`: compiles a model with taps and as it is shipped, and compares
// both.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/VerifyCommand.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/ReadModel.h"
#include "compiler/frontend/BuildModel.h"
#include "compiler/pipeline/Registration.h"
#include "compiler/pipeline/Road.h"
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

/// Compiles into a temporary library and compares it.
static int verifyCompiled(const spec::ModelSpec &model,
                          const CompileOptions &compile, ModuleOp tapped,
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
  if (int code = compileModel(model, compile, library.str().str(), errors)) {
    return code;
  }
  return verifyLibrary(tapped, library.str().str(),
                       compile.taps ? Compared::Taps : Compared::Outputs,
                       options, out, errors)
             ? kOk
             : kBadInput;
}

int tfc::verifyModel(const spec::ModelSpec &model, CompileOptions compile,
                     const VerifyOptions &options, llvm::raw_ostream &out,
                     llvm::raw_ostream &errors) {
  MLIRContext context;
  OwningOpRef<ModuleOp> tapped = buildTapped(model, context);
  if (!tapped) {
    return kInternalError;
  }
  // Only one program runs here: others would be compiled for nothing.
  compile.target = compile.target.empty() ? "cpu" : compile.target;
  compile.taps = true;
  if (int code =
          verifyCompiled(model, compile, *tapped, options, out, errors)) {
    return code;
  }
  // A tap is a second use of a value, which keeps passes from joining its op
  // with the next: what is shipped is another program.
  compile.taps = false;
  return verifyCompiled(model, compile, *tapped, options, out, errors);
}

int tfc::runVerify(const std::string &path, const CompileOptions &compile,
                   const VerifyOptions &options) {
  std::optional<spec::ModelSpec> model = readModelOrReport(
      path, {compile.dtype, compile.cache, false, compile.group}, llvm::errs());
  if (!model) {
    return kBadInput;
  }
  if (model->cache != spec::Storage::F32) {
    llvm::errs() << "tfc: error: " << path
                 << ": expected a spec whose precision.cache is f32 (what is "
                    "verified is the arithmetic, without rounding between "
                    "steps), got f16, bf16 or int8\n";
    return kBadInput;
  }
  if (model->hasIntegers()) {
    bool isFour = model->storage == spec::Storage::Int4;
    llvm::errs() << "tfc: error: " << path
                 << ": expected matrices in f32, f16 or bf16 (what is verified "
                    "is the arithmetic, which integers round), got "
                 << (isFour ? "int4" : "int8") << '\n';
    return kBadInput;
  }
  if (model->multipliesBf16) {
    llvm::errs() << "tfc: note: products of bf16 are not verified (what rounds "
                    "their rows would hide faults); it is the model with "
                    "products of f32\n";
    model->multipliesBf16 = false;
  }
  return verifyModel(*model, compile, options, llvm::outs(), llvm::errs());
}
