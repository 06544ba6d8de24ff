// Statistics, and their forms.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/Report.h"

#include <algorithm>
#include <cstdarg>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sys/resource.h>

namespace tfc::bench {

using nlohmann::ordered_json;

Samples::Samples(std::vector<double> values) : sorted(std::move(values)) {
  std::sort(sorted.begin(), sorted.end());
}

double Samples::mean() const {
  return std::accumulate(sorted.begin(), sorted.end(), 0.0) /
         static_cast<double>(sorted.size());
}

double Samples::quantile(double q) const {
  double place = q * static_cast<double>(sorted.size() - 1);
  size_t below = static_cast<size_t>(place);
  size_t above = std::min(below + 1, sorted.size() - 1);
  double part = place - static_cast<double>(below);
  return sorted[below] * (1 - part) + sorted[above] * part;
}

double Measurement::tokensPerSecond() const {
  return static_cast<double>(tokens) / seconds.median();
}

double Measurement::flopsShare() const {
  return cost.flops / seconds.median() / flopsLimit.median();
}

double Measurement::readShare() const {
  return readLimit.count() == 0
             ? 0
             : cost.bytes / seconds.median() / readLimit.median();
}

double Measurement::rooflineShare() const {
  return std::max(flopsShare(), readShare());
}

double Measurement::rooflineShare(const OpTime &op) const {
  double least = op.cost->flops / flopsLimit.median();
  if (readLimit.count() > 0) {
    least = std::max(least, op.cost->bytes / readLimit.median());
  }
  return least / op.seconds;
}

std::string cpuName() {
  std::ifstream file("/proc/cpuinfo");
  std::string name = "unknown", family, model;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    size_t colon = line.find(':');
    std::string value =
        colon + 2 <= line.size() ? line.substr(colon + 2) : std::string();
    std::string key =
        line.substr(0, line.find_last_not_of("\t ", colon - 1) + 1);
    (key == "model name"   ? name
     : key == "cpu family" ? family
     : key == "model"      ? model
                           : value) = value;
  }
  return family.empty()
             ? name
             : rt::concat(name, " (family ", family, ", model ", model, ")");
}

uint64_t peakMemory() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0
             ? static_cast<uint64_t>(usage.ru_maxrss) * 1024
             : 0;
}

