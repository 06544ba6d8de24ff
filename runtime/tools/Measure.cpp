// Measures workloads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/Measure.h"

#include "runtime/src/DotProbes.h"
#include "runtime/src/Roofline.h"
#include "runtime/tools/Clock.h"

#include <algorithm>
#include <map>

namespace tfc::bench {

// Less says nothing.
static constexpr int64_t leastRepeats = 3;
static constexpr int64_t recordedSteps = 3;
// Of the weights, read between two runs. Windows go round, so that a large
// model's weights come from where a step finds them.
static constexpr uint64_t readWindow = uint64_t(64) << 20;

namespace {

/// Measures the machine between the runs of a step.
class Probes {
public:
  Probes(const rt::Model &model, rt::Dot dot) : model(model), dot(dot) {}

  void run() {
    if (!model.isOnHost()) {
      return;
    }
    flops.push_back(rt::measureFlops(model.host()));
    if (double rate = rt::measureDots(model.host(), dot); rate > 0) {
      dots.push_back(rate);
    }
    uint64_t bytes = std::min(readWindow, model.weightBytes());
    if (next + bytes > model.weightBytes()) {
      next = 0;
    }
    auto *data = static_cast<const uint8_t *>(model.weights());
    double rate = rt::measureReads(model.host(), data + next, bytes);
    next += bytes;
    if (rate > 0) {
      reads.push_back(rate);
    }
  }

