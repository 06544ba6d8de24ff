// The CSV of tfc-bench: a row a workload.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/FormatText.h"
#include "runtime/tools/Report.h"

namespace tfc::bench {

using tools::formatText;

namespace {

/// A field of CSV; only lists of lengths need the quotes.
std::string quoteCsv(const std::string &text) {
  std::string quoted = "\"";
  for (char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

/// A number, or an empty field.
std::string numberCsv(std::optional<double> number) {
  return number ? formatText(",%.9g", *number) : ",";
}

/// Median, p90, p95, p99; empty fields without samples.
std::string quantilesCsv(const Samples *samples) {
  std::string text;
  for (double q : {0.5, 0.9, 0.95, 0.99}) {
    text += numberCsv(samples && samples->count() > 0
                          ? std::optional<double>(samples->quantile(q))
                          : std::nullopt);
  }
  return text;
}

} // namespace

std::string printCsv(const Setting &setting,
                     const std::vector<Measurement> &measurements) {
  std::string text =
      "model,program,cpu,threads,workload,tokens,sequences,flops,bytes,"
      "repeats,seconds_min,seconds_median,seconds_p95,seconds_max,flops_limit,"
      "read_limit,flops_share,read_share,roofline_share,first_seconds,"
      "seconds_mean,seconds_p90,seconds_p99,tokens_per_second,"
      "requests_per_second,cache_bytes,workspace_bytes,weight_bytes,"
      "library_bytes,peak_bytes,load_seconds";
  for (const char *latency : {"time_to_first_token", "time_per_output_token",
                              "inter_token_latency"}) {
    for (const char *quantile : {"_median", "_p90", "_p95", "_p99"}) {
      text += rt::concat(",", latency, quantile);
    }
  }
  text += ",reference_max_error,reference_equal_share,weights,cache,execution,"
          "reference_snr_db,reference_mean_kl,reference_p99_kl,dot,dot_flops,"
          "dot_limit\n";
  for (const Measurement &m : measurements) {
    Cost cost = m.cost();
    text +=
        rt::concat(quoteCsv(setting.model), ",", quoteCsv(setting.program), ",",
                   quoteCsv(setting.cpu), ",", setting.threads, ",",
                   quoteCsv(m.workload), ",", m.tokens, ",", m.sequences, ",");
    text += formatText(
        "%.0f,%.0f,%zu,%.9f,%.9f,%.9f,%.9f,%.0f,%.0f,%.4f,%.4f,%.4f",
        cost.flops, cost.bytes, m.seconds.count(), m.seconds.least(),
        m.seconds.median(), m.seconds.quantile(0.95), m.seconds.most(),
        m.flopsLimit.count() ? m.flopsLimit.median() : 0.0,
        m.readLimit.count() ? m.readLimit.median() : 0.0, m.flopsShare(),
        m.readShare(), m.rooflineShare());
    for (double value : {m.firstSeconds, m.seconds.mean(),
                         m.seconds.quantile(0.9), m.seconds.quantile(0.99),
                         m.tokensPerSecond(), m.requestsPerSecond()}) {
      text += numberCsv(value);
    }
    text += rt::concat(",", m.cacheBytes, ",", m.workspaceBytes, ",",
                       setting.weightBytes, ",", setting.libraryBytes, ",",
                       setting.peakBytes, numberCsv(setting.loadSeconds));
    const Latencies *latencies = m.latencies ? &*m.latencies : nullptr;
    text += quantilesCsv(latencies ? &latencies->firstToken : nullptr) +
            quantilesCsv(latencies ? &latencies->perOutputToken : nullptr) +
            quantilesCsv(latencies ? &latencies->betweenTokens : nullptr) +
            numberCsv(setting.maxError()) + numberCsv(setting.equalShare()) +
            "," + quoteCsv(setting.weights) + "," + quoteCsv(setting.cache) +
            (setting.isEmulated ? ",emulated" : ",native") +
            numberCsv(setting.signalToNoise()) +
            numberCsv(setting.meanDivergence()) +
            numberCsv(setting.highDivergence()) + "," + quoteCsv(setting.dot) +
            formatText(",%.0f,%.0f\n", cost.dots,
                       m.dotLimit.count() ? m.dotLimit.median() : 0.0);
  }
  return text;
}

} // namespace tfc::bench
