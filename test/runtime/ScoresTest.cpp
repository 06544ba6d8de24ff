// Processed scores against transformers' logits processors, and draws against
// their distribution.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/choose/ProcessScores.h"
#include "runtime/src/choose/Sampling.h"
#include "test/runtime/GoldenText.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace tfc::rt::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

ScoreRules rulesOf(const GoldenCase &from) {
  ScoreRules rules;
  rules.eos = from.list<int64_t>("eos");
  rules.repetitionPenalty = from.number("repetition_penalty", 1);
  rules.noRepeatNgram = from.integer("no_repeat_ngram_size", 0);
  rules.minLength = from.integer("min_length", 0);
  rules.minNewTokens = from.integer("min_new_tokens", 0);
  rules.forcedBos = from.integer("forced_bos_token_id", -1);
  rules.forcedEos = from.integer("forced_eos_token_id", -1);
  rules.maxLength = from.integer("max_length", 0);
  rules.isSampled = from.text("do_sample") == "True";
  rules.temperature = from.number("temperature", 1);
  rules.topK = from.integer("top_k", 0);
  rules.topP = from.number("top_p", 1);
  rules.minP = from.number("min_p", 0);
  rules.timestampBegin = from.integer("timestamp_begin", 0);
  rules.maxInitialTimestamp = from.integer("max_initial_timestamp", -1);
  if (from.integer("num_beams", 1) > 1) {
    rules.minKept = static_cast<int64_t>(rules.eos.size()) + 1;
  }
  return rules;
}

TEST(ProcessScores, MatchesTransformers) {
  ScoreScratch scratch;
  size_t numChanged = 0;
  for (const GoldenCase &golden : readGoldenCases("scores.txt")) {
    SCOPED_TRACE(golden.name);
    ScoreRules rules = rulesOf(golden);
    std::vector<int32_t> tokens = golden.list<int32_t>("tokens");
    std::vector<float> scores = golden.list<float>("before");
    std::vector<float> before = scores, after = golden.list<float>("after");
    TokenRow row{tokens.data(), static_cast<int64_t>(tokens.size()),
                 golden.integer("prompt", 0), golden.integer("padding", 0)};
    processScores(rules, row, scores.data(),
                  static_cast<int64_t>(scores.size()), scratch);
    EXPECT_EQ(scores, after);
    EXPECT_TRUE(!rules.changesNothing() || before == after);
    numChanged += before != after;
  }
  EXPECT_GT(numChanged, 25U);
}

/// As transformers has them: where the second token is forced, the one behind
/// it is the first that is chosen.
TEST(ProcessScores, SuppressesTokens) {
  ScoreScratch scratch;
  auto scoresOf = [&](ScoreRules rules, int64_t length, int64_t promptLength) {
    rules.suppressed = {1, 9};
    rules.notFirst = {0, 1};
    std::vector<int32_t> tokens(static_cast<size_t>(length), 2);
    std::vector<float> scores = {1, 2, 3};
    processScores(rules, {tokens.data(), length, promptLength, 0},
                  scores.data(), 3, scratch);
    return scores;
  };
  using Scores = std::vector<float>;
  EXPECT_EQ(scoresOf({}, 4, 4), (Scores{-infinity, -infinity, 3}));
  EXPECT_EQ(scoresOf({}, 5, 4), (Scores{1, -infinity, 3}));
  ScoreRules forced;
  forced.forcedBos = 0;
  EXPECT_EQ(scoresOf(forced, 1, 1), (Scores{0, -infinity, -infinity}));
  EXPECT_EQ(scoresOf(forced, 2, 1), (Scores{-infinity, -infinity, 3}));
  EXPECT_EQ(scoresOf(forced, 4, 4), (Scores{-infinity, -infinity, 3}));
}

