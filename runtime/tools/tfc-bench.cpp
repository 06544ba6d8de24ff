// tfc-bench: measures a compiled model, and in the same run what the machine
// could do at most.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Roofline.h"
#include "runtime/tools/Report.h"
#include "tfc/runtime.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

using namespace tfc;

namespace {

enum Exit { Ok = 0, BadInput = 1, BadCommandLine = 2, OurFault = 70 };

// Less says nothing.
constexpr int64_t leastRepeats = 3;
constexpr int64_t recordedSteps = 3;
// Of the weights, read between two runs. Windows go round, so that a large
// model's weights come from where a step finds them.
constexpr uint64_t readWindow = uint64_t(64) << 20;

void report(const std::string &message) {
  std::fprintf(stderr, "tfc-bench: error: %s\n", message.c_str());
}

Exit reportAll(const rt::Error &error) {
  std::istringstream lines(error.message);
  for (std::string line; std::getline(lines, line);) {
    report(line);
  }
  return error.code == rt::Code::Internal ? OurFault : BadInput;
}

double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Measures the machine between the runs of a step.
class Probes {
public:
  explicit Probes(const rt::Model &model) : model(model) {}

  void run() {
    flops.push_back(rt::measureFlops(model.host()));
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

  std::vector<double> flops, reads;

private:
  const rt::Model &model;
  uint64_t next = 0;
};

/// One run of the program: the model and what is asked of it.
class Bench {
public:
  Bench(const rt::Model &model, const bench::CostSheet &sheet,
        const bench::CommandLine &line)
      : model(model), sheet(sheet), line(line), names(line.library) {}

  rt::Result<bench::Measurement> measure(const bench::Workload &workload) {
    auto step = bench::Step::create(model, workload);
    if (!step) {
      return std::move(step.error());
    }
    bench::Measurement result;
    result.workload = workload.text;
    result.tokens = (*step)->numTokens();
    result.sequences = (*step)->numSequences();
    rt::Status status = runTimed(**step, result);
    for (const bench::NamedCost &op : (*step)->costs(sheet)) {
      result.cost = result.cost + op.cost;
    }
    if (status && (line.ops || !line.trace.empty())) {
      status = runRecorded(**step, result);
    }
    if (!status) {
      return std::move(status.error());
    }
    result.cacheBytes = (*step)->cacheBytes();
    result.workspaceBytes = (*step)->workspaceBytes();
    return result;
  }

  rt::Status writeTrace() const {
    return line.trace.empty() ? rt::Status() : trace.write(line.trace);
  }

private:
  rt::Status runTimed(bench::Step &step, bench::Measurement &result) {
    rt::Status status;
    for (int64_t i = 0; status && i < line.warmup; ++i) {
      status = step.run();
    }
    Probes probes(model);
    std::vector<double> seconds;
    double begin = now();
    for (int64_t i = 0; status && i < line.repeats; ++i) {
      if (i >= leastRepeats && now() - begin > line.maxSeconds) {
        break;
      }
      probes.run();
      double start = now();
      status = step.run();
      seconds.push_back(now() - start);
    }
    if (status) {
      result.seconds = bench::Samples(std::move(seconds));
      result.flopsLimit = bench::Samples(std::move(probes.flops));
      result.readLimit = bench::Samples(std::move(probes.reads));
    }
    return status;
  }

  /// Apart from the runs that count: taking notes costs time.
  rt::Status runRecorded(bench::Step &step, bench::Measurement &result) {
    bench::LoopRecorder recorder(model.host());
    step.setHost(recorder.host());
    rt::Status status = step.run();
    recorder.clear();
    int64_t steps = 0;
    double begin = now();
    for (; status && steps < recordedSteps; ++steps) {
      status = step.run();
    }
    if (!status) {
      return status;
    }
    if (line.ops) {
      result.opsSeconds = (now() - begin) / static_cast<double>(steps);
      result.ops =
          bench::makeOpTable(recorder, names, step.costs(sheet), steps);
    }
    if (!line.trace.empty()) {
      trace.add(result.workload, recorder, names);
    }
    return {};
  }

  const rt::Model &model;
  const bench::CostSheet &sheet;
  const bench::CommandLine &line;
  bench::BodyNames names;
  bench::Trace trace;
};

bench::Setting describe(const rt::Model &model, const bench::CommandLine &line,
                        double loadSeconds) {
  std::error_code ignored;
  bench::Setting setting;
  setting.model = model.table().header.name;
  setting.program = model.program().name;
  setting.producer = model.table().header.producer;
  setting.cpu = bench::cpuName();
  setting.threads = model.numThreads();
  setting.libraryBytes = std::filesystem::file_size(line.library, ignored);
  setting.weightBytes = model.weightBytes();
  setting.peakBytes = bench::peakMemory();
  setting.loadSeconds = loadSeconds;
  return setting;
}

Exit runAll(const bench::CommandLine &line) {
  rt::LoadOptions options;
  options.libraryPath = line.library;
  options.weightsPath = line.weights;
  options.packedPath = line.packed;
  options.program = line.program;
  options.threads = line.threads;
  options.randomWeights = line.random;
  double start = now();
  auto model = rt::Model::load(options);
  double loadSeconds = now() - start;
  if (!model) {
    return reportAll(model.error());
  }
  auto sheet = bench::CostSheet::read((*model)->table());
  if (!sheet) {
    return reportAll(sheet.error());
  }
  Bench bench(**model, *sheet, line);
  std::vector<bench::Measurement> measurements;
  for (const bench::Workload &workload : line.workloads.empty()
                                             ? bench::defaultWorkloads(**model)
                                             : line.workloads) {
    auto measurement = bench.measure(workload);
    if (!measurement) {
      return reportAll(measurement.error());
    }
    measurements.push_back(std::move(*measurement));
  }
  rt::Status status = bench.writeTrace();
  if (!status) {
    return reportAll(status.error());
  }
  bench::Setting setting = describe(**model, line, loadSeconds);
  std::fputs(bench::print(line.format, setting, measurements).c_str(), stdout);
  return Ok;
}

Exit mainOf(const std::vector<std::string> &arguments) {
  bench::CommandLine line = bench::readCommandLine(arguments);
  if (!line.faults.empty()) {
    for (const std::string &fault : line.faults) {
      report(fault + " (see tfc-bench --help)");
    }
    return BadCommandLine;
  }
  if (line.help) {
    std::fputs(bench::helpText, stdout);
    return Ok;
  }
  if (line.version) {
    std::printf("tfc-bench %s, ABI version %u\n", tfc_version(),
                tfc_abi_version());
    return Ok;
  }
  return runAll(line);
}

} // namespace

int main(int argc, char **argv) {
  try {
    return mainOf(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::bad_alloc &) {
    report("out of memory");
    return BadInput;
  } catch (const std::exception &fault) {
    report(fault.what());
    return OurFault;
  }
}
