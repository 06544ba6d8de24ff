// `tfc compile`: a spec becomes a library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/Compile.h"

#include "compiler/emit/EmitObject.h"
#include "compiler/emit/LinkLibrary.h"
#include "compiler/frontend/BuildModel.h"
#include "compiler/pipeline/Pipelines.h"
#include "compiler/pipeline/Registration.h"
#include "compiler/pipeline/Stages.h"
#include "compiler/spec/ReadSpec.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"

using namespace mlir;
using namespace tfc;

std::optional<spec::ModelSpec>
tfc::readSpecOrReport(const std::string &path, const std::string &dtype,
                      llvm::raw_ostream &errors) {
  spec::Diagnostics diagnostics;
  spec::ReadOptions options;
  options.dtype = dtype;
  std::optional<spec::ModelSpec> model =
      spec::readSpec(path, diagnostics, options);
  for (const spec::Diagnostic &diagnostic : diagnostics) {
    errors << "tfc: "
           << (diagnostic.severity == spec::Severity::Error ? "error: " : "")
           << spec::formatDiagnostic(diagnostic) << '\n';
  }
  return model;
}

void tfc::prepareContext(MLIRContext &context) {
  DialectRegistry registry;
  registerAllTfc(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

/// Outputs are written beside their place and renamed there, which must not
/// happen to a device or pipe.
static int checkReplaceable(StringRef path, llvm::raw_ostream &errors) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status) ||
      llvm::sys::fs::is_regular_file(status)) {
    return kOk;
  }
  errors << "tfc: error: " << path
         << ": expected the name of a file to write, got a folder, device or "
            "pipe\n";
  return kBadInput;
}

/// Writes `text` whole or not at all.
static llvm::Error replaceFile(const std::string &path, StringRef text) {
  llvm::Expected<llvm::sys::fs::TempFile> file =
      llvm::sys::fs::TempFile::create(path + ".%%%%%%");
  if (!file) {
    return file.takeError();
  }
  llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  stream << text;
  stream.flush();
  if (std::error_code code = stream.error()) {
    stream.clear_error();
    return llvm::joinErrors(llvm::errorCodeToError(code), file->discard());
  }
  return file->keep(path);
}

static llvm::Error writeOutput(StringRef text) {
  llvm::outs() << text;
  llvm::outs().flush();
  std::error_code code = llvm::outs().error();
  llvm::outs().clear_error();
  return llvm::errorCodeToError(code);
}

int tfc::writeText(const std::string &path, StringRef text,
                   llvm::raw_ostream &errors) {
  bool isOutput = path == "-";
  // Nothing is written there, and above all it is not replaced.
  if (path == "/dev/null") {
    return kOk;
  }
  if (!isOutput && checkReplaceable(path, errors)) {
    return kBadInput;
  }
  llvm::Error error = isOutput ? writeOutput(text) : replaceFile(path, text);
  if (error) {
    errors << "tfc: error: " << (isOutput ? "standard output" : path)
           << ": expected a writable file, got: "
           << llvm::toString(std::move(error)) << '\n';
    return kBadInput;
  }
  return kOk;
}

namespace {

/// Compiles one model; every failure is reported once.
class Compiler {
public:
  Compiler(const spec::ModelSpec &model, const CompileOptions &options,
           llvm::raw_ostream &errors)
      : model(model), options(options), errors(errors) {}

  int run(const std::string &output);

private:
  int checkOptions(StringRef output);
  /// Builds the module and runs the arrows up to the last stage wanted.
  OwningOpRef<ModuleOp> lower(MLIRContext &context);
  LogicalResult runExtraPasses(ModuleOp module, StringRef stage);
  int fail(const Twine &message, int code) {
    errors << "tfc: error: " << message << '\n';
    return code;
  }

  const spec::ModelSpec &model;
  const CompileOptions &options;
  llvm::raw_ostream &errors;
  PipelineOptions pipeline;
};

} // namespace