/// What transformers would not run: times that are no tokens, no end token, and
/// scores of nothing.
TEST(ProcessScores, KeepsTimesOfAnyScores) {
  ScoreScratch scratch;
  auto scoresOf = [&](ScoreRules rules, std::vector<int32_t> tokens,
                      std::vector<float> scores) {
    processScores(rules, {tokens.data(), int64_t(tokens.size()), 1, 0},
                  scores.data(), int64_t(scores.size()), scratch);
    return scores;
  };
  using Scores = std::vector<float>;
  ScoreRules rules;
  rules.timestampBegin = 3;
  rules.maxInitialTimestamp = INT64_MAX;
  EXPECT_EQ(scoresOf(rules, {0}, {9, 9, 9, 1, 2}),
            (Scores{-infinity, -infinity, -infinity, 1, 2}));
  EXPECT_EQ(scoresOf(rules, {0, 3, 1, 4}, {9, 9, 9, 1, 2}),
            (Scores{-infinity, -infinity, -infinity, -infinity, 2}));
  EXPECT_EQ(scoresOf(rules, {0, 3, 1}, {9, 8, 9}), (Scores{9, 8, -infinity}));
  rules.timestampBegin = 9;
  EXPECT_EQ(scoresOf(rules, {0, 99}, {9, 8}), (Scores{9, 8}));
  EXPECT_EQ(scoresOf(rules, {0}, {9, 8}), (Scores{-infinity, -infinity}));
}

TEST(ProcessScores, SaysWhenItChangesNothing) {
  EXPECT_TRUE(ScoreRules().changesNothing());
  auto changes = [](auto set) {
    ScoreRules rules;
    rules.eos = {3};
    rules.isSampled = true;
    set(rules);
    return !rules.changesNothing();
  };
  EXPECT_FALSE(changes([](ScoreRules &) {}));
  EXPECT_TRUE(changes([](ScoreRules &r) { r.repetitionPenalty = 0.5; }));
  EXPECT_TRUE(changes([](ScoreRules &r) { r.noRepeatNgram = 1; }));
  EXPECT_TRUE(changes([](ScoreRules &r) { r.minLength = 1; }));
  EXPECT_TRUE(changes([](ScoreRules &r) { r.minNewTokens = 1; }));
  EXPECT_TRUE(changes([](ScoreRules &r) { r.forcedBos = 0; }));
  EXPECT_TRUE(changes([](ScoreRules &r) { r.forcedEos = 0; }));
  EXPECT_TRUE(changes([](ScoreRules &r) { r.temperature = 2; }));
  EXPECT_TRUE(changes([](ScoreRules &r) { r.suppressed = {1}; }));
  EXPECT_TRUE(changes([](ScoreRules &r) { r.notFirst = {1}; }));
  EXPECT_TRUE(changes([](ScoreRules &r) { r.timestampBegin = 1; }));
  EXPECT_TRUE(changes([](ScoreRules &r) { r.topK = 1; }));
  EXPECT_TRUE(changes([](ScoreRules &r) { r.topP = 0; }));
  EXPECT_TRUE(changes([](ScoreRules &r) { r.minP = 1; }));
  EXPECT_FALSE(changes([](ScoreRules &r) {
    r.isSampled = false;
    r.topK = 1;
  }));
}

/// What is no distribution stays as it is: nothing is read out of bounds, and
/// nothing that might be meant is removed.
/// OpenAI's formula: of each token that is among the new ones, its count times
/// one penalty and the other one once; behind the penalty of repetitions.
TEST(ProcessScores, PenalizesNewTokens) {
  ScoreRules rules;
  rules.repetitionPenalty = 2;
  rules.presencePenalty = 0.5;
  rules.frequencyPenalty = 0.25;
  std::vector<int32_t> tokens = {1, 1, 2, 3, 2, 3, 3, 99};
  std::vector<float> scores = {8, 8, 8, -8, 8};
  ScoreScratch scratch;
  processScores(rules, {tokens.data(), 8, 3, 0}, scores.data(), 5, scratch);
  // 1 is the prompt's alone; 2 came once behind it, 3 three times.
  EXPECT_EQ(scores, (std::vector<float>{8, 4, 4 - 0.75f, -16 - 1.25f, 8}));
  rules.repetitionPenalty = 1;
  rules.presencePenalty = 0;
  rules.frequencyPenalty = -1;
  EXPECT_FALSE(rules.changesNothing());
  scores.assign(5, 0);
  processScores(rules, {tokens.data(), 8, 3, 0}, scores.data(), 5, scratch);
  EXPECT_EQ(scores, (std::vector<float>{0, 0, 1, 3, 0}));
  rules.frequencyPenalty = 0;
  EXPECT_TRUE(rules.changesNothing());
  rules.presencePenalty = 1;
  EXPECT_FALSE(rules.changesNothing());
}