namespace {

__attribute__((format(printf, 1, 2))) std::string format(const char *pattern,
                                                         ...) {
  va_list arguments;
  va_start(arguments, pattern);
  char buffer[512];
  int length = vsnprintf(buffer, sizeof(buffer), pattern, arguments);
  va_end(arguments);
  return std::string(buffer, std::clamp<size_t>(static_cast<size_t>(length), 0,
                                                sizeof(buffer) - 1));
}

double megabytes(uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

std::string printOps(const Measurement &m) {
  size_t width = 16;
  for (const OpTime &op : m.ops) {
    width = std::max(width, op.name.size());
  }
  int column = static_cast<int>(width);
  std::string text =
      format("\n%s\n%-*s %6s %9s %5s %8s %7s %5s %9s %8s\n", m.workload.c_str(),
             column, "op", "calls", "ms", "time", "GFLOP/s", "GB/s", "roof",
             "imbalance", "overhead");
  double inside = 0;
  for (const OpTime &op : m.ops) {
    inside += op.seconds;
    text += format("%-*s %6.0f %9.3f %4.1f%% ", column, op.name.c_str(),
                   op.calls, op.seconds * 1e3, 100 * op.seconds / m.opsSeconds);
    text += op.cost ? format("%8.1f %7.1f %4.0f%% ",
                             op.cost->flops / op.seconds / 1e9,
                             op.cost->bytes / op.seconds / 1e9,
                             100 * m.rooflineShare(op))
                    : format("%8s %7s %5s ", "-", "-", "-");
    text +=
        format("%6.3f ms %5.3f ms\n", op.imbalance * 1e3, op.overhead * 1e3);
  }
  double outside = m.opsSeconds - inside;
  return text + format("%-*s %6s %9.3f %4.1f%%\n", column, "outside of loops",
                       "", outside * 1e3, 100 * outside / m.opsSeconds);
}

std::string printTable(const Setting &setting,
                       const std::vector<Measurement> &measurements) {
  std::string text = rt::concat(
      setting.model, ", program ", setting.program, ", ", setting.threads,
      " threads, ", setting.producer, "\n", setting.cpu, "\n",
      format("library %.2f MB, packed weights %.1f MB, loaded in %.2f s, peak "
             "memory %.1f MB\n\n",
             megabytes(setting.libraryBytes), megabytes(setting.weightBytes),
             setting.loadSeconds, megabytes(setting.peakBytes)));
  size_t width = 8;
  for (const Measurement &m : measurements) {
    width = std::max(width, m.workload.size());
  }
  int column = static_cast<int>(width);
  text += format("%-*s %9s %17s %9s %8s %13s %7s %13s %5s\n", column,
                 "workload", "ms", "least..most", "token/s", "GFLOP/s",
                 "of limit", "GB/s", "of limit", "roof");
  for (const Measurement &m : measurements) {
    double seconds = m.seconds.median();
    text += format(
        "%-*s %9.3f %8.3f..%7.3f %9.1f %8.1f %4.0f%% of %5.1f %7.1f ", column,
        m.workload.c_str(), seconds * 1e3, m.seconds.least() * 1e3,
        m.seconds.most() * 1e3, m.tokensPerSecond(),
        m.cost.flops / seconds / 1e9, 100 * m.flopsShare(),
        m.flopsLimit.median() / 1e9, m.cost.bytes / seconds / 1e9);
    text += m.readLimit.count() == 0
                ? format("%13s ", "-")
                : format("%4.0f%% of %5.1f ", 100 * m.readShare(),
                         m.readLimit.median() / 1e9);
    text += format("%4.0f%%\n", 100 * m.rooflineShare());
  }
  for (const Measurement &m : measurements) {
    text += m.ops.empty() ? std::string() : printOps(m);
  }
  return text;
}

ordered_json describe(const Samples &samples) {
  if (samples.count() == 0) {
    return nullptr;
  }
  return {{"count", samples.count()},      {"min", samples.least()},
          {"median", samples.median()},    {"mean", samples.mean()},
          {"p90", samples.quantile(0.9)},  {"p95", samples.quantile(0.95)},
          {"p99", samples.quantile(0.99)}, {"max", samples.most()}};
}

ordered_json describeOps(const Measurement &m) {
  ordered_json ops = ordered_json::array();
  for (const OpTime &op : m.ops) {
    ordered_json entry = {{"op", op.name},
                          {"calls", op.calls},
                          {"seconds", op.seconds},
                          {"imbalance_seconds", op.imbalance},
                          {"overhead_seconds", op.overhead}};
    if (op.cost) {
      entry["flops"] = op.cost->flops;
      entry["bytes"] = op.cost->bytes;
      entry["roofline_share"] = m.rooflineShare(op);
    }
    ops.push_back(std::move(entry));
  }
  return ops;
}

std::string printJson(const Setting &setting,
                      const std::vector<Measurement> &measurements) {
  ordered_json root = {{"model", setting.model},
                       {"program", setting.program},
                       {"producer", setting.producer},
                       {"cpu", setting.cpu},
                       {"threads", setting.threads},
                       {"library_bytes", setting.libraryBytes},
                       {"weight_bytes", setting.weightBytes},
                       {"peak_bytes", setting.peakBytes},
                       {"load_seconds", setting.loadSeconds}};
  root["workloads"] = ordered_json::array();
  for (const Measurement &m : measurements) {
    root["workloads"].push_back({{"workload", m.workload},
                                 {"tokens", m.tokens},
                                 {"sequences", m.sequences},
                                 {"flops", m.cost.flops},
                                 {"bytes", m.cost.bytes},
                                 {"cache_bytes", m.cacheBytes},
                                 {"workspace_bytes", m.workspaceBytes},
                                 {"seconds", describe(m.seconds)},
                                 {"flops_limit", describe(m.flopsLimit)},
                                 {"read_limit", describe(m.readLimit)},
                                 {"tokens_per_second", m.tokensPerSecond()},
                                 {"flops_share", m.flopsShare()},
                                 {"read_share", m.readShare()},
                                 {"roofline_share", m.rooflineShare()}});
    if (!m.ops.empty()) {
      root["workloads"].back()["step_seconds_with_ops"] = m.opsSeconds;
      root["workloads"].back()["ops"] = describeOps(m);
    }
  }
  return root.dump(2) + "\n";
}

/// A field of CSV; only lists of lengths need the quotes.
std::string quoteCsv(const std::string &text) {
  std::string quoted = "\"";
  for (char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

std::string printCsv(const Setting &setting,
                     const std::vector<Measurement> &measurements) {
  std::string text =
      "model,program,cpu,threads,workload,tokens,sequences,flops,bytes,"
      "repeats,seconds_min,seconds_median,seconds_p95,seconds_max,flops_limit,"
      "read_limit,flops_share,read_share,roofline_share\n";
  for (const Measurement &m : measurements) {
    text +=
        rt::concat(quoteCsv(setting.model), ",", quoteCsv(setting.program), ",",
                   quoteCsv(setting.cpu), ",", setting.threads, ",",
                   quoteCsv(m.workload), ",", m.tokens, ",", m.sequences, ",");
    text += format(
        "%.0f,%.0f,%zu,%.9f,%.9f,%.9f,%.9f,%.0f,%.0f,%.4f,%.4f,"
        "%.4f\n",
        m.cost.flops, m.cost.bytes, m.seconds.count(), m.seconds.least(),
        m.seconds.median(), m.seconds.quantile(0.95), m.seconds.most(),
        m.flopsLimit.median(), m.readLimit.count() ? m.readLimit.median() : 0.0,
        m.flopsShare(), m.readShare(), m.rooflineShare());
  }
  return text;
}

} // namespace

std::string print(Format format, const Setting &setting,
                  const std::vector<Measurement> &measurements) {
  return format == Format::Json  ? printJson(setting, measurements)
         : format == Format::Csv ? printCsv(setting, measurements)
                                 : printTable(setting, measurements);
}

} // namespace tfc::bench
