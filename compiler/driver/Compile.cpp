// `tfc compile`: a spec or a folder becomes a library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/Compile.h"

#include "compiler/driver/CompileProgram.h"
#include "compiler/driver/DescribeChoice.h"
#include "compiler/driver/FindTargets.h"
#include "compiler/driver/OutputFile.h"
#include "compiler/driver/ReadModel.h"
#include "compiler/driver/WriteText.h"
#include "compiler/emit/LinkLibrary.h"
#include "compiler/emit/WriteArchive.h"
#include "compiler/spec/read/ReadSpec.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <memory>
#include <thread>

using namespace mlir;
using namespace tfc;

void tfc::report(const spec::Diagnostics &diagnostics,
                 llvm::raw_ostream &errors, bool withWarnings) {
  for (const spec::Diagnostic &diagnostic : diagnostics) {
    bool isError = diagnostic.severity == spec::Severity::Error;
    if (isError || withWarnings) {
      errors << "tfc: " << (isError ? "error: " : "")
             << spec::formatDiagnostic(diagnostic) << '\n';
    }
  }
}

std::optional<spec::ModelSpec>
tfc::readSpecOrReport(const std::string &path, const spec::ReadOptions &options,
                      llvm::raw_ostream &errors) {
  spec::Diagnostics diagnostics;
  std::optional<spec::ModelSpec> model =
      spec::readSpec(path, diagnostics, options);
  report(diagnostics, errors);
  return model;
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
  using Step = llvm::function_ref<LogicalResult(ProgramCompiler &)>;

  OptLevel level() const {
    return options.opt == "full" ? OptLevel::Full : OptLevel::None;
  }
  int checkOptions(StringRef output);
  int checkEmit();
  int checkStage(StringRef option, StringRef stage);
  int checkRunAfter();
  int checkTargets(StringRef output);
  int checkSanitize();
  int checkRanks();
  void noteDevice(const TargetInfo &target);
  int failInternally(const ProgramCompiler &program);
  /// Does the step for all programs at the same time. `phase`: its name, where
  /// it is shown.
  int forEachProgram(const char *phase, Step step);
  int writeStage(const std::string &output);
  int writePasses(const std::string &output);
  int checkPassNames();
  int writeLibrary(const std::string &output);
  llvm::Error writeObjects(const std::string &output) const;
  void orderByPriority();
  std::string describe() const;
  int fail(const Twine &message, int code) {
    errors << "tfc: error: " << message << '\n';
    return code;
  }

  const spec::ModelSpec &model;
  const CompileOptions &options;
  llvm::raw_ostream &errors;
  std::vector<std::unique_ptr<ProgramCompiler>> programs;
};

} // namespace

int Compiler::checkOptions(StringRef output) {
  if (output.empty()) {
    return fail("expected -o with the name of a file, got none",
                kBadCommandLine);
  }
  if (output == "-" && !options.writesText()) {
    return fail("expected -o with the name of a file (only IR is written to "
                "standard output), got -",
                kBadCommandLine);
  }
  if (options.opt != "none" && options.opt != "full") {
    return fail("expected --opt none or full, got " + options.opt,
                kBadCommandLine);
  }
  if (int code = checkEmit()) {
    return code;
  }
  if (int code = checkTargets(output)) {
    return code;
  }
  if (int code = checkSanitize()) {
    return code;
  }
  if (int code = checkRanks()) {
    return code;
  }
  if (int code = options.stopAfter.empty()
                     ? kOk
                     : checkStage("--stop-after", options.stopAfter)) {
    return code;
  }
  if (int code = options.runAfter.empty() ? kOk : checkRunAfter()) {
    return code;
  }
  // Last: of two faults, that in the command line is told.
  return !options.writesText()
             ? checkOutput(output.str(), options.inputs, options.force, errors)
             : checkTextOutput(output.str(), options.inputs, options.force,
                               errors);
}

