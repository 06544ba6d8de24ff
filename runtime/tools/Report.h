// What tfc-bench found, and how it is printed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_REPORT_H
#define TFC_RUNTIME_TOOLS_REPORT_H

#include "runtime/tools/Agreement.h"
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

/// What the requests of a generate workload waited for, in seconds. All are
/// there at the start of a run.
struct Latencies {
  Samples firstToken;     // a sample a run: all get theirs by the first step
  Samples perOutputToken; // a sample a run: mean of the tokens after the first
  Samples betweenTokens;  // a sample a step after the first, of all runs
};

/// A piece of a loop that a worker did, in seconds from the step's begin.
struct TimedPiece {
  size_t op = 0; // of Measurement::ops
  uint32_t worker = 0;
  double begin = 0, end = 0;
};

/// One workload.
struct Measurement {
  std::string workload;
  int64_t tokens = 0;    // of a step; of generate: the new ones of a run
  int64_t sequences = 0; // requests
  std::vector<Cost> steps;
  double firstSeconds = 0; // of the first run: buffers and caches are cold
  Samples seconds;         // of a run; of generate: from end to end
  /// Of a device: from the first kernel's beginning to the last one's end, by
  /// its own clock; of steps alone.
  Samples deviceSeconds;
  /// Operations a second of this machine, between runs; empty: a device's,
  /// which only a model's own products could tell.
  Samples flopsLimit;
  /// Likewise with the program's dot; empty: it has none, or the machine none.
  Samples dotLimit;
  /// Bytes a second, of a device in copies; empty: too few weights to measure.
  Samples readLimit;
  std::optional<Latencies> latencies; // of generate
  uint64_t cacheBytes = 0, workspaceBytes = 0;
  std::vector<OpTime> ops;          // with --ops
  double opsSeconds = 0;            // of a step whose ops are timed
  std::vector<TimedPiece> timeline; // of one such step; with --html

  /// Of all steps.
  Cost cost() const;
  double tokensPerSecond() const;
  double requestsPerSecond() const;
  /// Of the medians: of the operations, of the bytes, and of what this machine
  /// allows, which is for each step the larger of both. 1 is the limit.
  double flopsShare() const;
  /// Operations a second that this machine allows for these; 0: not known.
  double flopsAllowed() const;
  double readShare() const;
  double rooflineShare() const;
  /// The share of an op in what this machine allows for it.
  double rooflineShare(const OpTime &op) const;

private:
  /// The least time that this machine needs: for the operations, which take
  /// turns at its units; and for all.
  double leastArithmetic(const Cost &cost) const;
  double leastSeconds(const Cost &cost) const;
};

/// What does not depend on the workload.
struct Setting {
  std::string model, program, producer, cpu;
  /// What matrices, and keys and values, are kept in: "bf16"; none without a
  /// cache.
  std::string weights, cache;
  std::string dot;         // the instruction of products; empty: f32's
  std::string device;      // on which it runs; empty: the CPU
  bool isEmulated = false; // the program's instructions (tfc compile --emulate)
  uint32_t threads = 0;
  uint64_t libraryBytes = 0, weightBytes = 0, peakBytes = 0;
  double loadSeconds = 0;
  std::vector<Agreement> agreement; // with --reference

  /// The largest error of all outputs, and the least share of equal rows; none
  /// where no output says anything about it.
  std::optional<double> maxError() const;
  std::optional<double> equalShare() const;
  /// The least signal to noise, and the greatest divergences; likewise.
  std::optional<double> signalToNoise() const;
  std::optional<double> meanDivergence() const;
  std::optional<double> highDivergence() const;
};

/// "Intel(R) Xeon(R) Processor (family 6, model 207)".
std::string cpuName();
/// The most memory that this process has had, in bytes; 0 when not known.
uint64_t peakMemory();

std::string printTable(const Setting &setting,
                       const std::vector<Measurement> &measurements);
std::string printJson(const Setting &setting,
                      const std::vector<Measurement> &measurements);
std::string printCsv(const Setting &setting,
                     const std::vector<Measurement> &measurements);

/// A page with pictures.
std::string printHtml(const Setting &setting,
                      const std::vector<Measurement> &measurements);

std::string print(Format format, const Setting &setting,
                  const std::vector<Measurement> &measurements);

} // namespace tfc::bench

#endif // TFC_RUNTIME_TOOLS_REPORT_H
