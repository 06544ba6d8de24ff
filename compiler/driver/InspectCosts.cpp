// `tfc inspect --step`: what a step costs on a machine.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/InspectCosts.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/CountLaunches.h"
#include "compiler/driver/ReadModel.h"
#include "compiler/driver/StepCosts.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace tfc;

static int fail(const Twine &message, int code) {
  llvm::errs() << "tfc: error: " << message << '\n';
  return code;
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

static int failInternally() {
  return fail("this spec was read without error, so the fault is tfc's; please "
              "report it with the spec and the lines above",
              kInternalError);
}

static int printEntries(const spec::ModelSpec &model, const WantedStep &wanted,
                        const cost::Machine &machine) {
  std::unique_ptr<StepCosts> costs = StepCosts::create(model);
  if (!costs) {
    return failInternally();
  }
  auto launches = countOnDevice(model, machine);
  printMachine(machine, costs->isNarrow(machine));
  auto entries = costs->count(wanted, machine);
  if (failed(entries)) {
    return failInternally();
  }
  for (const EntryCost &entry : *entries) {
    cost::printCosts(entry.sheet, llvm::outs());
    printLaunches(launches.get(), entry.sheet.entry, entry.step, entry.rows);
  }
  return kOk;
}

int tfc::runInspectCosts(const std::string &path, const CostOptions &options) {
  std::optional<WantedStep> wanted = WantedStep::parse(options.step);
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
  std::optional<spec::ModelSpec> model = readModelOrReport(
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
  return printEntries(*model, *wanted, *machine);
}