int Compiler::checkSanitize() {
  if (options.sanitize.empty()) {
    return kOk;
  }
  if (options.sanitize != "address") {
    return fail("expected --sanitize address, got " + options.sanitize,
                kBadCommandLine);
  }
  if (options.emit != "library") {
    return fail("expected --emit library with --sanitize (a program that links "
                "an archive is not looked through), got " +
                    options.emit,
                kBadCommandLine);
  }
  for (const std::unique_ptr<ProgramCompiler> &program : programs) {
    if (program->pipeline.target.isDevice()) {
      return fail("expected --target of CPUs with --sanitize=address (the "
                  "stand-in for a driver checks a device's code), got " +
                      program->pipeline.target.name,
                  kBadCommandLine);
    }
  }
  return kOk;
}

/// What of the options ranks cannot have; of the model the pass says.
int Compiler::checkRanks() {
  if (options.ranks < 1 || options.ranks > kMostRanks) {
    return fail("expected --ranks from 1 to " + Twine(kMostRanks) + ", got " +
                    Twine(options.ranks),
                kBadCommandLine);
  }
  if (options.ranks == 1) {
    return kOk;
  }
  if (model.hasIntegers()) {
    return fail(
        "expected matrices of floats with --ranks (integers have scales "
        "of whole rows and groups), got integers",
        kBadInput);
  }
  for (const std::unique_ptr<ProgramCompiler> &program : programs) {
    if (program->pipeline.target.isDevice()) {
      return fail("expected --target of CPUs with --ranks (a device has no "
                  "place for their sums), got " +
                      program->pipeline.target.name,
                  kBadCommandLine);
    }
  }
  return kOk;
}

