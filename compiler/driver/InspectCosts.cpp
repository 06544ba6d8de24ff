// `tfc inspect --step`: what a step costs on a machine.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/InspectCosts.h"

#include "compiler/cost/CostSheet.h"
#include "compiler/cost/WorkOpInterface.h"
#include "compiler/driver/Compile.h"
#include "compiler/driver/CountLaunches.h"
#include "compiler/frontend/BuildModel.h"
#include "compiler/pipeline/Registration.h"
#include "compiler/pipeline/Road.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace tfc;

namespace {
/// --step, read.
struct WantedStep {
  bool isPrefill = true;
  int64_t sequences = 1, tokens = 1;
};
} // namespace

static int fail(const Twine &message, int code) {
  llvm::errs() << "tfc: error: " << message << '\n';
  return code;
}

/// Sizes that are far beyond any machine's would overflow sums.
static std::optional<WantedStep> parseStep(StringRef text) {
  constexpr int64_t limit = 1 << 24;
  auto [kind, sizes] = text.split(':');
  auto [sequences, tokens] = sizes.split('x');
  WantedStep step;
  step.isPrefill = kind == "prefill";
  bool isGood = (step.isPrefill || kind == "decode") &&
                !sequences.getAsInteger(10, step.sequences) &&
                !tokens.getAsInteger(10, step.tokens) && step.sequences > 0 &&
                step.tokens > 0 && step.sequences <= limit &&
                step.tokens <= limit && step.sequences * step.tokens <= limit;
  return isGood ? std::optional(step) : std::nullopt;
}

/// The module at the stage linalg, as any optimised program has it. Panels of
/// the level change nothing that is counted.
static OwningOpRef<ModuleOp> lowerToLinalg(const spec::ModelSpec &model,
                                           MLIRContext &context) {
  OwningOpRef<ModuleOp> module = buildModel(model, &context);
  if (!module) {
    return nullptr;
  }
  PipelineOptions options;
  options.target = *TargetInfo::findProgram("x86-64-v3");
  options.opt = OptLevel::Full;
  options.weights = static_cast<transformer::Storage>(model.storage);
  options.group = model.group;
  options.zeros = model.hasZeros;
  options.rounds = model.roundsWeights;
  setTarget(*module, options);
  PassManager pm(&context);
  for (const Arrow &arrow : findRoad(options).arrows) {
    arrow.build(pm, options);
    if (arrow.to->name == "fused") {
      // What an entry costs, its layers included.
      pm.addPass(createInlinerPass());
    }
    if (arrow.to->name == "linalg") {
      break;
    }
  }
  pm.addPass(createCSEPass());
  return succeeded(pm.run(*module)) ? std::move(module) : nullptr;
}

/// The rows that are asked for: one of each sequence, as generation and pooled
/// outputs do, or all where an encoder has an output of all.
static int64_t countWanted(func::FuncOp entry, const spec::ModelSpec &model,
                           const cost::Step &step) {
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    auto port = entry.getArgAttrOfType<transformer::OutputPortAttr>(
        i, transformer::kOutputAttrName);
    if (port && model.kind == spec::Kind::Encoder &&
        port.getRows() == transformer::RowKind::Wanted &&
        port.getTake() == transformer::Take::All) {
      return step.tokens();
    }
  }
  return step.sequences;
}

/// What `entry` is asked to do, or nothing where the step has no part of it.
static std::optional<cost::Step> stepOf(func::FuncOp entry,
                                        const spec::ModelSpec &model,
                                        const WantedStep &wanted) {
  cost::Step step;
  step.sequences = wanted.sequences;
  bool isPair = model.kind == spec::Kind::EncoderDecoder;
  step.newTokens = wanted.isPrefill ? wanted.tokens : 1;
  step.keys = wanted.tokens;
  if (isPair && entry.getName() == "encode") {
    return wanted.isPrefill ? std::optional(step) : std::nullopt;
  }
  if (isPair) {
    step.source = wanted.tokens;
    step.newTokens = 1;
    step.keys = wanted.isPrefill ? 1 : wanted.tokens;
  }
  return step;
}

