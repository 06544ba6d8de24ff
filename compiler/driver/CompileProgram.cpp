// One program of a library, on its way from the spec to an object file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/CompileProgram.h"

#include "compiler/emit/EmitObject.h"
#include "compiler/frontend/BuildModel.h"
#include "compiler/pipeline/Extension.h"
#include "compiler/pipeline/Registration.h"
#include "dialect/CheckedAccess.h"
#include "dialect/PackedLayout.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tfc/abi.h"

using namespace mlir;
using namespace tfc;

bool tfc::roundsBetweenOps(const spec::ModelSpec &model) {
  return model.hasIntegers() || model.multipliesBf16 ||
         model.cache != spec::Storage::F32;
}

PipelineOptions tfc::pipelineFor(const spec::ModelSpec &model,
                                 const CompileOptions &options,
                                 TargetInfo target) {
  PipelineOptions pipeline;
  pipeline.target = std::move(target);
  pipeline.opt = options.opt == "full" ? OptLevel::Full : OptLevel::None;
  pipeline.weights = static_cast<transformer::Storage>(model.storage);
  pipeline.rounds = model.roundsWeights;
  pipeline.group = model.group;
  pipeline.zeros = model.hasZeros;
  pipeline.floatZeros = model.hasFloatZeros;
  pipeline.scales = static_cast<transformer::Storage>(model.scales);
  pipeline.deterministic = options.deterministic;
  return pipeline;
}

ProgramCompiler::ProgramCompiler(const spec::ModelSpec &model,
                                 const CompileOptions &options,
                                 PipelineOptions pipeline,
                                 std::string reproducerPath)
    : reproducerPath(std::move(reproducerPath)), pipeline(std::move(pipeline)),
      model(model), options(options), control(options),
      // A model is one function or two: threads inside of passes cost more than
      // they give.
      context(MLIRContext::Threading::DISABLED) {
  context.getDiagEngine().registerHandler(
      [this](Diagnostic &diagnostic) { report(diagnostic); });
}

/// Diagnostics of passes on a checked spec are our fault; the location is the
/// spec's path of what could not be compiled.
void ProgramCompiler::report(Diagnostic &diagnostic) {
  llvm::raw_string_ostream errors(messages);
  errors << "tfc: ";
  if (auto name = diagnostic.getLocation()->findInstanceOf<NameLoc>()) {
    errors << name.getName().getValue() << ": ";
  }
  DiagnosticSeverity severity = diagnostic.getSeverity();
  errors << (severity == DiagnosticSeverity::Error     ? "error: "
             : severity == DiagnosticSeverity::Warning ? "warning: "
                                                       : "note: ")
         << diagnostic << '\n';
  for (Diagnostic &note : diagnostic.getNotes()) {
    errors << "tfc: note: " << note << '\n';
  }
}

namespace {
/// Keeps MLIR's reproducer until it is known which program's is wanted.
struct KeptReproducer : ReproducerStream {
  KeptReproducer(std::string &text, StringRef path) : path(path), stream(text) {
    text.clear();
  }
  StringRef description() override { return path; }
  llvm::raw_ostream &os() override { return stream; }

  StringRef path;
  llvm::raw_string_ostream stream;
};
} // namespace

LogicalResult ProgramCompiler::runPasses(PassManager &pm) {
  pm.enableCrashReproducerGeneration([this](std::string &) {
    return std::make_unique<KeptReproducer>(reproducer, reproducerPath);
  });
  return pm.run(*module);
}

LogicalResult ProgramCompiler::runExtraPasses(StringRef stage) {
  for (const Extension &each : listExtensions()) {
    if (each.addPasses && each.stage == stage) {
      PassManager pm(&context);
      each.addPasses(pm);
      control.begin(context);
      if (failed(runPasses(pm))) {
        return failure();
      }
    }
  }
  auto [wanted, passes] = StringRef(options.runAfter).split(':');
  if (passes.empty() || wanted != stage) {
    return success();
  }
  PassManager pm(&context);
  llvm::raw_string_ostream errors(messages);
  return failure(failed(parsePassPipeline(passes, pm, errors)) ||
                 failed(runPasses(pm)));
}

