// tfc-bench: measures a compiled model, and in the same run what the machine
// could do at most.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/FileBeside.h"
#include "runtime/src/load/ModuleTables.h"
#include "runtime/src/step/Device.h"
#include "runtime/tools/Clock.h"
#include "runtime/tools/LostFiles.h"
#include "runtime/tools/Measure.h"
#include "tfc/runtime.h"

#include <cstdio>
#include <filesystem>

using namespace tfc;

namespace {

enum Exit { Ok = 0, BadInput = 1, BadCommandLine = 2, OurFault = 70 };

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

/// What keys and values are kept in that stay from step to step.
std::string cacheType(const rt::Model &model) {
  const tfc_entry_v0 *step = model.decoder();
  if (!step || rt::findCache(*step, TFC_CACHE_SELF) < 0) {
    return "";
  }
  uint32_t dtype = rt::cacheOf(*step, TFC_CACHE_SELF).dtype;
  return dtype == TFC_DTYPE_F32   ? "f32"
         : dtype == TFC_DTYPE_F16 ? "f16"
         : dtype == TFC_DTYPE_I8  ? "int8"
                                  : "bf16";
}

/// Whether the program is of a CPU that this may not be (tfc compile
/// --emulate).
bool isEmulated(const std::string &program) {
  const std::string end = "-emulated";
  return program.size() >= end.size() &&
         program.compare(program.size() - end.size(), end.size(), end) == 0;
}

bench::Setting describe(const rt::Model &model, const bench::CostSheet &sheet,
                        const bench::CommandLine &line, double loadSeconds) {
  std::error_code ignored;
  bench::Setting setting;
  setting.model = model.table().header.name;
  setting.program = model.program().name;
  setting.producer = model.table().header.producer;
  setting.weights = sheet.weightType();
  setting.cache = cacheType(model);
  setting.dot = rt::nameOf(sheet.dot());
  setting.device = model.makeDevice()->describe();
  setting.isEmulated = isEmulated(setting.program);
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
  double start = bench::now();
  auto model = rt::Model::load(options);
  double loadSeconds = bench::now() - start;
  if (!model) {
    return reportAll(model.error());
  }
  if (!(*model)->isOnHost() && !line.trace.empty()) {
    return reportAll(rt::makeError(rt::Code::Unsupported, line.library,
                                   ": expected a program for CPUs with --trace "
                                   "(what its workers do), got ",
                                   (*model)->program().name,
                                   "; choose with --program cpu"));
  }
  if (!(*model)->packedFault().empty()) {
    std::fprintf(stderr, "tfc-bench: warning: %s\n",
                 (*model)->packedFault().c_str());
  }
  auto sheet = bench::CostSheet::read((*model)->table(), (*model)->program());
  if (!sheet) {
    return reportAll(sheet.error());
  }
  std::vector<bench::Agreement> agreement;
  if (!line.reference.empty()) {
    auto compared = bench::compareOutputs(**model, line.inputs, line.reference);
    if (!compared) {
      return reportAll(compared.error());
    }
    agreement = std::move(*compared);
  }
  bench::Bench bench(**model, *sheet, line);
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
  bench::Setting setting = describe(**model, *sheet, line, loadSeconds);
  setting.agreement = std::move(agreement);
  if (!line.html.empty()) {
    status = rt::writeFile(line.html, bench::printHtml(setting, measurements));
    if (!status) {
      return reportAll(status.error());
    }
  }
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
  if (!line.completion.empty()) {
    std::fputs(line.completion.c_str(), stdout);
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
  tools::reportLostFiles("tfc-bench");
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
