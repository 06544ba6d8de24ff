// The beam search against transformers', token by token and score by score,
// over a model whose scores are a hash of the sequence.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/choose/BeamSearch.h"
#include "runtime/src/choose/ProcessScores.h"
#include "test/runtime/GoldenText.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace tfc::rt::test {
namespace {

/// hash_score of golden/hashing_model.py for every token.
void hashScores(const std::vector<int32_t> &tokens, int64_t levels,
                float *scores, int64_t width) {
  uint32_t begin = 2166136261;
  for (int32_t token : tokens) {
    begin = (begin ^ static_cast<uint32_t>(token)) * 16777619;
  }
  for (int64_t token = 0; token < width; ++token) {
    uint32_t h = begin ^ static_cast<uint32_t>(token) * 0x9E3779B9U;
    h = (h ^ h >> 15) * 0x2C1B3C6D;
    h = (h ^ h >> 12) * 0x297A2D39;
    scores[token] = -static_cast<float>((h ^ h >> 15) % levels) / 16;
  }
}

/// A golden case as the runtime runs it.
class Search {
public:
  explicit Search(const GoldenCase &golden)
      : width(golden.integer("vocab", 0)), levels(golden.integer("levels", 0)) {
    options.numBeams = golden.integer("num_beams", 0);
    options.maxLength = golden.integer("max_length", 0);
    options.lengthPenalty = golden.number("length_penalty", 1);
    std::string early = golden.text("early_stopping");
    options.earlyStopping = early == "True"    ? EarlyStopping::Yes
                            : early == "never" ? EarlyStopping::Never
                                               : EarlyStopping::No;
    options.eos = golden.list<int64_t>("eos");
    rules.eos = options.eos;
    rules.maxLength = options.maxLength;
    rules.noRepeatNgram = golden.integer("no_repeat_ngram_size", 0);
    rules.repetitionPenalty = golden.number("repetition_penalty", 1);
    rules.minLength = golden.integer("min_length", 0);
    rules.forcedBos = golden.integer("forced_bos_token_id", -1);
    rules.forcedEos = golden.integer("forced_eos_token_id", -1);
  }

  BeamSearch run(const std::vector<int32_t> &prompt) {
    BeamSearch search(options, prompt, width);
    std::vector<float> scores(options.numBeams * width);
    int64_t stride = 0; // the beams are all the prompt
    for (; !search.isDone(); stride = width) {
      int64_t numRows = stride == 0 ? 1 : options.numBeams;
      for (int64_t beam = 0; beam < numRows; ++beam) {
        const std::vector<int32_t> &tokens = search.sequence(beam);
        float *row = &scores[beam * stride];
        hashScores(tokens, levels, row, width);
        processScores(rules,
                      {tokens.data(), static_cast<int64_t>(tokens.size()),
                       static_cast<int64_t>(prompt.size()), 0},
                      row, width, scratch);
      }
      std::vector<std::vector<int32_t>> before;
      for (int64_t beam = 0; beam < options.numBeams; ++beam) {
        before.push_back(search.sequence(beam));
      }
      search.step(scores.data(), stride);
      for (int64_t beam = 0; beam < options.numBeams; ++beam) {
        std::vector<int32_t> expected = before[search.parents()[beam]];
        expected.push_back(search.tokens()[beam]);
        EXPECT_EQ(search.sequence(beam), expected);
      }
    }
    return search;
  }

  BeamOptions options;
  ScoreRules rules;

private:
  int64_t width, levels;
  ScoreScratch scratch;
};

TEST(BeamSearch, MatchesTransformers) {
  size_t numShort = 0, numReordered = 0;
  for (const GoldenCase &golden : readGoldenCases("beams.txt")) {
    SCOPED_TRACE("case " + golden.name);
    Search search(golden);
    std::vector<int32_t> prompts = golden.list<int32_t>("prompts");
    int64_t numRows = golden.integer("rows", 0);
    int64_t numReturned = golden.integer("returned", 0);
    int64_t length = static_cast<int64_t>(prompts.size()) / numRows;
    std::vector<BeamSearch> searches;
    std::vector<float> scores;
    for (int64_t row = 0; row < numRows; ++row) {
      auto begin = prompts.begin() + row * length;
      searches.push_back(search.run({begin, begin + length}));
      for (int64_t i = 0; i < numReturned; ++i) {
        scores.push_back(searches.back().best()[i].score);
      }
    }
    // generate fills with the first end token where the pad token is 0.
    int64_t pad = golden.integer("pad", 0);
    const std::vector<int64_t> &eos = search.options.eos;
    int64_t fill = eos.empty() ? -1 : pad != 0 ? pad : eos.front();
    std::vector<int64_t> sequences;
    int64_t size = collectBest(searches, numReturned, fill, sequences);
    EXPECT_EQ(sequences, golden.list<int64_t>("sequences"));
    EXPECT_EQ(scores, golden.list<float>("scores"));
    numShort += size < search.options.maxLength;
    numReordered += std::any_of(
        searches.begin(), searches.end(), [](const BeamSearch &one) {
          std::vector<int32_t> sorted = one.parents();
          std::sort(sorted.begin(), sorted.end());
          return std::unique(sorted.begin(), sorted.end()) != sorted.end();
        });
  }
  EXPECT_GT(numShort, 10U) << "cases that ended before the longest length";
  EXPECT_GT(numReordered, 10U) << "cases in which beams had the same parent";
}

/// Nothing but the best token: what greedy choice gives.
TEST(BeamSearch, OneBeamIsGreedy) {
  BeamOptions options;
  options.maxLength = 9;
  BeamSearch search(options, {4, 2}, 30);
  std::vector<int32_t> expected = {4, 2};
  std::vector<float> scores(30);
  while (!search.isDone()) {
    hashScores(search.sequence(0), 100000, scores.data(), 30);
    expected.push_back(static_cast<int32_t>(greatestScore(scores.data(), 30)));
    search.step(scores.data(), 30);
  }
  EXPECT_EQ(search.best()[0].tokens, expected);
  EXPECT_TRUE(search.best()[0].isFinished);
  EXPECT_EQ(search.length(), 9);
}

/// With noise the continuations are a draw: others with another key, the
/// likely ones more often.
TEST(BeamSearch, DrawsWithNoise) {
  BeamOptions options;
  options.numBeams = 2;
  options.maxLength = 5;
  std::vector<float> scores(20, -3);
  scores[7] = 0;
  std::set<std::vector<int32_t>> found;
  int64_t numLikeliest = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    auto draw = [&] {
      BeamSearch search(options, {0}, 20);
      search.step(scores.data(), 0, DrawKey{seed, 0, 0});
      return search;
    };
    BeamSearch search = draw();
    EXPECT_EQ(search.tokens(), draw().tokens());
    EXPECT_EQ(search.parents(), (std::vector<int32_t>{0, 0}));
    EXPECT_NE(search.tokens()[0], search.tokens()[1]);
    found.insert(search.tokens());
    numLikeliest += search.tokens()[0] == 7;
  }
  EXPECT_GT(found.size(), 50U);
  // Four are drawn, and the likeliest two of them go on.
  EXPECT_GT(numLikeliest, 700);
  EXPECT_LT(numLikeliest, 1000);
}

} // namespace
} // namespace tfc::rt::test