TEST(ProcessScores, BearsWhatIsNoNumber) {
  ScoreRules rules;
  rules.isSampled = true;
  rules.topP = 0.5;
  rules.minP = 0.5;
  rules.minKept = 3;
  ScoreScratch scratch;
  int32_t token = 1;
  for (float odd : {nan, infinity, -infinity}) {
    std::vector<float> scores(50, odd);
    for (bool isMixed : {false, true}) {
      if (isMixed) {
        scores[7] = -infinity;
      }
      std::vector<float> before = scores;
      processScores(rules, {&token, 1, 1, 0}, scores.data(), 50, scratch);
      for (size_t i = 0; i < scores.size(); ++i) {
        EXPECT_TRUE(scores[i] == before[i] || std::isnan(scores[i]));
      }
    }
  }
  rules.topK = 5;
  std::vector<float> scores(50, nan);
  scores[3] = 1;
  processScores(rules, {&token, 1, 1, 0}, scores.data(), 50, scratch);
  EXPECT_EQ(std::count_if(scores.begin(), scores.end(),
                          [](float s) { return std::isnan(s); }),
            49);
}

TEST(LogSoftmax, IsALogarithmOfProbabilities) {
  std::vector<float> scores = {1.5F, -2, 3, -infinity, 3};
  double sum = 0;
  for (float score : scores) {
    sum += std::exp(static_cast<double>(score));
  }
  std::vector<float> got = scores;
  logSoftmax(got.data(), 5);
  for (size_t i = 0; i < 5; ++i) {
    if (i == 3) {
      EXPECT_EQ(got[i], -infinity);
    } else {
      EXPECT_NEAR(got[i], scores[i] - std::log(sum), 1e-6);
    }
  }
  EXPECT_EQ(got[2], got[4]);
  // Only differences count, however large the scores are.
  std::vector<float> shifted = {1000, 1001};
  logSoftmax(shifted.data(), 2);
  EXPECT_NEAR(shifted[1], -std::log1p(std::exp(-1.0)), 1e-6);
}

/// The test vectors that the authors publish with Random123.
TEST(Sampling, PhiloxGivesTheKnownWords) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

/// Sum of (observed - expected)^2 / expected, over tokens with a probability.
double chiSquare(const std::vector<int64_t> &counts,
                 const std::vector<float> &scores) {
  double total = 0, numDraws = 0, sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    total += std::exp(static_cast<double>(scores[i]));
    numDraws += static_cast<double>(counts[i]);
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    double expected =
        numDraws * std::exp(static_cast<double>(scores[i])) / total;
    double difference = static_cast<double>(counts[i]) - expected;
    sum += expected == 0 ? 0 : difference * difference / expected;
  }
  return sum;
}

const std::vector<float> sixScores = {0.5F, -1, -infinity, 2, 0, 1.25F};
// A chi-square variable of 4 degrees of freedom is larger once in 10000 times.
constexpr double largestChiSquare = 23.5;

