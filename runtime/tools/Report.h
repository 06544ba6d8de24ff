// What tfc-bench found, and how it is printed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_REPORT_H
#define TFC_RUNTIME_TOOLS_REPORT_H

#include "runtime/tools/BenchCommandLine.h"
#include "runtime/tools/OpTable.h"

namespace tfc::bench {

/// Samples in order of size.
class Samples {
public:
  Samples() = default;
  /// At least one.
  explicit Samples(std::vector<double> values);

  size_t count() const { return sorted.size(); }
  double least() const { return sorted.front(); }
  double most() const { return sorted.back(); }
  double median() const { return quantile(0.5); }
  double mean() const;
  /// Between neighbours in proportion; 0 <= q <= 1.
  double quantile(double q) const;

private:
  std::vector<double> sorted;
};

/// One workload.
struct Measurement {
  std::string workload;
  int64_t tokens = 0, sequences = 0;
  Cost cost;
  Samples seconds;    // of a run
  Samples flopsLimit; // operations a second of this machine, between the runs
  Samples readLimit;  // bytes a second; empty: too few weights to measure
  uint64_t cacheBytes = 0, workspaceBytes = 0;
  std::vector<OpTime> ops; // with --ops
  double opsSeconds = 0;   // of a step whose ops are timed

  double tokensPerSecond() const;
  /// Of the medians: of the operations, of the bytes, and of the larger of
  /// both, which is what this machine allows. 1 is the limit.
  double flopsShare() const;
  double readShare() const;
  double rooflineShare() const;
  /// The share of an op in what this machine allows for it.
  double rooflineShare(const OpTime &op) const;
};

/// What does not depend on the workload.
struct Setting {
  std::string model, program, producer, cpu;
  uint32_t threads = 0;
  uint64_t libraryBytes = 0, weightBytes = 0, peakBytes = 0;
  double loadSeconds = 0;
};

/// "Intel(R) Xeon(R) Processor (family 6, model 207)".
std::string cpuName();
/// The most memory that this process has had, in bytes; 0 when not known.
uint64_t peakMemory();

std::string print(Format format, const Setting &setting,
                  const std::vector<Measurement> &measurements);

} // namespace tfc::bench

#endif // TFC_RUNTIME_TOOLS_REPORT_H
