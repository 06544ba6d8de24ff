// The command line of tfc-run: every option, every fault.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/CommandLine.h"

#include "runtime/src/Error.h"

#include <gtest/gtest.h>

namespace tfc::rt::test {
namespace {

TEST(CommandLine, ReadsEveryOption) {
  run::CommandLine line = run::readCommandLine(
      {"--weights", "w", "m.so", "--inputs=i", "--outputs", "o", "--weights=v",
       "--threads=3", "--program", "p", "--generate", "--max-new-tokens", "5",
       "--eos", "3,4"});
  EXPECT_TRUE(line.faults.empty());
  EXPECT_EQ(line.library, "m.so");
  EXPECT_EQ(line.weights, "w");
  EXPECT_EQ(line.moreWeights, std::vector<std::string>{"v"});
  EXPECT_EQ(line.inputs, "i");
  EXPECT_EQ(line.outputs, "o");
  EXPECT_EQ(line.threads, 3U);
  EXPECT_EQ(line.program, "p");
  EXPECT_TRUE(line.generate);
  EXPECT_EQ(line.maxNewTokens, 5);
  EXPECT_EQ(line.eos, (std::vector<int64_t>{3, 4}));
}

/// The options of a command line, on top of zeros.
tfc_decoding_options decodingOf(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(),
                   {"m.so", "--weights=w", "--inputs=i", "--outputs=o",
                    "--generate", "--max-new-tokens=5"});
  run::CommandLine line = run::readCommandLine(arguments);
  EXPECT_EQ(line.faults, std::vector<std::string>());
  tfc_decoding_options decoding{};
  for (const auto &change : line.decoding) {
    change(decoding);
  }
  return decoding;
}

TEST(CommandLine, ReadsHowTokensAreChosen) {
  tfc_decoding_options got = decodingOf(
      {"--beams", "4", "--sample=true", "--seed=9000000000000000000",
       "--temperature=0.5", "--top-k=7", "--top-p=0.25", "--min-p=0.75",
       "--repetition-penalty=1.5", "--presence-penalty=-0.5",
       "--frequency-penalty=2", "--no-repeat-ngram=3", "--length-penalty=-2",
       "--early-stopping=never", "--return-sequences=3", "--min-length=6",
       "--min-new-tokens=2", "--timestamp-begin=9",
       "--max-initial-timestamp=-1"});
  EXPECT_EQ(got.num_beams, 4U);
  EXPECT_EQ(got.do_sample, 1U);
  EXPECT_EQ(got.seed, 9000000000000000000U);
  EXPECT_EQ(got.temperature, 0.5);
  EXPECT_EQ(got.top_k, 7U);
  EXPECT_EQ(got.top_p, 0.25);
  EXPECT_EQ(got.min_p, 0.75);
  EXPECT_EQ(got.repetition_penalty, 1.5);
  EXPECT_EQ(got.presence_penalty, -0.5);
  EXPECT_EQ(got.frequency_penalty, 2);
  EXPECT_EQ(got.no_repeat_ngram, 3);
  EXPECT_EQ(got.length_penalty, -2);
  EXPECT_EQ(got.early_stopping, 2U);
  EXPECT_EQ(got.num_return_sequences, 3U);
  EXPECT_EQ(got.min_length, 6);
  EXPECT_EQ(got.min_new_tokens, 2);
  EXPECT_EQ(got.timestamp_begin, 9);
  EXPECT_EQ(got.max_initial_timestamp, -1);
  EXPECT_EQ(decodingOf({"--early-stopping=true"}).early_stopping, 1U);
  EXPECT_EQ(decodingOf({"--early-stopping=false"}).early_stopping, 0U);
  EXPECT_EQ(decodingOf({"--sample=false"}).do_sample, 0U);
}

TEST(CommandLine, RefusesBadWaysToChooseTokens) {
  struct Option {
    const char *name, *expected;
    std::vector<const char *> bad;
  };
  const std::vector<Option> all = {
      {"--beams", "an integer from 1 to 1024", {"0", "1025", "1.5", "x"}},
      {"--return-sequences", "an integer from 1 on", {"0", "-1", "9999999999"}},
      {"--early-stopping", "true, false or never", {"maybe", "1", "True"}},
      {"--sample", "true or false", {"1", "never"}},
      {"--length-penalty", "a number", {"x", "nan", "inf", "1e7"}},
      {"--seed", "an integer from 0 on", {"-1", "0.5", "9e3"}},
      {"--temperature", "a number above 0", {"0", "-1", "nan", "inf"}},
      {"--top-k", "an integer from 0 on", {"-1", "2.5"}},
      {"--top-p", "a number from 0 to 1", {"-0.1", "1.1", "nan"}},
      {"--min-p", "a number from 0 to 1", {"-0.1", "1.1", "x"}},
      {"--repetition-penalty", "a number above 0", {"0", "-2"}},
      {"--no-repeat-ngram", "an integer from 0 on", {"-1"}},
      {"--min-length", "an integer from 0 on", {"-1"}},
      {"--min-new-tokens", "an integer from 0 on", {"-1", "many"}},
      {"--timestamp-begin", "an integer from 0 on", {"-1", "none"}},
      {"--max-initial-timestamp", "an integer from -1 on", {"-2", "1s"}}};
  std::vector<std::string> begin = {"m.so",       "--weights=w",
                                    "--inputs=i", "--outputs=o",
                                    "--generate", "--max-new-tokens=5"};
  using Faults = std::vector<std::string>;
  for (const Option &option : all) {
    for (const char *value : option.bad) {
      std::vector<std::string> line = begin;
      line.insert(line.end(), {option.name, value});
      EXPECT_EQ(run::readCommandLine(line).faults,
                Faults{concat(option.name, ": expected ", option.expected,
                              ", got ", value)});
    }
    std::vector<std::string> line(begin.begin(), begin.begin() + 4);
    line.insert(line.end(), {option.name, "1"});
    Faults faults = run::readCommandLine(line).faults;
    EXPECT_EQ(faults.back(),
              concat(option.name, ": expected with --generate only"));
  }
}

TEST(CommandLine, ReportsEveryFault) {
  auto faults = [](std::vector<std::string> extra) {
    std::vector<std::string> all = {"m.so", "--weights", "w", "--inputs",
                                    "i",    "--outputs", "o"};
    all.insert(all.end(), extra.begin(), extra.end());
    return run::readCommandLine(all).faults;
  };
  using Faults = std::vector<std::string>;
  EXPECT_EQ(faults({}), Faults());
  EXPECT_EQ(faults({"--frob"}),
            Faults{"expected an option of tfc-run, got --frob"});
  EXPECT_EQ(faults({"--generate=yes"}),
            Faults{"expected an option of tfc-run, got --generate=yes"});
  EXPECT_EQ(faults({"n.so"}),
            Faults{"expected one library, got m.so and n.so"});
  EXPECT_EQ(faults({"--threads", "0"}),
            Faults{"--threads: expected an integer from 1 to 1024, got 0"});
  EXPECT_EQ(faults({"--threads=x"}),
            Faults{"--threads: expected an integer from 1 to 1024, got x"});
  EXPECT_EQ(faults({"--threads"}),
            Faults{"--threads: expected an integer from 1 to 1024, got "
                   "nothing"});
  EXPECT_EQ(faults({"--inputs=v"}),
            Faults{"--inputs: expected once, got twice"});
  EXPECT_EQ(faults({"--weights="}),
            Faults{"--weights: expected a path, got nothing"});
  EXPECT_EQ(faults({"--generate"}),
            Faults{"--max-new-tokens: expected with --generate, got nothing"});
  EXPECT_EQ(faults({"--eos=none", "--max-new-tokens=1"}),
            (Faults{"--eos: expected with --generate only",
                    "--max-new-tokens: expected with --generate only"}));
  EXPECT_EQ(faults({"--generate", "--max-new-tokens=-1"}),
            Faults{"--max-new-tokens: expected an integer from 1 on, got -1"});
  for (const char *eos : {"", "x", "-1", "3,", ",3", "3 4"}) {
    EXPECT_EQ(faults({"--generate", "--max-new-tokens=1",
                      std::string("--eos=") + eos})
                  .size(),
              1U)
        << eos;
  }
  EXPECT_EQ(run::readCommandLine({}).faults.size(), 4U);
}

TEST(CommandLine, TakesTextsInsteadOfFiles) {
  run::CommandLine line = run::readCommandLine(
      {"m.so", "--weights=w", "--text", "a", "--text=", "--pair=b", "--pair",
       "c", "--json", "--truncate", "--tokenizer=t", "--output-tokenizer=o",
       "--max-new-tokens=3", "--beams=2"});
  EXPECT_EQ(line.faults, std::vector<std::string>());
  EXPECT_EQ(line.texts, (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(line.pairs, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(line.tokenizer + line.outputTokenizer, "to");
  EXPECT_TRUE(line.json && line.truncate);
  EXPECT_EQ(line.maxNewTokens, 3);
}

TEST(CommandLine, RefusesTextsBesideFiles) {
  auto faults = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "m.so");
    return run::readCommandLine(arguments).faults;
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(faults({"--weights=w", "--text=a", "--inputs=i"}),
            (Lines{"--inputs: expected without --text only"}));
  EXPECT_EQ(faults({"--weights=w", "--text=a", "--pair=b", "--pair=c"}),
            (Lines{"--pair: expected as often as --text, got 2 and 1"}));
  EXPECT_EQ(faults({"--weights=w", "--inputs=i", "--outputs=o", "--json",
                    "--pair=b"}),
            (Lines{"--pair: expected with --text only",
                   "--json: expected with --text only"}));
  EXPECT_EQ(
      faults({"--packed=p", "--text=a"}),
      (Lines{"--tokenizer: expected a path (there is no folder of weights "
             "to find one in), got nothing"}));
}

} // namespace
} // namespace tfc::rt::test
