// `tfc explain`: reads, compiles, counts, and says what is asked.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/ExplainCommand.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/Explanation.h"
#include "compiler/driver/FindTargets.h"
#include "compiler/pipeline/Road.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tfc;

static int fail(const Twine &message, int code) {
  llvm::errs() << "tfc: error: " << message << '\n';
  return code;
}

static int failInternally(StringRef messages) {
  llvm::errs() << messages;
  return fail("this spec was read without error, so the fault is tfc's; please "
              "report it with the spec and the lines above",
              kInternalError);
}

/// The ops of every workload. Nothing, with diagnostics, where the file is not
/// what tfc-bench writes.
static std::optional<std::vector<MeasuredOp>>
readMeasured(const std::string &path, spec::Diagnostics &diagnostics) {
  std::vector<MeasuredOp> measured;
  std::optional<spec::Json> root = spec::readJsonFile(path, diagnostics);
  if (!root) {
    return std::nullopt;
  }
  const spec::Json *workloads = root->find("workloads");
  if (!workloads || !workloads->isArray()) {
    spec::report(diagnostics, root->place, 0,
                 "expected what tfc-bench --ops --format json prints, got " +
                     spec::describe(*root));
    return std::nullopt;
  }
  for (const spec::Json &workload : workloads->items) {
    const spec::Json *name = workload.find("workload");
    const spec::Json *ops = workload.find("ops");
    if (!name || !name->isString() || !ops) {
      continue;
    }
    for (const spec::Json &op : ops->items) {
      const spec::Json *own = op.find("op"), *seconds = op.find("seconds");
      const spec::Json *share = op.find("roofline_share");
      if (!own || !own->isString() || !seconds || !seconds->isNumber()) {
        continue;
      }
      MeasuredOp one{name->text, {}, seconds->real, share ? share->real : 0};
      SmallVector<StringRef> parts;
      StringRef(own->text).split(parts, '+');
      for (StringRef part : parts) {
        one.paths.push_back(part.str());
      }
      measured.push_back(std::move(one));
    }
  }
  if (measured.empty()) {
    spec::report(diagnostics, root->place, 0,
                 "expected times of ops (tfc-bench --ops), got none");
    return std::nullopt;
  }
  return measured;
}

namespace {

/// One run of the command; each step returns an ExitCode.
class Command {
public:
  Command(const std::string &path, const ExplainOptions &options)
      : path(path), options(options) {}

  int run();

private:
  int checkOptions();
  int findTarget();
  int compile();
  int count(Explained &explained);
  std::vector<WantedStep> chooseSteps() const;
  int print(const Explained &explained);

  const std::string &path;
  const ExplainOptions &options;
  std::optional<WantedStep> step;
  std::optional<WrittenModel> written;
  std::optional<TargetInfo> target;
  ProgramTrace trace;
};

} // namespace

int Command::checkOptions() {
  if (!options.op.empty() && !options.kernel.empty()) {
    return fail("expected --op or --kernel, got both", kBadCommandLine);
  }
  if (options.compile.opt != "none" && options.compile.opt != "full") {
    return fail("expected --opt none or full, got " + options.compile.opt,
                kBadCommandLine);
  }
  if (options.step.empty()) {
    return kOk;
  }
  step = WantedStep::parse(options.step);
  return step ? kOk
              : fail("expected --step prefill:BxN or decode:BxN (B sequences "
                     "of N tokens, as prefill:1x512), got " +
                         options.step,
                     kBadCommandLine);
}

int Command::findTarget() {
  auto targets = findTargets(written->model(), options.compile);
  if (!targets) {
    return fail(llvm::toString(targets.takeError()), kBadCommandLine);
  }
  target = targets->back();
  return kOk;
}

int Command::compile() {
  ProgramCompiler program(
      written->model(), options.compile,
      pipelineFor(written->model(), options.compile, *target), "");
  program.watch(trace);
  bool isDone = succeeded(
      program.lower(findRoad(program.pipeline).arrows.back().to->name));
  return isDone ? kOk : failInternally(program.messages);
}