/// A symbol is a name in C.
static bool isCName(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

int Compiler::checkEmit() {
  if (options.emit != "library" && options.emit != "archive") {
    return fail("expected --emit library or archive, got " + options.emit,
                kBadCommandLine);
  }
  if (options.emit == "library" && !options.symbol.empty()) {
    return fail("expected --symbol with --emit=archive (a library's is always "
                "the same), got " +
                    options.symbol,
                kBadCommandLine);
  }
  if (!options.symbol.empty() && !isCName(options.symbol)) {
    return fail("expected --symbol to be a name in C, got " + options.symbol,
                kBadCommandLine);
  }
  return kOk;
}

/// Stages are those of the most demanding program: another's would never be
/// reached.
int Compiler::checkStage(StringRef option, StringRef stage) {
  const PipelineOptions &pipeline = programs.back()->pipeline;
  const Road &road = findRoad(pipeline);
  std::string names = road.arrows.front().from->name.str();
  for (const Arrow &arrow : road.arrows) {
    names += (", " + arrow.to->name).str();
  }
  std::string which = pipeline.target.isDevice() ? "for " + pipeline.target.name
                                                 : "with --opt=" + options.opt;
  return road.findStage(stage)
             ? kOk
             : fail("expected " + option + " one of " + names + " (" + which +
                        "), got " + stage,
                    kBadCommandLine);
}

int Compiler::checkRunAfter() {
  auto [stage, passes] = StringRef(options.runAfter).split(':');
  if (int code = checkStage("--run-after", stage)) {
    return code;
  }
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  OpPassManager pm(ModuleOp::getOperationName());
  if (passes.empty() || failed(parsePassPipeline(passes, pm, stream))) {
    return fail("expected --run-after stage:pipeline, got " + options.runAfter +
                    (problem.empty() ? "" : ": " + StringRef(problem).trim()),
                kBadCommandLine);
  }
  return kOk;
}

/// Beside the output, or in the working directory where it has no place of its
/// own.
static std::string reproducerPathFor(StringRef output) {
  bool isFile = output != "-" && output != "/dev/null";
  return ((isFile ? output : "tfc") + ".reproducer.mlir").str();
}

/// What programs of devices could do faster.
void Compiler::noteDevice(const TargetInfo &target) {
  bool isNarrow = static_cast<transformer::Storage>(model.storage) !=
                  transformer::Storage::F32;
  if (level() != OptLevel::None && !isNarrow) {
    errors << "tfc: note: " << target.name
           << " multiplies f32 without tensor cores, which --dtype=bf16 and "
              "f16 have, some ten times as fast\n";
  }
}

int Compiler::checkTargets(StringRef output) {
  llvm::Expected<std::vector<TargetInfo>> targets = findTargets(model, options);
  if (!targets) {
    return fail(llvm::toString(targets.takeError()), kBadCommandLine);
  }
  for (TargetInfo &target : *targets) {
    if (options.emulate && !target.runsHere()) {
      target = target.emulated();
    }
  }
  if (options.writesText()) {
    targets->erase(targets->begin(), targets->end() - 1);
  } else {
    *targets = addExactTargets(std::move(*targets), model, options);
  }
  for (const TargetInfo &target : *targets) {
    if (target.isDevice()) {
      noteDevice(target);
    }
    programs.push_back(std::make_unique<ProgramCompiler>(
        model, options, pipelineFor(model, options, target),
        reproducerPathFor(output)));
  }
  return kOk;
}

/// Reports what a program's compiler had to say, and leaves its IR behind.
int Compiler::failInternally(const ProgramCompiler &program) {
  errors << program.messages;
  bool isWritten =
      !program.reproducer.empty() &&
      checkOutput(program.reproducerPath, options.inputs, options.force,
                  errors) == kOk &&
      writeText(program.reproducerPath,
                kIrMark.str() + "a reproducer\n" + program.reproducer,
                errors) == kOk;
  return fail("this spec was read without error, so the fault is tfc's; please "
              "report it with the spec" +
                  (isWritten ? ", the lines above and " + program.reproducerPath
                             : " and the lines above"),
              kInternalError);
}

int Compiler::forEachProgram(const char *phase, Step step) {
  std::vector<LogicalResult> results(programs.size(), failure());
  auto run = [&](size_t index) { results[index] = step(*programs[index]); };
  {
    tools::Progress progress(options.progress, phase);
    std::vector<std::thread> threads;
    for (size_t index = 1; index < programs.size(); ++index) {
      threads.emplace_back(run, index);
    }
    run(0);
    for (std::thread &thread : threads) {
      thread.join();
    }
  }
  for (auto [program, result] : llvm::zip_equal(programs, results)) {
    // The messages of one are enough: the others' are the same, or nearly.
    if (failed(result) && program->isRefused) {
      errors << program->messages;
      return kBadInput;
    }
    if (failed(result)) {
      return failInternally(*program);
    }
  }
  llvm::StringSet<> said;
  for (const std::unique_ptr<ProgramCompiler> &program : programs) {
    if (said.insert(program->messages).second) {
      errors << program->messages;
    }
    program->messages.clear();
  }
  return kOk;
}

int Compiler::writeStage(const std::string &output) {
  int code = forEachProgram("compiling", [&](ProgramCompiler &program) {
    return program.lower(options.stopAfter);
  });
  return code ? code
              : writeText(output,
                          kIrMark.str() + "the stage " + options.stopAfter +
                              "\n" + programs.front()->print() + "\n",
                          errors);
}

/// A name that no program knows leaves nothing out.
int Compiler::checkPassNames() {
  std::vector<std::string> unknown = programs.front()->passes().unknown();
  for (const std::unique_ptr<ProgramCompiler> &program : programs) {
    std::vector<std::string> own = program->passes().unknown();
    llvm::erase_if(unknown, [&](const std::string &name) {
      return !llvm::is_contained(own, name);
    });
  }
  return unknown.empty()
             ? kOk
             : fail("expected --leave-out and --stop-before with names of "
                    "--list-passes, got " +
                        llvm::join(unknown, ", "),
                    kBadCommandLine);
}

/// The names of the passes, or what stands before one of them.
int Compiler::writePasses(const std::string &output) {
  StringRef last = findRoad(programs.front()->pipeline).arrows.back().to->name;
  int code = forEachProgram("compiling", [&](ProgramCompiler &program) {
    return program.lower(last);
  });
  if (int found = code ? code : checkPassNames()) {
    return found;
  }
  const PassControl &passes = programs.front()->passes();
  std::string text = options.listPasses
                         ? llvm::join(passes.names(), "\n")
                         : kIrMark.str() + "before " + options.stopBefore +
                               "\n" + passes.input();
  return writeText(output, text + "\n", errors);
}

/// A library's programs are in the order of their priority. As long as a
/// device's products are loops, they come before a CPU's fast ones, so that
/// nobody gets them unasked.
void Compiler::orderByPriority() {
  auto firstDevice =
      llvm::find_if(programs, [](const std::unique_ptr<ProgramCompiler> &each) {
        return each->pipeline.target.isDevice();
      });
  if (level() == OptLevel::Full) {
    std::rotate(programs.begin(), firstDevice, programs.end());
  }
}

int Compiler::writeLibrary(const std::string &output) {
  orderByPriority();
  // The first program's tables say of the others what is known before the last
  // arrow.
  if (int code = forEachProgram("compiling", [](ProgramCompiler &program) {
        return program.lower(
            findRoad(program.pipeline).arrows.back().from->name);
      })) {
    return code;
  }
  std::vector<ProgramRecord> records;
  for (const std::unique_ptr<ProgramCompiler> &program : programs) {
    records.push_back(program->record());
  }
  if (int code =
          forEachProgram("generating code", [&](ProgramCompiler &program) {
            return program.finish(records);
          })) {
    return code;
  }
  if (int code = checkPassNames()) {
    return code;
  }
  if (llvm::Error error = writeObjects(output)) {
    return fail(llvm::toString(std::move(error)), kBadInput);
  }
  if (options.summary) {
    *options.summary << describe() << '\n';
  }
  return kOk;
}

llvm::Error Compiler::writeObjects(const std::string &output) const {
  std::vector<ArchiveMember> members;
  std::vector<StringRef> objects;
  for (const std::unique_ptr<ProgramCompiler> &program : programs) {
    objects.push_back(program->object());
    members.push_back({program->pipeline.target.programName(), objects.back()});
  }
  // All programs are of one machine.
  Machine machine = programs.front()->pipeline.target.machine;
  return options.emit == "archive"
             ? writeArchive(members, output)
             : linkLibrary(objects, output, machineInfo(machine).format,
                           !options.sanitize.empty());
}

std::string Compiler::describe() const {
  std::vector<std::string> names;
  std::string dots;
  bool hasCpu = false, roundsValues = false;
  for (const std::unique_ptr<ProgramCompiler> &program : programs) {
    const TargetInfo &target = program->pipeline.target;
    hasCpu |= !target.isDevice();
    roundsValues |= target.isDevice() && level() == OptLevel::Full;
    names.push_back(target.programName());
    if (target.multiplies == Factors::BF16) {
      dots += (dots.empty() ? "" : " and ") + names.back();
    }
  }
  std::string line = describeChoice(model, names, dots, hasCpu, roundsValues);
  return options.emit == "archive" ? line + "; symbol " + options.symbol : line;
}

int Compiler::run(const std::string &output) {
  if (int code = checkOptions(output)) {
    return code;
  }
  return !options.writesText()       ? writeLibrary(output)
         : options.stopAfter.empty() ? writePasses(output)
                                     : writeStage(output);
}

int tfc::compileModel(const spec::ModelSpec &model,
                      const CompileOptions &options, const std::string &output,
                      llvm::raw_ostream &errors) {
  return Compiler(model, options, errors).run(output);
}

/// "tfc_model_tiny_bert" of "tiny-bert".
static std::string symbolOf(const spec::ModelSpec &model) {
  std::string symbol = "tfc_model_" + model.name;
  for (char &c : symbol) {
    c = llvm::isAlnum(c) ? c : '_';
  }
  return symbol;
}

int tfc::runCompile(const std::string &path, CompileOptions options,
                    const std::string &output) {
  options.inputs = listModelFiles(path);
  options.summary = &llvm::errs();
  std::optional<spec::ModelSpec> model = readModelOrReport(
      path, {options.dtype, options.cache, options.hiddenStates, options.group},
      llvm::errs());
  if (!model) {
    return kBadInput;
  }
  if (options.emit == "archive" && options.symbol.empty()) {
    options.symbol = symbolOf(*model);
  }
  return compileModel(*model, options, output, llvm::errs());
}
