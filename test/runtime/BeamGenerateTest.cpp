// Beams on a model: texts against a search over the whole sequences run again,
// and the cache blocks that the beams share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/session/BeamGenerate.h"

#include "runtime/src/choose/Decoding.h"
#include "test/runtime/RerunModel.h"

#include <set>

namespace tfc::rt::test {
namespace {

tfc_decoding_options beamDecoding(uint32_t numBeams) {
  tfc_decoding_options how = plainDecoding();
  how.num_beams = numBeams;
  return how;
}

/// What tfc_generate should give: the search alone, a row after the other.
std::vector<OutputTensor> searchAgain(const FakeWeights &weights,
                                      const Padded &padded,
                                      const tfc_decoding_options &how,
                                      const std::vector<int64_t> &eos,
                                      int64_t maxNewTokens) {
  ScoreRules rules = makeScoreRules(how, eos, padded.length, maxNewTokens);
  std::vector<BeamSearch> searches;
  OutputTensor sequences, scores;
  for (int64_t row = 0; row < padded.batch; ++row) {
    RerunModel model(weights, padded, row);
    BeamSearch search(makeBeamOptions(how, eos, padded.length, maxNewTokens),
                      model.prompt(), vocab);
    while (!search.isDone()) {
      std::vector<float> table;
      for (uint32_t beam = 0; beam < how.num_beams; ++beam) {
        const std::vector<int32_t> &tokens = search.sequence(beam);
        std::vector<float> logits = model.logits(tokens);
        logSoftmax(logits.data(), vocab);
        ScoreScratch scratch;
        processScores(
            rules,
            {tokens.data(), search.length(), padded.length, model.numPadding()},
            logits.data(), vocab, scratch);
        table.insert(table.end(), logits.begin(), logits.end());
      }
      std::optional<DrawKey> noise;
      if (how.do_sample) {
        noise = {how.seed, 0,
                 static_cast<uint32_t>(search.length() - padded.length)};
      }
      search.step(table.data(), vocab, noise);
    }
    for (uint32_t i = 0; i < how.num_return_sequences; ++i) {
      scores.floats.push_back(search.best()[i].score);
    }
    searches.push_back(search);
  }
  collectBest(searches, how.num_return_sequences, eos.empty() ? -1 : eos[0],
              sequences.ints);
  return {sequences, scores};
}

TEST(BeamGenerate, MatchesTheSearchAlone) {
  size_t numGreedy = 0, numCases = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    FakeWeights weights(seed);
    auto model = loadFake("decoder", weights, 1 + seed % 3);
    Padded padded = randomPrompt(seed);
    tfc_decoding_options how = beamDecoding(2 + seed % 4);
    how.num_return_sequences = 1 + seed % 2;
    how.early_stopping = seed % 3;
    how.length_penalty = seed % 5 == 0 ? 2 : 1;
    how.no_repeat_ngram = seed % 4 == 1 ? 2 : 0;
    how.min_new_tokens = seed % 7 == 2 ? 4 : 0;
    how.repetition_penalty = seed % 6 == 3 ? 1.5 : 1;
    how.forced_eos = seed % 8 == 5 ? 5 : -1;
    how.do_sample = seed % 9 == 4;
    how.seed = seed;
    for (bool hasEos : {true, false}) {
      std::vector<int64_t> eos = hasEos ? std::vector<int64_t>{3, 5} : noEos;
      auto got = generateBy(*model, padded, 8, how, eos);
      ASSERT_TRUE(got) << messageOf(got);
      ASSERT_EQ(got->size(), 2U);
      std::vector<OutputTensor> expected =
          searchAgain(weights, padded, how, eos, 8);
      const OutputTensor &sequences = got->front(), &scores = got->back();
      EXPECT_EQ(sequences.ints, expected[0].ints);
      int64_t numRows = padded.batch * how.num_return_sequences;
      EXPECT_EQ(sequences.shape[0], numRows);
      EXPECT_EQ(sequences.shape[1] * numRows,
                static_cast<int64_t>(sequences.ints.size()));
      EXPECT_EQ(scores.name, "sequences_scores");
      EXPECT_EQ(scores.shape, std::vector<int64_t>{numRows});
      std::vector<double> near(expected[1].floats.begin(),
                               expected[1].floats.end());
      expectNear(scores.floats, near);
      auto plain = generate(*model, padded, 8, eos);
      numGreedy += plain && plain->ints == sequences.ints;
      ++numCases;
    }
  }
  EXPECT_LT(numGreedy, numCases / 2) << "beams that find what greed finds";
}

/// How many blocks of 4 positions beams need that share what they have in
/// common: one for every different beginning of a sequence up to the block's
/// end. The last token of a sequence is not in the cache yet.
int64_t countBeginnings(const BeamSearch &search, int64_t numBeams) {
  std::set<std::vector<int32_t>> beginnings;
  int64_t past = search.length() - 1;
  for (int64_t beam = 0; beam < numBeams; ++beam) {
    const std::vector<int32_t> &tokens = search.sequence(beam);
    for (int64_t end = 0; end < past;) {
      end = std::min(end + 4, past);
      beginnings.insert({tokens.begin(), tokens.begin() + end});
    }
  }
  return static_cast<int64_t>(beginnings.size());
}

TEST(BeamGenerate, MemoryGrowsWithWhatDiverges) {
  int64_t numShared = 0;
  for (uint32_t seed = 0; seed < 10; ++seed) {
    FakeWeights weights(seed);
    auto model = loadFake("decoder", weights);
    Result<std::unique_ptr<BeamGeneration>> beams =
        BeamGeneration::create(*model, {});
    ASSERT_TRUE(beams) << messageOf(beams);
    Padded padded{1, 6, {7, 8, 9, 10, 11, 12}, {}, {}, {}};
    std::vector<tfc_tensor> inputs = padded.tensors();
    auto given = readInputs(*model, inputs.data(), 1);
    ASSERT_TRUE(given) << messageOf(given);
    auto prompt =
        promptOfRow(*model, *model->generateEntry(), given->decoder, 0, 10);
    ASSERT_TRUE(prompt) << messageOf(prompt);
    prompt->choice.tokens = {7, 8, 9, 10, 11, 12};
    prompt->choice.promptLength = 6;
    tfc_decoding_options how = beamDecoding(4);
    (*beams)->add(std::move(*prompt), makeBeamOptions(how, noEos, 6, 10));
    EXPECT_EQ((*beams)->cache().used(), 0);
    while (!(*beams)->isDone()) {
      Status status = (*beams)->step();
      ASSERT_TRUE(status) << messageOf(status);
      const BeamSearch &search = (*beams)->searches()[0];
      int64_t used = (*beams)->cache().used();
      int64_t past = search.length() - 1;
      if (search.isDone()) {
        EXPECT_EQ(used, 0);
      } else {
        EXPECT_EQ(used, countBeginnings(search, 4)) << "at " << past;
        numShared += used < 4 * ((past + 3) / 4);
      }
    }
  }
  EXPECT_GT(numShared, 50);
}

TEST(BeamGenerate, BatchEqualsAloneAndThreadsDoNotMatter) {
  FakeWeights weights(7);
  auto model = loadFake("decoder", weights, 1);
  auto threaded = loadFake("decoder", weights, 4);
  tfc_decoding_options how = beamDecoding(3);
  how.num_return_sequences = 3;
  Padded padded{3, 2, {7, 8, 9, 10, 11, 12}, {}, {}, {}};
  auto one = generateBy(*model, padded, 8, how);
  auto many = generateBy(*threaded, padded, 8, how);
  ASSERT_TRUE(one && many) << messageOf(one);
  EXPECT_EQ(one->front().ints, many->front().ints);
  EXPECT_EQ(one->back().floats, many->back().floats);
  for (int64_t row = 0; row < 3; ++row) {
    Padded alone{1, 2, {7 + 2 * row, 8 + 2 * row}, {}, {}, {}};
    auto got = generateBy(*model, alone, 8, how);
    ASSERT_TRUE(got) << messageOf(got);
    auto begin = one->back().floats.begin() + 3 * row;
    EXPECT_EQ(got->back().floats, std::vector<float>(begin, begin + 3));
  }
}

TEST(BeamGenerate, TellsTheTokensAtTheEnd) {
  auto model = loadFake("decoder", FakeWeights());
  Padded padded{2, 2, {7, 8, 9, 10}, {}, {}, {}};
  std::vector<tfc_tensor> inputs = padded.tensors();
  GenerateOptions options;
  options.maxNewTokens = 5;
  options.eos = noEos;
  options.decoding = beamDecoding(2);
  options.decoding->num_return_sequences = 2;
  std::vector<int64_t> rows, tokens;
  int64_t numEnds = 0;
  size_t most = 100;
  options.onToken = [&](int64_t row, int64_t token, bool isEnd) {
    rows.push_back(row);
    tokens.push_back(token);
    numEnds += isEnd;
    return rows.size() < most;
  };
  auto got = runGenerate(*model, inputs.data(), 1, options);
  ASSERT_TRUE(got) << messageOf(got);
  ASSERT_EQ(got->front().shape, (std::vector<int64_t>{4, 7}));
  ASSERT_EQ(rows.size(), 20U);
  EXPECT_EQ(numEnds, 4);
  for (int64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(rows[i], i / 5);
    EXPECT_EQ(tokens[i], got->front().ints[i / 5 * 7 + 2 + i % 5]);
  }
  rows.clear();
  most = 7;
  ASSERT_TRUE(runGenerate(*model, inputs.data(), 1, options));
  EXPECT_EQ(rows.size(), 7U);
}

TEST(BeamGenerate, ReportsAFullCache) {
  auto model = loadFake("decoder", FakeWeights());
  Padded padded{1, 6, {7, 8, 9, 10, 11, 12}, {}, {}, {}};
  std::vector<tfc_tensor> inputs = padded.tensors();
  GenerateOptions options;
  options.maxNewTokens = 5;
  options.eos = noEos;
  options.decoding = beamDecoding(4);
  options.engine.maxCacheBytes =
      4 * cacheOf(*model->generateEntry(), TFC_CACHE_SELF).block_bytes;
  auto got = runGenerate(*model, inputs.data(), 1, options);
  EXPECT_EQ(messageOf(got),
            "expected a free block of the cache, got all of 4 in use");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::Exhausted);
}

TEST(BeamGenerate, NeedsALanguageHeadAndRoom) {
  auto classifier = loadFake("classifier", FakeWeights());
  auto got =
      generateBy(*classifier, {1, 1, {7}, {}, {}, {}}, 1, beamDecoding(2));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::Unsupported);
  auto model = loadFake("decoder", FakeWeights());
  Padded padded{1, 10, std::vector<int64_t>(10, 7), {}, {}, {}};
  EXPECT_EQ(messageOf(generateBy(*model, padded, 7, beamDecoding(2))),
            "expected prompt and new tokens within 16 (the model's positions), "
            "got 10 and 7");
}

} // namespace
} // namespace tfc::rt::test