std::vector<WantedStep> Command::chooseSteps() const {
  if (step) {
    return {*step};
  }
  const spec::ModelSpec &model = written->model();
  int64_t tokens =
      model.maxPositions > 0 ? std::min<int64_t>(128, model.maxPositions) : 128;
  std::vector<WantedStep> steps = {{true, 1, tokens}};
  if (model.kind != spec::Kind::Encoder) {
    steps.push_back({false, 1, tokens});
  }
  return steps;
}

int Command::count(Explained &explained) {
  const spec::ModelSpec &model = written->model();
  // Counts are no machine's; only its times are.
  cost::Machine machine{"", 1, 1, 1, target->isDevice(), ""};
  if (!options.machine.empty()) {
    auto found = cost::findMachine(options.machine);
    if (!found) {
      return fail(llvm::toString(found.takeError()), kBadCommandLine);
    }
    machine = *found;
    machine.isDevice = target->isDevice();
    explained.hasMachine = true;
  }
  std::unique_ptr<StepCosts> costs = StepCosts::create(model);
  if (!costs) {
    return failInternally("");
  }
  for (const WantedStep &wanted : chooseSteps()) {
    if (!wanted.isPrefill && model.kind == spec::Kind::Encoder) {
      return fail("expected --step prefill:BxN of an encoder, which has no "
                  "next token, got " +
                      wanted.text(),
                  kBadCommandLine);
    }
    if (model.maxPositions > 0 && wanted.tokens > model.maxPositions) {
      return fail("expected at most " + Twine(model.maxPositions) +
                      " positions, the model's, got " + wanted.text(),
                  kBadCommandLine);
    }
    auto entries = costs->count(wanted, machine);
    if (failed(entries)) {
      return failInternally("");
    }
    explained.costs.push_back({wanted.text(), std::move(*entries)});
  }
  return kOk;
}

/// The names that were possible, nearest first.
static std::string listNear(StringRef name, ArrayRef<std::string> names) {
  std::string near = spec::nearestWord(
      std::string_view(name.data(), name.size()), {names.begin(), names.end()});
  return near.empty() ? spec::listNames({names.begin(), names.end()})
                      : "did you mean " + near + "?";
}

int Command::print(const Explained &explained) {
  if (!options.op.empty()) {
    std::vector<std::string> paths;
    for (const ProgramTrace::Stage &stage : trace.stages) {
      for (const auto &[path, ops] : stage.ops) {
        if (!llvm::is_contained(paths, path)) {
          paths.push_back(path);
        }
      }
    }
    return explainOp(explained, options.op, llvm::outs())
               ? kOk
               : fail("expected --op with a path of this model (" +
                          listNear(options.op, paths) + "), got " + options.op,
                      kBadCommandLine);
  }
  if (!options.kernel.empty()) {
    // Of several that it is a part of, those.
    std::vector<std::string> names, having;
    for (const ProgramTrace::Function &function : trace.functions) {
      names.push_back(function.name);
      if (StringRef(function.name).contains(options.kernel)) {
        having.push_back(function.name);
      }
    }
    return explainFunction(explained, options.kernel, llvm::outs())
               ? kOk
               : fail("expected --kernel with a function of this program, or a "
                      "part of the name of one alone (" +
                          (having.empty() ? listNear(options.kernel, names)
                                          : spec::listNames(having)) +
                          "), got " + options.kernel,
                      kBadCommandLine);
  }
  printOverview(explained, llvm::outs());
  return kOk;
}

int Command::run() {
  if (int code = checkOptions()) {
    return code;
  }
  std::vector<MeasuredOp> measured;
  if (!options.measured.empty()) {
    spec::Diagnostics diagnostics;
    auto read = readMeasured(options.measured, diagnostics);
    report(diagnostics, llvm::errs());
    if (!read) {
      return kBadInput;
    }
    measured = std::move(*read);
  }
  const CompileOptions &compiled = options.compile;
  written = WrittenModel::read(
      path, {compiled.dtype, compiled.cache, false, compiled.group},
      llvm::errs());
  if (!written) {
    return kBadInput;
  }
  if (int code = findTarget()) {
    return code;
  }
  Explained explained{*written, *target, trace, {}, std::move(measured), false};
  if (int code = count(explained)) {
    return code;
  }
  if (int code = compile()) {
    return code;
  }
  return print(explained);
}

int tfc::runExplain(const std::string &path, const ExplainOptions &options) {
  return Command(path, options).run();
}
