// The JSON of tfc-bench.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/Report.h"

#include <nlohmann/json.hpp>

namespace tfc::bench {

using nlohmann::ordered_json;

namespace {

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
      entry["dot_flops"] = op.cost->dots;
      entry["bytes"] = op.cost->bytes;
      entry["roofline_share"] = m.rooflineShare(op);
    }
    ops.push_back(std::move(entry));
  }
  return ops;
}

ordered_json describeAgreement(const std::vector<Agreement> &outputs) {
  ordered_json list = ordered_json::array();
  for (const Agreement &output : outputs) {
    ordered_json entry = {{"output", output.output}};
    if (output.maxError) {
      entry["max_error"] = *output.maxError;
      entry["largest"] = *output.largest;
    }
    entry["rows"] = output.rows;
    entry["equal_rows"] = output.equalRows;
    if (output.signalToNoise) {
      entry["snr_db"] = *output.signalToNoise; // null: nothing differs
    }
    if (output.meanDivergence) {
      entry["mean_kl"] = *output.meanDivergence;
      entry["p99_kl"] = *output.highDivergence;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

} // namespace

std::string printJson(const Setting &setting,
                      const std::vector<Measurement> &measurements) {
  ordered_json root = {
      {"model", setting.model},
      {"program", setting.program},
      {"producer", setting.producer},
      {"weights", setting.weights},
      {"cache", setting.cache},
      {"dot", setting.dot},
      {"execution", setting.isEmulated ? "emulated" : "native"},
      {"cpu", setting.cpu},
      {"threads", setting.threads},
      {"library_bytes", setting.libraryBytes},
      {"weight_bytes", setting.weightBytes},
      {"peak_bytes", setting.peakBytes},
      {"load_seconds", setting.loadSeconds}};
  if (!setting.device.empty()) {
    root["device"] = setting.device;
  }
  if (!setting.agreement.empty()) {
    root["agreement"] = describeAgreement(setting.agreement);
  }
  root["workloads"] = ordered_json::array();
  for (const Measurement &m : measurements) {
    Cost cost = m.cost();
    root["workloads"].push_back({{"workload", m.workload},
                                 {"tokens", m.tokens},
                                 {"sequences", m.sequences},
                                 {"flops", cost.flops},
                                 {"dot_flops", cost.dots},
                                 {"bytes", cost.bytes},
                                 {"cache_bytes", m.cacheBytes},
                                 {"workspace_bytes", m.workspaceBytes},
                                 {"first_seconds", m.firstSeconds},
                                 {"seconds", describe(m.seconds)},
                                 {"flops_limit", describe(m.flopsLimit)},
                                 {"dot_limit", describe(m.dotLimit)},
                                 {"read_limit", describe(m.readLimit)},
                                 {"tokens_per_second", m.tokensPerSecond()},
                                 {"requests_per_second", m.requestsPerSecond()},
                                 {"flops_share", m.flopsShare()},
                                 {"read_share", m.readShare()},
                                 {"roofline_share", m.rooflineShare()}});
    if (m.deviceSeconds.count() > 0) {
      root["workloads"].back()["device_seconds"] = describe(m.deviceSeconds);
    }
    if (m.latencies) {
      ordered_json &to = root["workloads"].back();
      to["time_to_first_token"] = describe(m.latencies->firstToken);
      to["time_per_output_token"] = describe(m.latencies->perOutputToken);
      to["inter_token_latency"] = describe(m.latencies->betweenTokens);
    }
    if (!m.ops.empty()) {
      root["workloads"].back()["step_seconds_with_ops"] = m.opsSeconds;
      root["workloads"].back()["ops"] = describeOps(m);
    }
  }
  return root.dump(2) + "\n";
}

} // namespace tfc::bench