int Compiler::checkOptions(StringRef output) {
  if (output.empty()) {
    return fail("expected -o with the name of a file, got none",
                kBadCommandLine);
  }
  if (output == "-" && options.stopAfter.empty()) {
    return fail("expected -o with the name of a file (only IR is written to "
                "standard output), got -",
                kBadCommandLine);
  }
  if (options.stopAfter.empty() && checkReplaceable(output, errors)) {
    return kBadInput;
  }
  if (options.opt != "none" && options.opt != "full") {
    return fail("expected --opt none or full, got " + options.opt,
                kBadCommandLine);
  }
  pipeline.opt = options.opt == "full" ? OptLevel::Full : OptLevel::None;
  if (!options.stopAfter.empty() && !findStage(options.stopAfter)) {
    std::string names;
    for (const Stage &stage : getStages()) {
      names += (names.empty() ? "" : ", ") + stage.name.str();
    }
    return fail("expected --stop-after one of " + names + ", got " +
                    options.stopAfter,
                kBadCommandLine);
  }
  llvm::Expected<TargetInfo> target = TargetInfo::parse(options.target);
  if (!target) {
    return fail(llvm::toString(target.takeError()), kBadCommandLine);
  }
  pipeline.target = *target;
  pipeline.taps = options.taps;
  return kOk;
}

LogicalResult Compiler::runExtraPasses(ModuleOp module, StringRef stage) {
  auto [wanted, passes] = StringRef(options.runAfter).split(':');
  if (passes.empty() || wanted != stage) {
    return success();
  }
  PassManager pm(module.getContext());
  if (failed(parsePassPipeline(passes, pm, errors))) {
    return failure();
  }
  return pm.run(module);
}

OwningOpRef<ModuleOp> Compiler::lower(MLIRContext &context) {
  OwningOpRef<ModuleOp> module = buildModel(model, &context);
  if (!module || failed(runExtraPasses(*module, "model"))) {
    return {};
  }
  if (options.stopAfter == "model") {
    return module;
  }
  for (const Arrow &arrow : getArrows(pipeline.opt)) {
    PassManager pm(&context);
    arrow.build(pm, pipeline);
    if (failed(pm.run(*module)) ||
        failed(runExtraPasses(*module, arrow.stage))) {
      return {};
    }
    if (arrow.stage == options.stopAfter) {
      break;
    }
  }
  return module;
}

int Compiler::run(const std::string &output) {
  if (int code = checkOptions(output)) {
    return code;
  }
  MLIRContext context;
  prepareContext(context);
  // Diagnostics of passes on a checked spec are our fault; the location is the
  // spec's path of what could not be compiled.
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors << "tfc: ";
    if (auto name = diagnostic.getLocation()->findInstanceOf<NameLoc>()) {
      errors << name.getName().getValue() << ": ";
    }
    errors << (diagnostic.getSeverity() == DiagnosticSeverity::Error ? "error: "
                                                                     : "note: ")
           << diagnostic << '\n';
    for (Diagnostic &note : diagnostic.getNotes()) {
      errors << "tfc: note: " << note << '\n';
    }
  });
  OwningOpRef<ModuleOp> module = lower(context);
  if (!module) {
    return fail("this spec was read without error, so the fault is tfc's; "
                "please report it with the spec and the lines above",
                kInternalError);
  }
  if (!options.stopAfter.empty()) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream, OpPrintingFlags().enableDebugInfo());
    return writeText(output, text + "\n", errors);
  }
  llvm::SmallVector<char, 0> object;
  if (failed(emitObject(*module, pipeline.target.name, object))) {
    return kInternalError;
  }
  if (llvm::Error error =
          linkLibrary(StringRef(object.data(), object.size()), output)) {
    return fail(llvm::toString(std::move(error)), kBadInput);
  }
  return kOk;
}

int tfc::compileModel(const spec::ModelSpec &model,
                      const CompileOptions &options, const std::string &output,
                      llvm::raw_ostream &errors) {
  return Compiler(model, options, errors).run(output);
}

int tfc::runCompile(const std::string &path, const CompileOptions &options,
                    const std::string &output) {
  std::optional<spec::ModelSpec> model =
      readSpecOrReport(path, options.dtype, llvm::errs());
  return model ? compileModel(*model, options, output, llvm::errs())
               : kBadInput;
}
