// Statistics, and what follows from them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/Report.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sys/resource.h>

namespace tfc::bench {

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

Cost Measurement::cost() const {
  return std::accumulate(steps.begin(), steps.end(), Cost());
}

double Measurement::requestsPerSecond() const {
  return static_cast<double>(sequences) / seconds.median();
}

double Measurement::tokensPerSecond() const {
  return static_cast<double>(tokens) / seconds.median();
}

double Measurement::leastArithmetic(const Cost &cost) const {
  if (flopsLimit.count() == 0) {
    return 0;
  }
  double dots = dotLimit.count() == 0 ? 0 : cost.dots;
  return (cost.flops - dots) / flopsLimit.median() +
         (dots > 0 ? dots / dotLimit.median() : 0);
}

double Measurement::flopsShare() const {
  return leastArithmetic(cost()) / seconds.median();
}

double Measurement::flopsAllowed() const {
  double least = leastArithmetic(cost());
  return least > 0 ? cost().flops / least : 0;
}

double Measurement::readShare() const {
  return readLimit.count() == 0
             ? 0
             : cost().bytes / seconds.median() / readLimit.median();
}

double Measurement::leastSeconds(const Cost &cost) const {
  double least = leastArithmetic(cost);
  return readLimit.count() == 0
             ? least
             : std::max(least, cost.bytes / readLimit.median());
}

double Measurement::rooflineShare() const {
  double least = 0;
  for (const Cost &step : steps) {
    least += leastSeconds(step);
  }
  return least / seconds.median();
}

double Measurement::rooflineShare(const OpTime &op) const {
  return leastSeconds(*op.cost) / op.seconds;
}

std::optional<double> Setting::equalShare() const {
  std::optional<double> least;
  for (const Agreement &output : agreement) {
    if (output.rows > 0) {
      least =
          std::min(least.value_or(1), static_cast<double>(output.equalRows) /
                                          static_cast<double>(output.rows));
    }
  }
  return least;
}

std::optional<double> Setting::signalToNoise() const {
  std::optional<double> least;
  for (const Agreement &output : agreement) {
    if (output.signalToNoise) {
      least = std::min(least.value_or(*output.signalToNoise),
                       *output.signalToNoise);
    }
  }
  return least;
}

/// The greatest of the outputs that have one.
static std::optional<double>
greatestOf(const std::vector<Agreement> &agreement,
           std::optional<double> Agreement::*member) {
  std::optional<double> most;
  for (const Agreement &output : agreement) {
    if (output.*member) {
      most = std::max(most.value_or(0), *(output.*member));
    }
  }
  return most;
}

std::optional<double> Setting::maxError() const {
  return greatestOf(agreement, &Agreement::maxError);
}

std::optional<double> Setting::meanDivergence() const {
  return greatestOf(agreement, &Agreement::meanDivergence);
}

std::optional<double> Setting::highDivergence() const {
  return greatestOf(agreement, &Agreement::highDivergence);
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

std::string print(Format format, const Setting &setting,
                  const std::vector<Measurement> &measurements) {
  return format == Format::Json  ? printJson(setting, measurements)
         : format == Format::Csv ? printCsv(setting, measurements)
                                 : printTable(setting, measurements);
}

} // namespace tfc::bench
