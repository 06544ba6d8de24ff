// tfc-bench: statistics, what follows from them, and their forms.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/Report.h"
#include "runtime/tools/Quality.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace tfc::bench {
namespace {

TEST(Samples, AreOrdered) {
  Samples samples({4, 1, 3, 2});
  EXPECT_EQ(samples.least(), 1);
  EXPECT_EQ(samples.median(), 2.5);
  EXPECT_EQ(samples.most(), 4);
  EXPECT_EQ(samples.mean(), 2.5);
  EXPECT_EQ(samples.quantile(0.9), 3.7);
  EXPECT_EQ(Samples({7}).quantile(0.99), 7);
}

/// Two runs of a generate workload of two steps, and one of a plain step.
static std::vector<Measurement> someMeasurements() {
  Measurement step, generation;
  step.workload = "decode:12,3";
  step.tokens = step.sequences = 2;
  step.steps = {{600, 100}};
  step.firstSeconds = 9;
  step.seconds = Samples({2, 4});
  step.flopsLimit = Samples({300});
  generation = step;
  generation.workload = "generate:2x3+2";
  generation.tokens = 4;
  generation.steps = {{600, 100}, {90, 300}};
  generation.readLimit = Samples({400});
  generation.latencies = {Samples({1, 2}), Samples({0.5, 0.7}),
                          Samples({0.5, 0.7})};
  return {step, generation};
}

TEST(Measurement, SharesAreOfEachStep) {
  std::vector<Measurement> runs = someMeasurements();
  EXPECT_EQ(runs[0].flopsShare(), 600.0 / 3 / 300);
  EXPECT_EQ(runs[0].readShare(), 0);
  EXPECT_EQ(runs[0].rooflineShare(), runs[0].flopsShare());
  EXPECT_EQ(runs[1].cost().flops, 690);
  EXPECT_EQ(runs[1].cost().bytes, 400);
  EXPECT_EQ(runs[1].tokensPerSecond(), 4.0 / 3);
  EXPECT_EQ(runs[1].requestsPerSecond(), 2.0 / 3);
  // The first step by its operations, the second by its bytes.
  EXPECT_EQ(runs[1].rooflineShare(), (600.0 / 300 + 300.0 / 400) / 3);
}

/// 400 of 600 operations by dots, which the machine does four times as fast.
TEST(Measurement, DotsHaveALimitOfTheirOwn) {
  Measurement run = someMeasurements()[0];
  run.steps = {{600, 100, 400}};
  EXPECT_EQ(run.flopsShare(), 600.0 / 3 / 300);
  run.dotLimit = Samples({1200});
  EXPECT_DOUBLE_EQ(run.flopsShare(), (200.0 / 300 + 400.0 / 1200) / 3);
  EXPECT_DOUBLE_EQ(run.flopsAllowed(), 600);
  EXPECT_EQ(run.rooflineShare(), run.flopsShare());
}

TEST(Setting, SaysTheWorstOfItsOutputs) {
  Setting setting;
  EXPECT_FALSE(setting.maxError() || setting.equalShare());
  setting.agreement = {{"a", 0.5, 9.0, 4, 3}, {"b", 0.25, 9.0, 0, 0}};
  EXPECT_EQ(setting.maxError(), 0.5);
  EXPECT_EQ(setting.equalShare(), 0.75);
  Agreement tokens;
  tokens.rows = 8;
  tokens.equalRows = 4;
  setting.agreement = {tokens};
  EXPECT_FALSE(setting.maxError() || setting.signalToNoise());
  EXPECT_EQ(setting.equalShare(), 0.5);
  setting.agreement = {{"a", 0.5, 9.0, 4, 3, 40.0, {}, {}},
                       {"logits", 0.5, 9.0, 4, 3, 30.0, 0.25, 0.5}};
  EXPECT_EQ(setting.signalToNoise(), 30);
  EXPECT_EQ(setting.meanDivergence(), 0.25);
  EXPECT_EQ(setting.highDivergence(), 0.5);
}

TEST(Quality, IsOfSquaresAndDistributions) {
  Quality hidden(false);
  EXPECT_FALSE(hidden.signalToNoise());
  const float theirs[] = {3, 4, 0}, ours[] = {3, 4.5, 0};
  hidden.add(theirs, theirs, 3);
  EXPECT_EQ(hidden.signalToNoise(), INFINITY);
  hidden.add(ours, theirs, 3);
  // 50 over 0.25.
  EXPECT_NEAR(*hidden.signalToNoise(), 10 * std::log10(200), 1e-9);
  EXPECT_FALSE(hidden.meanDivergence());
  const float broken[] = {3, NAN, 0};
  hidden.add(broken, theirs, 3);
  EXPECT_EQ(hidden.signalToNoise(), -INFINITY);

  // Probabilities 3/4 and 1/4, taken for halves; what is forbidden counts 0.
  Quality logits(true);
  const float odds[] = {std::log(3.0F), 0, -INFINITY}, even[] = {7, 7, 0};
  logits.add(odds, odds, 3);
  EXPECT_EQ(logits.meanDivergence(), 0);
  logits.add(even, odds, 2);
  double expected = 0.75 * std::log(1.5) + 0.25 * std::log(0.5);
  EXPECT_NEAR(*logits.meanDivergence(), expected / 2, 1e-7);
  EXPECT_NEAR(*logits.highDivergence(), 0.99 * expected, 1e-7);
  logits.add(broken, odds, 2);
  EXPECT_EQ(logits.meanDivergence(), INFINITY);
}

TEST(Report, HasEveryField) {
  Setting setting;
  setting.model = "a \"model\"";
  setting.cache = "f16";
  setting.isEmulated = true;
  setting.dot = "vpdpbusd";
  setting.agreement = {{"logits", 0.5, 9.0, 4, 3, 30.0, 0.25, 0.5}};
  std::string json = print(Format::Json, setting, someMeasurements());
  for (const char *part :
       {"\"time_to_first_token\"", "\"time_per_output_token\"",
        "\"inter_token_latency\"", "\"read_limit\": null", "\"equal_rows\": 3",
        "\"a \\\"model\\\"\"", "\"snr_db\": 30.0", "\"mean_kl\": 0.25",
        "\"p99_kl\": 0.5", "\"cache\": \"f16\"", "\"dot\": \"vpdpbusd\"",
        "\"dot_limit\": null", "\"execution\": \"emulated\""}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << json;
  }
  std::string table = print(Format::Table, setting, someMeasurements());
  EXPECT_NE(table.find("same choice in 3 of 4, 30.0 dB, KL 0.25 (p99 0.5)"),
            std::string::npos)
      << table;
  EXPECT_NE(
      table.find(", cache f16, products by vpdpbusd, instructions emulated"),
      std::string::npos)
      << table;
  EXPECT_NE(table.find("between two tokens"), std::string::npos) << table;
  // As many fields in each row as in the first; names may hold commas.
  std::istringstream csv(print(Format::Csv, setting, someMeasurements()));
  std::vector<int64_t> commas;
  for (std::string line; std::getline(csv, line);) {
    bool isQuoted = false;
    commas.push_back(std::count_if(line.begin(), line.end(), [&](char c) {
      isQuoted ^= c == '"';
      return c == ',' && !isQuoted;
    }));
  }
  EXPECT_EQ(commas, std::vector<int64_t>(3, commas[0]));
}

} // namespace
} // namespace tfc::bench