/// Over positions, over returned sequences, and over seeds: each part of the
/// key alone gives independent draws.
TEST(Sampling, DrawsWithTheProbabilities) {
  for (int part = 0; part < 3; ++part) {
    std::vector<int64_t> counts(6);
    for (uint32_t i = 0; i < 100000; ++i) {
      DrawKey key{7, 0, 0};
      (part == 0 ? key.position : key.returnIndex) = part == 2 ? 0 : i;
      key.seed = part == 2 ? i : 7;
      ++counts[drawToken(sixScores.data(), 6, key)];
    }
    EXPECT_EQ(counts[2], 0);
    EXPECT_LT(chiSquare(counts, sixScores), largestChiSquare) << part;
  }
}

/// Pairs of neighbouring draws are those of independent ones.
TEST(Sampling, NeighboursAreIndependent) {
  std::vector<float> scores = {0.5F, -1, 2};
  std::vector<float> pairScores;
  for (float first : scores) {
    for (float second : scores) {
      pairScores.push_back(first + second);
    }
  }
  std::vector<int64_t> counts(9);
  for (uint32_t i = 0; i < 100000; ++i) {
    int64_t first = drawToken(scores.data(), 3, {1, 4, 2 * i});
    int64_t second = drawToken(scores.data(), 3, {1, 4, 2 * i + 1});
    ++counts[first * 3 + second];
  }
  // 8 degrees of freedom.
  EXPECT_LT(chiSquare(counts, pairScores), 31.8);
}

TEST(Sampling, TheSameKeyDrawsTheSame) {
  int64_t numDifferent = 0;
  for (uint32_t i = 0; i < 100; ++i) {
    DrawKey key{uint64_t(1) << 40, 3, i};
    int64_t token = drawToken(sixScores.data(), 6, key);
    EXPECT_EQ(drawToken(sixScores.data(), 6, key), token);
    key.seed += uint64_t(1) << 33;
    numDifferent += drawToken(sixScores.data(), 6, key) != token;
  }
  EXPECT_GT(numDifferent, 20) << "all 64 bits of the seed count";
}

TEST(Sampling, GreatestAndOddScores) {
  auto greatest = [](std::vector<float> scores) {
    int64_t width = static_cast<int64_t>(scores.size());
    int64_t best = greatestScore(scores.data(), width);
    return best;
  };
  EXPECT_EQ(greatest({1, 3, 3, 2}), 1);
  EXPECT_EQ(greatest({1, infinity, nan, 2, nan}), 2);
  EXPECT_EQ(greatest({-infinity, -infinity}), 0);
  for (const std::vector<float> &odd :
       {std::vector<float>{1, nan, 2}, {1, infinity, 2}}) {
    EXPECT_EQ(drawToken(odd.data(), 3, {1, 2, 3}), 1);
  }
  std::vector<float> none(3, -infinity);
  EXPECT_EQ(drawToken(none.data(), 3, {1, 2, 3}), 0);
  // A certain token, even the last one.
  std::vector<float> certain = {-infinity, -infinity, -200};
  for (uint32_t i = 0; i < 50; ++i) {
    EXPECT_EQ(drawToken(certain.data(), 3, {1, 2, i}), 2);
  }
}

/// The first of a draw without replacement has the probabilities themselves.
TEST(Sampling, NoiseDrawsWithTheProbabilities) {
  std::vector<int64_t> counts(6);
  for (uint32_t i = 0; i < 100000; ++i) {
    GumbelNoise noise({9, 1, i});
    std::vector<float> sums;
    for (int64_t token = 0; token < 6; ++token) {
      sums.push_back(sixScores[token] + noise(token));
    }
    ++counts[greatestScore(sums.data(), 6)];
  }
  EXPECT_EQ(counts[2], 0);
  EXPECT_LT(chiSquare(counts, sixScores), largestChiSquare);
  GumbelNoise forward({9, 1, 5}), backward({9, 1, 5});
  float fifth = forward(5), sixth = forward(6);
  EXPECT_EQ(backward(6), sixth);
  EXPECT_EQ(backward(5), fifth);
}

} // namespace
} // namespace tfc::rt::test
