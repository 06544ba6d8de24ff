// `tfc verify`: compiles a model with taps and as it is shipped, and compares
// both.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/VerifyCommand.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/CompileProgram.h"
#include "compiler/driver/FindTargets.h"
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

/// The model without rounding between ops.
static spec::ModelSpec withoutRounding(spec::ModelSpec model) {
  model.multipliesBf16 = false;
  model.cache = spec::Storage::F32;
  return model;
}

static int fail(llvm::raw_ostream &errors, const llvm::Twine &message,
                int code) {
  errors << "tfc: error: " << message << '\n';
  return code;
}

/// Compiles into a temporary library and compares it.
static int verifyCompiled(const spec::ModelSpec &model,
                          const CompileOptions &compile,
                          const VerifiedModel &verified,
                          const VerifyOptions &options, llvm::raw_ostream &out,
                          llvm::raw_ostream &errors) {
  llvm::SmallString<128> library;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("tfc-verify", "so", library)) {
    return fail(errors,
                "expected a writable folder for temporary files, got: " +
                    code.message(),
                kBadInput);
  }
  llvm::FileRemover remove(library);
  if (int code = compileModel(model, compile, library.str().str(), errors)) {
    return code;
  }
  return verifyLibrary(verified, library.str().str(),
                       compile.taps ? Compared::Taps : Compared::Outputs,
                       options, out, errors)
             ? kOk
             : kBadInput;
}

/// Both libraries, the one with taps first.
static int verifyBoth(const spec::ModelSpec &model, CompileOptions compile,
                      const VerifiedModel &verified,
                      const VerifyOptions &options, llvm::raw_ostream &out,
                      llvm::raw_ostream &errors) {
  compile.taps = true;
  if (int code =
          verifyCompiled(model, compile, verified, options, out, errors)) {
    return code;
  }
  // A tap is a second use of a value, which keeps passes from joining its op
  // with the next: what is shipped is another program.
  compile.taps = false;
  return verifyCompiled(model, compile, verified, options, out, errors);
}

/// What a program rounds is in the stage `fused`, which its own passes make:
/// without those of --run-after, whose doing is to be found.
static int verifyRounding(const spec::ModelSpec &model, CompileOptions compile,
                          const VerifyOptions &options, llvm::raw_ostream &out,
                          llvm::raw_ostream &errors) {
  auto targets = findTargets(model, compile);
  if (!targets) {
    return fail(errors, llvm::toString(targets.takeError()), kBadCommandLine);
  }
  if (targets->size() != 1) {
    return fail(errors,
                "expected one --target of a model that rounds between ops "
                "(each program's values are its own), got " +
                    llvm::Twine(targets->size()),
                kBadCommandLine);
  }
  // Parts of an op that passes have cut are compared, too.
  compile.fusedTaps = true;
  CompileOptions own = compile;
  own.taps = true;
  own.runAfter.clear();
  ProgramCompiler fused(model, own, pipelineFor(model, own, targets->front()),
                        /*reproducerPath=*/"");
  MLIRContext context;
  OwningOpRef<ModuleOp> exact = buildTapped(withoutRounding(model), context);
  if (failed(fused.lower("fused")) || !exact) {
    errors << fused.messages;
    return kInternalError;
  }
  int code = verifyBoth(model, compile, {fused.getModule(), *exact}, options,
                        out, errors);
  errors << fused.messages;
  return code;
}

int tfc::verifyModel(const spec::ModelSpec &model, CompileOptions compile,
                     const VerifyOptions &options, llvm::raw_ostream &out,
                     llvm::raw_ostream &errors) {
  // Only one program runs here: others would be compiled for nothing.
  compile.target = compile.target.empty() ? "cpu" : compile.target;
  if (roundsBetweenOps(model)) {
    return verifyRounding(model, compile, options, out, errors);
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> tapped = buildTapped(model, context);
  if (!tapped) {
    return kInternalError;
  }
  return verifyBoth(model, compile, {*tapped, {}}, options, out, errors);
}

int tfc::runVerify(const std::string &path, const CompileOptions &compile,
                   const VerifyOptions &options) {
  std::optional<spec::ModelSpec> model = readModelOrReport(
      path, {compile.dtype, compile.cache, false, compile.group}, llvm::errs());
  if (!model) {
    return kBadInput;
  }
  return verifyModel(*model, compile, options, llvm::outs(), llvm::errs());
}