  std::vector<double> flops, dots, reads;

private:
  const rt::Model &model;
  rt::Dot dot;
  uint64_t next = 0;
};

} // namespace

rt::Result<Measurement> Bench::measure(const Workload &workload) {
  Measurement result;
  result.workload = workload.text;
  rt::Status status = workload.kind == Kind::Generate
                          ? measureGeneration(workload, result)
                          : measureStep(workload, result);
  if (!status) {
    return std::move(status.error());
  }
  return result;
}

rt::Status Bench::measureStep(const Workload &workload, Measurement &result) {
  auto step = Step::create(model, workload);
  if (!step) {
    return std::move(step.error());
  }
  result.tokens = (*step)->numTokens();
  result.sequences = (*step)->numSequences();
  Cost cost;
  for (const NamedCost &op : (*step)->costs(sheet)) {
    cost = cost + op.cost;
  }
  result.steps = {cost};
  rt::Device &where = (*step)->where();
  where.setTiming(rt::Timing::Step);
  std::vector<double> onDevice;
  rt::Status status = runTimed([&] { return (*step)->run(); },
                               [&] {
                                 if (auto times = (*step)->times()) {
                                   onDevice.push_back(times->seconds);
                                 }
                               },
                               result);
  if (status && !onDevice.empty()) {
    result.deviceSeconds = Samples(std::move(onDevice));
    status = measureDevice(where, result);
  }
  if (status && (line.ops || !line.trace.empty())) {
    status = runRecorded(**step, result);
  }
  result.cacheBytes = (*step)->cacheBytes();
  result.workspaceBytes = (*step)->workspaceBytes();
  return status;
}

/// A device's memory has nothing to do between two runs, so once is enough.
rt::Status Bench::measureDevice(rt::Device &where, Measurement &result) const {
  constexpr uint64_t least = uint64_t(1) << 20, most = uint64_t(256) << 20;
  auto rate = where.measureCopies(std::clamp(model.weightBytes(), least, most));
  if (!rate) {
    return std::move(rate.error());
  }
  if (*rate > 0) {
    result.readLimit = Samples({*rate});
  }
  return {};
}

rt::Status Bench::measureGeneration(const Workload &workload,
                                    Measurement &result) {
  auto generation = Generation::create(model, workload);
  if (!generation) {
    return std::move(generation.error());
  }
  result.sequences = (*generation)->numSequences();
  result.tokens = result.sequences * workload.newTokens;
  result.steps = (*generation)->costs(sheet);
  std::vector<double> first, between, perToken;
  rt::Status status =
      runTimed([&] { return (*generation)->run(); },
               [&] {
                 const std::vector<double> &ends = (*generation)->stepEnds();
                 first.push_back(ends.front());
                 for (size_t i = 1; i < ends.size(); ++i) {
                   between.push_back(ends[i] - ends[i - 1]);
                 }
                 if (ends.size() > 1) {
                   perToken.push_back((ends.back() - ends.front()) /
                                      static_cast<double>(ends.size() - 1));
                 }
               },
               result);
  if (status) {
    result.latencies = {Samples(std::move(first)), Samples(std::move(perToken)),
                        Samples(std::move(between))};
  }
  result.cacheBytes = (*generation)->cacheBytes();
  result.workspaceBytes = (*generation)->workspaceBytes();
  return status;
}

rt::Status Bench::runTimed(const std::function<rt::Status()> &run,
                           const std::function<void()> &onRun,
                           Measurement &result) {
  double begin = now();
  rt::Status status = run();
  result.firstSeconds = now() - begin;
  for (int64_t i = 1; status && i < line.warmup; ++i) {
    status = run();
  }
  Probes probes(model, sheet.dot());
  std::vector<double> seconds;
  if (status && line.warmup == 0) {
    seconds.push_back(result.firstSeconds);
    onRun();
    probes.run();
  }
  begin = now();
  while (status && static_cast<int64_t>(seconds.size()) < line.repeats) {
    if (static_cast<int64_t>(seconds.size()) >= leastRepeats &&
        now() - begin > line.maxSeconds) {
      break;
    }
    probes.run();
    double start = now();
    status = run();
    seconds.push_back(now() - start);
    if (status) {
      onRun();
    }
  }
  if (status) {
    result.seconds = Samples(std::move(seconds));
    if (model.isOnHost()) {
      result.flopsLimit = Samples(std::move(probes.flops));
      result.dotLimit = Samples(std::move(probes.dots));
      result.readLimit = Samples(std::move(probes.reads));
    }
  }
  return status;
}

/// What the workers did from a time on.
static std::vector<TimedPiece> makeTimeline(const LoopRecorder &recorder,
                                            const BodyNames &names,
                                            const std::vector<OpTime> &ops,
                                            double from) {
  std::map<tfc_body_fn, size_t> numbers;
  for (const LoopTotal &total : recorder.totals()) {
    std::string name = opOfSymbol(names.name(total.body));
    auto found = std::find_if(ops.begin(), ops.end(), [&](const OpTime &op) {
      return op.name == name;
    });
    numbers[total.body] = static_cast<size_t>(found - ops.begin());
  }
  std::vector<TimedPiece> timeline;
  for (const std::vector<Piece> &pieces : recorder.pieces()) {
    for (const Piece &piece : pieces) {
      if (piece.begin >= from) {
        timeline.push_back({numbers.at(piece.body), piece.worker,
                            piece.begin - from, piece.end - from});
      }
    }
  }
  return timeline;
}

/// A kernel is a row of the table: how often, and how long by the device's
/// clock.
static void addKernels(const rt::StepTimes &times, double steps,
                       std::vector<OpTime> &ops) {
  for (const rt::KernelTime &kernel : times.kernels) {
    auto found = std::find_if(ops.begin(), ops.end(), [&](const OpTime &op) {
      return op.name == kernel.kernel;
    });
    OpTime &op = found == ops.end() ? ops.emplace_back() : *found;
    op.name = kernel.kernel;
    op.calls += 1 / steps;
    op.seconds += kernel.seconds / steps;
  }
}

rt::Status Bench::runKernels(Step &step, Measurement &result) {
  step.where().setTiming(rt::Timing::Kernels);
  rt::Status status = step.run();
  double steps = recordedSteps;
  for (int64_t i = 0; status && i < recordedSteps; ++i) {
    status = step.run();
    auto times = status ? step.times() : std::nullopt;
    if (times) {
      result.opsSeconds += times->seconds / steps;
      addKernels(*times, steps, result.ops);
    }
  }
  return status;
}

rt::Status Bench::runRecorded(Step &step, Measurement &result) {
  if (!model.isOnHost()) {
    return runKernels(step, result);
  }
  LoopRecorder recorder(model.host());
  step.setHost(recorder.host());
  rt::Status status = step.run();
  recorder.clear();
  int64_t steps = 0;
  double begin = now(), lastBegin = begin;
  for (; status && steps < recordedSteps; ++steps) {
    lastBegin = now();
    status = step.run();
  }
  if (!status) {
    return status;
  }
  if (line.ops) {
    result.opsSeconds = (now() - begin) / static_cast<double>(steps);
    result.ops = makeOpTable(recorder, names, step.costs(sheet), steps);
  }
  if (!line.html.empty()) {
    result.timeline = makeTimeline(recorder, names, result.ops, lastBegin);
  }
  if (!line.trace.empty()) {
    trace.add(result.workload, recorder, names);
  }
  return {};
}

rt::Status Bench::writeTrace() const {
  return line.trace.empty() ? rt::Status() : trace.write(line.trace);
}

} // namespace tfc::bench
