// Runs workloads, and measures them beside what the machine could do at most.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_MEASURE_H
#define TFC_RUNTIME_TOOLS_MEASURE_H

#include "runtime/tools/Generation.h"
#include "runtime/tools/Report.h"
#include "runtime/tools/Step.h"

#include <functional>

namespace tfc::bench {

/// One run of the program: the model and what is asked of it.
class Bench {
public:
  /// All three must outlive it.
  Bench(const rt::Model &model, const CostSheet &sheet, const CommandLine &line)
      : model(model), sheet(sheet), line(line), names(line.library) {}

  /// Errors: those of Step::create, Generation::create and of a run.
  rt::Result<Measurement> measure(const Workload &workload);
  /// Of all workloads so far, when one was asked for. Errors: InvalidArgument.
  rt::Status writeTrace() const;

private:
  rt::Status measureStep(const Workload &workload, Measurement &result);
  rt::Status measureGeneration(const Workload &workload, Measurement &result);
  /// Warm-up and the runs that count; `onRun` after each of these.
  rt::Status runTimed(const std::function<rt::Status()> &run,
                      const std::function<void()> &onRun, Measurement &result);
  rt::Status measureDevice(rt::Device &where, Measurement &result) const;
  /// A device's kernels, each timed.
  rt::Status runKernels(Step &step, Measurement &result);
  /// Apart from the runs that count: taking notes costs time.
  rt::Status runRecorded(Step &step, Measurement &result);

  const rt::Model &model;
  const CostSheet &sheet;
  const CommandLine &line;
  BodyNames names;
  Trace trace;
};

} // namespace tfc::bench

#endif // TFC_RUNTIME_TOOLS_MEASURE_H