LogicalResult ProgramCompiler::runArrow(const Arrow &arrow) {
  FailureOr<PipelineOptions> target = readTarget(*module);
  if (failed(target)) {
    return failure();
  }
  PassManager pm(&context);
  // Not after each pass, which takes a fifth of the time: tfc-verify-stage
  // ends every arrow.
  pm.enableVerifier(false);
  arrow.build(pm, *target);
  control.begin(context);
  bool tapsAgain =
      options.taps && options.fusedTaps && arrow.to->name == "fused";
  return failure(failed(runPasses(pm)) || control.hasFailed() ||
                 (tapsAgain && failed(insertTaps())) ||
                 failed(runExtraPasses(arrow.to->name)));
}

LogicalResult ProgramCompiler::insertTaps() {
  PassManager pm(&context);
  buildTaps(pm);
  return runPasses(pm);
}

/// The one pass that may find what nobody has checked: whether ranks can share
/// the model.
LogicalResult ProgramCompiler::splitRanks() {
  if (options.ranks < 2) {
    return success();
  }
  PassManager pm(&context);
  buildRanks(pm, options.ranks);
  isRefused = failed(pm.run(*module));
  return failure(isRefused);
}

void ProgramCompiler::watch(ProgramWatcher &wanted) {
  watcher = &wanted;
  control.observe(
      [&wanted](StringRef name, Operation *op) { wanted.seePass(name, op); });
}

LogicalResult ProgramCompiler::lower(StringRef last) {
  prepareContext(context);
  module = buildModel(model, &context);
  if (!module) {
    return failure();
  }
  setTarget(*module, pipeline);
  if (!options.sanitize.empty()) {
    (*module)->setAttr(transformer::kCheckedAttrName, UnitAttr::get(&context));
  }
  if (failed(splitRanks()) || failed(runExtraPasses("model"))) {
    return failure();
  }
  if (watcher) {
    watcher->seeStage("model", *module);
  }
  if (last == "model") {
    return success();
  }
  if (options.taps && failed(insertTaps())) {
    return failure();
  }
  for (const Arrow &arrow : findRoad(pipeline).arrows) {
    if (failed(runArrow(arrow))) {
      return failure();
    }
    if (watcher) {
      watcher->seeStage(arrow.to->name, *module);
    }
    if (arrow.to->name == last || control.isStopped()) {
      break;
    }
  }
  return success();
}

std::string ProgramCompiler::print() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().enableDebugInfo());
  return text;
}

ProgramRecord ProgramCompiler::record() {
  auto bytes =
      (*module)->getAttrOfType<IntegerAttr>(transformer::kPackedBytesAttrName);
  auto layout =
      (*module)->getAttrOfType<StringAttr>(transformer::kPackedLayoutAttrName);
  ProgramRecord record{pipeline.target.programName(),
                       layout ? layout.str() : "",
                       pipeline.target.programFeatures(),
                       bytes ? static_cast<uint64_t>(bytes.getInt()) : 0,
                       isaOf(pipeline.target.machine)};
  // An entry has a function that says the bytes of its workspace.
  record.entries = llvm::count_if(*module->getBody(), [](Operation &op) {
    auto role =
        op.getAttrOfType<transformer::RoleAttr>(transformer::kRoleAttrName);
    return role && role.getKind() == transformer::RoleKind::WorkspaceBytes;
  });
  for (auto binary : module->getOps<gpu::BinaryOp>()) {
    auto image = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    record.isa = transformer::Isa::Cuda;
    record.kernels = image.getKernels().size();
    record.images = binary.getObjects().size();
  }
  return record;
}

LogicalResult ProgramCompiler::finish(ArrayRef<ProgramRecord> programs) {
  Builder b(&context);
  SmallVector<Attribute> records;
  for (const ProgramRecord &each : programs) {
    records.push_back(transformer::ProgramAttr::get(
        &context, each.name, static_cast<int64_t>(each.features), each.layout,
        static_cast<int64_t>(each.packedBytes), each.isa,
        static_cast<int64_t>(each.entries), static_cast<int64_t>(each.kernels),
        static_cast<int64_t>(each.images)));
  }
  (*module)->setAttr(transformer::kProgramsAttrName, b.getArrayAttr(records));
  StringRef query = TFC_MODULE_QUERY_SYMBOL;
  if (!options.symbol.empty()) {
    query = options.symbol;
    (*module)->setAttr(transformer::kQueryAttrName, b.getStringAttr(query));
  }
  if (failed(runArrow(findRoad(pipeline).arrows.back()))) {
    return failure();
  }
  if (failed(emitObject(*module, pipeline.target, query, code))) {
    reproducer = print();
    return failure();
  }
  return success();
}
