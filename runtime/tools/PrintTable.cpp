// The table of tfc-bench.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/FormatText.h"
#include "runtime/tools/Report.h"

#include <algorithm>

namespace tfc::bench {

using tools::formatText;

namespace {

double megabytes(uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

std::string printOps(const Measurement &m) {
  size_t width = 16;
  for (const OpTime &op : m.ops) {
    width = std::max(width, op.name.size());
  }
  int column = static_cast<int>(width);
  std::string text =
      formatText("\n%s\n%-*s %6s %9s %5s %8s %7s %5s %9s %8s\n",
                 m.workload.c_str(), column, "op", "calls", "ms", "time",
                 "GFLOP/s", "GB/s", "roof", "imbalance", "overhead");
  double inside = 0;
  for (const OpTime &op : m.ops) {
    inside += op.seconds;
    text +=
        formatText("%-*s %6.0f %9.3f %4.1f%% ", column, op.name.c_str(),
                   op.calls, op.seconds * 1e3, 100 * op.seconds / m.opsSeconds);
    text += op.cost ? formatText("%8.1f %7.1f %4.0f%% ",
                                 op.cost->flops / op.seconds / 1e9,
                                 op.cost->bytes / op.seconds / 1e9,
                                 100 * m.rooflineShare(op))
                    : formatText("%8s %7s %5s ", "-", "-", "-");
    text += formatText("%6.3f ms %5.3f ms\n", op.imbalance * 1e3,
                       op.overhead * 1e3);
  }
  double outside = m.opsSeconds - inside;
  return text + formatText("%-*s %6s %9.3f %4.1f%%\n", column,
                           "outside of loops", "", outside * 1e3,
                           100 * outside / m.opsSeconds);
}

/// What every table begins with.
int nameColumn(const std::vector<Measurement> &measurements) {
  size_t width = 8;
  for (const Measurement &m : measurements) {
    width = std::max(width, m.workload.size());
  }
  return static_cast<int>(width);
}

/// Of a limit a second; 0: it was not measured.
std::string printShare(double share, double limit) {
  return limit == 0 ? formatText("%13s ", "-")
                    : formatText("%4.0f%% of %5.1f ", 100 * share, limit / 1e9);
}

/// What of these times was the device's; nothing on a CPU.
std::string printDevice(const std::vector<Measurement> &measurements) {
  int column = nameColumn(measurements);
  std::string text;
  for (const Measurement &m : measurements) {
    if (m.deviceSeconds.count() == 0) {
      continue;
    }
    if (text.empty()) {
      text = formatText("\n%-*s %9s %17s %8s %8s\n", column, "kernels", "ms",
                        "least..most", "of step", "GB/s");
    }
    double seconds = m.deviceSeconds.median();
    text += formatText(
        "%-*s %9.3f %8.3f..%7.3f %7.0f%% %8.1f\n", column, m.workload.c_str(),
        seconds * 1e3, m.deviceSeconds.least() * 1e3,
        m.deviceSeconds.most() * 1e3, 100 * seconds / m.seconds.median(),
        m.cost().bytes / seconds / 1e9);
  }
  return text;
}

std::string printRuns(const std::vector<Measurement> &measurements) {
  int column = nameColumn(measurements);
  std::string text =
      formatText("%-*s %9s %17s %9s %8s %13s %7s %13s %5s\n", column,
                 "workload", "ms", "least..most", "token/s", "GFLOP/s",
                 "of limit", "GB/s", "of limit", "roof");
  for (const Measurement &m : measurements) {
    double seconds = m.seconds.median();
    Cost cost = m.cost();
    text += formatText("%-*s %9.3f %8.3f..%7.3f %9.1f %8.1f ", column,
                       m.workload.c_str(), seconds * 1e3,
                       m.seconds.least() * 1e3, m.seconds.most() * 1e3,
                       m.tokensPerSecond(), cost.flops / seconds / 1e9);
    text += printShare(m.flopsShare(), m.flopsAllowed());
    text += formatText("%7.1f ", cost.bytes / seconds / 1e9);
    text += printShare(m.readShare(),
                       m.readLimit.count() ? m.readLimit.median() : 0);
    text += formatText("%4.0f%%\n", 100 * m.rooflineShare());
  }
  return text;
}

/// The distribution of each, and its memory.
std::string printSpread(const std::vector<Measurement> &measurements) {
  int column = nameColumn(measurements);
  std::string text =
      formatText("\n%-*s %9s %9s %9s %9s %9s %9s %10s %9s %9s\n", column,
                 "workload", "first ms", "mean ms", "p50 ms", "p90 ms",
                 "p95 ms", "p99 ms", "requests/s", "cache MB", "work MB");
  for (const Measurement &m : measurements) {
    text += formatText(
        "%-*s %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f %10.2f %9.2f %9.2f\n", column,
        m.workload.c_str(), m.firstSeconds * 1e3, m.seconds.mean() * 1e3,
        m.seconds.median() * 1e3, m.seconds.quantile(0.9) * 1e3,
        m.seconds.quantile(0.95) * 1e3, m.seconds.quantile(0.99) * 1e3,
        m.requestsPerSecond(), megabytes(m.cacheBytes),
        megabytes(m.workspaceBytes));
  }
  return text;
}

std::string printLatencies(const std::vector<Measurement> &measurements) {
  int column = nameColumn(measurements);
  std::string text;
  for (const Measurement &m : measurements) {
    if (!m.latencies) {
      continue;
    }
    if (text.empty()) {
      text = formatText("\n%-*s %-22s %9s %9s %9s %9s\n", column, "workload",
                        "latency", "p50 ms", "p90 ms", "p95 ms", "p99 ms");
    }
    for (auto [name, samples] :
         {std::pair{"time to first token", &m.latencies->firstToken},
          std::pair{"time per output token", &m.latencies->perOutputToken},
          std::pair{"between two tokens", &m.latencies->betweenTokens}}) {
      if (samples->count() > 0) {
        text += formatText(
            "%-*s %-22s %9.3f %9.3f %9.3f %9.3f\n", column, m.workload.c_str(),
            name, samples->median() * 1e3, samples->quantile(0.9) * 1e3,
            samples->quantile(0.95) * 1e3, samples->quantile(0.99) * 1e3);
      }
    }
  }
  return text;
}

std::string printAgreement(const Agreement &output) {
  std::string text = "\nagreement of " + output.output + ":";
  if (output.maxError) {
    text += formatText(" differs by %.2e at most (largest value %.2e)",
                       *output.maxError, *output.largest);
  }
  if (output.rows > 0) {
    text +=
        rt::concat(output.maxError ? ", same choice in " : " same token in ",
                   output.equalRows, " of ", output.rows);
  }
  if (output.signalToNoise) {
    text += formatText(", %.1f dB", *output.signalToNoise);
  }
  if (output.meanDivergence) {
    text += formatText(", KL %.2g (p99 %.2g)", *output.meanDivergence,
                       *output.highDivergence);
  }
  return text;
}

} // namespace

std::string printTable(const Setting &setting,
                       const std::vector<Measurement> &measurements) {
  std::string text = rt::concat(
      setting.model, ", program ", setting.program, ", ", setting.threads,
      " threads, ", setting.producer, "\n",
      setting.device.empty() ? "" : setting.device + "\nhost ", setting.cpu,
      "\n",
      formatText(
          "library %.2f MB, packed weights %.1f MB (%s), loaded in %.2f s, "
          "peak memory %.1f MB",
          megabytes(setting.libraryBytes), megabytes(setting.weightBytes),
          setting.weights.c_str(), setting.loadSeconds,
          megabytes(setting.peakBytes)),
      setting.cache.empty() ? "" : ", cache " + setting.cache,
      setting.dot.empty() ? "" : ", products by " + setting.dot,
      setting.isEmulated ? ", instructions emulated" : "");
  for (const Agreement &output : setting.agreement) {
    text += printAgreement(output);
  }
  text += "\n\n" + printRuns(measurements) + printDevice(measurements) +
          printSpread(measurements) + printLatencies(measurements);
  for (const Measurement &m : measurements) {
    text += m.ops.empty() ? std::string() : printOps(m);
  }
  return text;
}

} // namespace tfc::bench