static void printMachine(const cost::Machine &machine, bool isNarrow) {
  double products = isNarrow ? machine.narrowProducts : machine.f32;
  llvm::outs() << "machine " << machine.name << ": "
               << llvm::format("%.2f", products / 1e12)
               << " TFLOP/s in products of " << (isNarrow ? "16-bit" : "f32")
               << " matrices, " << llvm::format("%.2f", machine.f32 / 1e12)
               << " in the rest, "
               << llvm::format("%.3f", machine.bandwidth / 1e12)
               << " TB/s; as fast as memory from "
               << llvm::format("%.1f", products / machine.bandwidth)
               << " operations a byte on\n";
}

/// Null where they cannot be counted, which is said: the rest is no worse.
static std::unique_ptr<LaunchCounter>
countOnDevice(const spec::ModelSpec &model, const cost::Machine &machine) {
  if (machine.target.empty()) {
    return nullptr;
  }
  auto counter = LaunchCounter::create(model, machine.target);
  if (!counter) {
    llvm::errs() << "tfc: note: launches are not counted: "
                 << llvm::toString(counter.takeError()) << '\n';
    return nullptr;
  }
  return std::move(*counter);
}

static void printLaunches(const LaunchCounter *counter, StringRef entry,
                          const cost::Step &step, int64_t rows) {
  auto counts = counter ? counter->count(entry, step, rows) : std::nullopt;
  if (counts) {
    llvm::outs() << "launches of entry " << entry << ", program "
                 << counter->program() << ": " << counts->launches << " of "
                 << counts->kernels << " kernels, " << counts->blocks
                 << " blocks\n";
  }
}

static int printEntries(ModuleOp module, const spec::ModelSpec &model,
                        const WantedStep &wanted,
                        const cost::Machine &machine) {
  // Of a CPU's integers the machine's peak is not known: it is shown as if f32.
  // A device multiplies 16 bits with them.
  bool isNarrow = model.storage == spec::Storage::F16 ||
                  model.storage == spec::Storage::BF16 ||
                  (machine.isDevice && model.hasIntegers());
  auto launches = countOnDevice(model, machine);
  printMachine(machine, isNarrow);
  for (auto entry : module.getOps<func::FuncOp>()) {
    bool isEntry = entry.getName() == "step" || entry.getName() == "encode";
    std::optional<cost::Step> step =
        isEntry ? stepOf(entry, model, wanted) : std::nullopt;
    if (!step) {
      continue;
    }
    step->valueBytes = machine.isDevice && isNarrow ? 2 : 4;
    int64_t rows = countWanted(entry, model, *step);
    FailureOr<cost::CostSheet> sheet =
        cost::countCosts(entry, *step, rows, machine, isNarrow);
    if (failed(sheet)) {
      return fail("this spec was read without error, so the fault is tfc's; "
                  "please report it with the spec and the lines above",
                  kInternalError);
    }
    cost::printCosts(*sheet, llvm::outs());
    printLaunches(launches.get(), entry.getName(), *step, rows);
  }
  return kOk;
}

int tfc::runInspectCosts(const std::string &path, const CostOptions &options) {
  std::optional<WantedStep> wanted = parseStep(options.step);
  if (!wanted) {
    return fail("expected --step prefill:BxN or decode:BxN (B sequences of N "
                "tokens, as prefill:1x512), got " +
                    options.step,
                kBadCommandLine);
  }
  llvm::Expected<cost::Machine> machine =
      cost::findMachine(options.machine.empty() ? "cpu" : options.machine);
  if (!machine) {
    return fail(llvm::toString(machine.takeError()), kBadCommandLine);
  }
  std::optional<spec::ModelSpec> model = readSpecOrReport(
      path, {options.dtype, options.cache, false, options.group}, llvm::errs());
  if (!model) {
    return kBadInput;
  }
  if (!wanted->isPrefill && model->kind == spec::Kind::Encoder) {
    return fail("expected --step prefill:BxN of an encoder, which has no next "
                "token, got " +
                    options.step,
                kBadCommandLine);
  }
  if (model->maxPositions > 0 && wanted->tokens > model->maxPositions) {
    return fail("expected at most " + Twine(model->maxPositions) +
                    " positions, the model's, got " + options.step,
                kBadCommandLine);
  }
  DialectRegistry registry;
  cost::registerWorkModels(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  prepareContext(context);
  OwningOpRef<ModuleOp> module = lowerToLinalg(*model, context);
  return module ? printEntries(*module, *model, *wanted, *machine)
                : fail("this spec was read without error, so the fault is "
                       "tfc's; please report it with the spec and the lines "
                       "above",
                       kInternalError);
}
