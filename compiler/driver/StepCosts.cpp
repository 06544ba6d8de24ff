// What the entries of a model cost in a step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/StepCosts.h"

#include "compiler/cost/WorkOpInterface.h"
#include "compiler/driver/CompileProgram.h"
#include "compiler/frontend/BuildModel.h"
#include "compiler/pipeline/Registration.h"
#include "compiler/pipeline/Road.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tfc;

std::optional<WantedStep> WantedStep::parse(StringRef text) {
  // Sizes that are far beyond any machine's would overflow sums.
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

std::string WantedStep::text() const {
  return (isPrefill ? "prefill:" : "decode:") + std::to_string(sequences) +
         "x" + std::to_string(tokens);
}

/// The module at the stage linalg. Panels of the level change nothing that is
/// counted.
static OwningOpRef<ModuleOp> lowerToLinalg(const spec::ModelSpec &model,
                                           MLIRContext &context) {
  OwningOpRef<ModuleOp> module = buildModel(model, &context);
  if (!module) {
    return nullptr;
  }
  PipelineOptions options =
      pipelineFor(model, {}, *TargetInfo::findProgram("x86-64-v3"));
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

StepCosts::StepCosts(const spec::ModelSpec &model) : model(model) {
  DialectRegistry registry;
  cost::registerWorkModels(registry);
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  prepareContext(*context);
}

std::unique_ptr<StepCosts> StepCosts::create(const spec::ModelSpec &model) {
  std::unique_ptr<StepCosts> costs(new StepCosts(model));
  costs->module = lowerToLinalg(model, *costs->context);
  return costs->module ? std::move(costs) : nullptr;
}

bool StepCosts::isNarrow(const cost::Machine &machine) const {
  return model.storage == spec::Storage::F16 ||
         model.storage == spec::Storage::BF16 ||
         (machine.isDevice && model.hasIntegers());
}

FailureOr<std::vector<EntryCost>>
StepCosts::count(const WantedStep &wanted, const cost::Machine &machine) const {
  std::vector<EntryCost> entries;
  ModuleOp root = *module;
  for (auto entry : root.getOps<func::FuncOp>()) {
    bool isEntry = entry.getName() == "step" || entry.getName() == "encode";
    std::optional<cost::Step> step =
        isEntry ? stepOf(entry, model, wanted) : std::nullopt;
    if (!step) {
      continue;
    }
    step->valueBytes = machine.isDevice && isNarrow(machine) ? 2 : 4;
    int64_t rows = countWanted(entry, model, *step);
    FailureOr<cost::CostSheet> sheet =
        cost::countCosts(entry, *step, rows, machine, isNarrow(machine));
    if (failed(sheet)) {
      return failure();
    }
    entries.push_back({*step, rows, std::move(*sheet)});
  }
  return entries;
}
