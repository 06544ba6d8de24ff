// How tokens are chosen on a model: options, draws and rules in generation,
// against the whole sequence run again for every token.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/choose/Decoding.h"

#include "test/runtime/RerunModel.h"

#include <set>

namespace tfc::rt::test {
namespace {

TEST(Decoding, TakesTheModelsDefaults) {
  static const int64_t forbidden[] = {13, 14};
  tfc_generation_v0 generation{
      1, 2, 3,  4,  5,  6,         TFC_EARLY_NEVER, 1, 7,
      8, 9, 10, 11, 12, forbidden, forbidden + 1,   2, 1};
  tfc_module_v0 table{};
  table.generation = &generation;
  tfc_decoding_options got = defaultDecoding(table);
  EXPECT_EQ(got.struct_size, sizeof(got));
  EXPECT_EQ(got.forced_bos, 1);
  EXPECT_EQ(got.forced_eos, 2);
  EXPECT_EQ(got.min_length, 3);
  EXPECT_EQ(got.no_repeat_ngram, 5);
  EXPECT_EQ(got.num_beams, 6U);
  EXPECT_EQ(got.early_stopping, 2U);
  EXPECT_EQ(got.do_sample, 1U);
  EXPECT_EQ(got.top_k, 7U);
  EXPECT_EQ(got.temperature, 8);
  EXPECT_EQ(got.top_p, 9);
  EXPECT_EQ(got.min_p, 10);
  EXPECT_EQ(got.length_penalty, 11);
  EXPECT_EQ(got.repetition_penalty, 12);
  EXPECT_EQ(got.suppress, forbidden);
  EXPECT_EQ(got.begin_suppress, forbidden + 1);
  EXPECT_EQ(got.n_suppress, 2U);
  EXPECT_EQ(got.n_begin_suppress, 1U);
  EXPECT_EQ(got.num_return_sequences, 1U);
  EXPECT_EQ(got.min_new_tokens, 0);
  EXPECT_EQ(got.timestamp_begin, 0);
  EXPECT_EQ(got.max_initial_timestamp, -1);
  EXPECT_EQ(got.seed, 0U);
}

TEST(Decoding, RefusesWhatMeansNothing) {
  auto faults = [](auto set) {
    tfc_decoding_options options = plainDecoding();
    set(options);
    return messageOf(checkDecoding(options, 30));
  };
  using O = tfc_decoding_options;
  EXPECT_EQ(faults([](O &) {}), "");
  EXPECT_EQ(faults([](O &o) { o.forced_bos = 30; }),
            "forced_bos: expected -1 or a token id below 30, got 30");
  EXPECT_EQ(faults([](O &o) { o.forced_eos = -2; }),
            "forced_eos: expected -1 or a token id below 30, got -2");
  EXPECT_EQ(faults([](O &o) { o.min_length = -1; }),
            "min_length: expected a number from 0 on, got -1");
  EXPECT_EQ(faults([](O &o) { o.min_new_tokens = -1; }),
            "min_new_tokens: expected a number from 0 on, got -1");
  EXPECT_EQ(faults([](O &o) { o.no_repeat_ngram = -1; }),
            "no_repeat_ngram: expected a number from 0 on, got -1");
  EXPECT_EQ(faults([](O &o) { o.repetition_penalty = 0; }),
            "repetition_penalty: expected a number above 0, got 0");
  EXPECT_EQ(faults([](O &o) { o.presence_penalty = NAN; }),
            "presence_penalty: expected a number that a float can be, got nan");
  EXPECT_EQ(faults([](O &o) { o.frequency_penalty = -1e39; }),
            "frequency_penalty: expected a number that a float can be, got "
            "-1e+39");
  static const int64_t tokens[] = {29, 30};
  auto forbids = [&](uint32_t count) {
    return faults([=](O &o) {
      o.suppress = o.begin_suppress = tokens;
      o.n_suppress = o.n_begin_suppress = count;
    });
  };
  EXPECT_EQ(forbids(1), "");
  EXPECT_EQ(forbids(2),
            "suppress: expected token ids from 0 to 29, got 30\n"
            "begin_suppress: expected token ids from 0 to 29, got 30");
  EXPECT_EQ(faults([](O &o) { o.n_suppress = 1; }),
            "suppress: expected tokens, got null");
  EXPECT_EQ(faults([](O &o) { o.timestamp_begin = 29; }), "");
  EXPECT_EQ(faults([](O &o) { o.timestamp_begin = 30; }),
            "timestamp_begin: expected 0 or a token id below 30, got 30");
  EXPECT_EQ(faults([](O &o) { o.timestamp_begin = -1; }),
            "timestamp_begin: expected 0 or a token id below 30, got -1");
  EXPECT_EQ(faults([](O &o) { o.max_initial_timestamp = -2; }),
            "max_initial_timestamp: expected a number from -1 on, got -2");
  EXPECT_EQ(faults([](O &o) { o.num_beams = 0; }),
            "num_beams: expected a number from 1 to 1024, got 0");
  EXPECT_EQ(faults([](O &o) { o.num_beams = 1025; }),
            "num_beams: expected a number from 1 to 1024, got 1025");
  EXPECT_EQ(faults([](O &o) { o.num_return_sequences = 0; }),
            "num_return_sequences: expected at least 1, got 0");
  EXPECT_EQ(faults([](O &o) { o.num_return_sequences = 2; }),
            "num_return_sequences: expected 1 (without beams and draws all "
            "would be the same), got 2");
  EXPECT_EQ(faults([](O &o) {
              o.num_beams = 3;
              o.num_return_sequences = 4;
            }),
            "num_return_sequences: expected at most num_beams, got 4");
  EXPECT_EQ(faults([](O &o) { o.early_stopping = 3; }),
            "early_stopping: expected 0, 1 or 2, got 3");
  EXPECT_EQ(faults([](O &o) { o.length_penalty = NAN; }),
            "length_penalty: expected a number, got nan");
  auto drawing = [&](auto set) {
    return faults([&](O &o) {
      o.do_sample = 1;
      set(o);
    });
  };
  EXPECT_EQ(drawing([](O &o) { o.num_return_sequences = 9; }), "");
  EXPECT_EQ(drawing([](O &o) { o.temperature = 0; }),
            "temperature: expected a number above 0, got 0");
  EXPECT_EQ(drawing([](O &o) { o.top_p = 1.5; }),
            "top_p: expected a number from 0 to 1, got 1.5");
  EXPECT_EQ(drawing([](O &o) { o.min_p = NAN; }),
            "min_p: expected a number from 0 to 1, got nan");
  // It is computed with as a float, which this would be 0 or infinite as.
  EXPECT_EQ(drawing([](O &o) { o.temperature = 1e-50; }),
            "temperature: expected a number above 0 as a float, got 1e-50");
  EXPECT_EQ(drawing([](O &o) { o.temperature = 1e50; }),
            "temperature: expected a number above 0 as a float, got 1e+50");
  EXPECT_EQ(drawing([](O &o) { o.num_return_sequences = 1024; }), "");
  EXPECT_EQ(drawing([](O &o) { o.num_return_sequences = 1025; }),
            "num_return_sequences: expected at most 1024, got 1025");
  // What is not read may be anything; what is wrong is said all at once.
  EXPECT_EQ(faults([](O &o) { o.temperature = 0; }), "");
  EXPECT_EQ(messageOf(checkDecoding({}, 30)),
            "repetition_penalty: expected a number above 0, got 0\n"
            "num_beams: expected a number from 1 to 1024, got 0\n"
            "num_return_sequences: expected at least 1, got 0");
}

TEST(Decoding, MakesRulesAndBeams) {
  tfc_decoding_options how = plainDecoding();
  how.min_length = 9;
  ScoreRules rules = makeScoreRules(how, {3, 4}, 5, 7);
  EXPECT_EQ(rules.eos, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(rules.maxLength, 12);
  EXPECT_EQ(rules.minLength, 9);
  EXPECT_EQ(rules.minKept, 1);
  EXPECT_FALSE(rules.isSampled);
  how.min_new_tokens = 2;
  how.num_beams = 3;
  how.early_stopping = TFC_EARLY_NEVER;
  how.length_penalty = 0.5;
  rules = makeScoreRules(how, {3, 4}, 5, 7);
  EXPECT_EQ(rules.minLength, 0) << "new tokens are counted instead";
  EXPECT_EQ(rules.minNewTokens, 2);
  EXPECT_EQ(rules.minKept, 3);
  EXPECT_EQ(makeScoreRules(how, {}, 5, 7).minKept, 2);
  BeamOptions beams = makeBeamOptions(how, {3, 4}, 5, 7);
  EXPECT_EQ(beams.eos, rules.eos);
  EXPECT_EQ(beams.numBeams, 3);
  EXPECT_EQ(beams.maxLength, 12);
  EXPECT_EQ(beams.lengthPenalty, 0.5);
  EXPECT_EQ(beams.earlyStopping, EarlyStopping::Never);
}

/// Rows of padded prompts by the rules, each token of the whole sequence again.
std::vector<int64_t> rerun(const FakeWeights &weights, const Padded &padded,
                           const tfc_decoding_options &how,
                           const std::vector<int64_t> &eos,
                           int64_t maxNewTokens) {
  std::vector<std::vector<int32_t>> rows;
  size_t longest = 0;
  for (int64_t row = 0; row < padded.batch; ++row) {
    RerunModel model(weights, padded, row);
    ScoreRules rules = makeScoreRules(how, eos, padded.length, maxNewTokens);
    for (uint32_t i = 0; i < how.num_return_sequences; ++i) {
      std::vector<int32_t> tokens = model.prompt();
      bool isDone = false;
      for (uint32_t n = 0; n < maxNewTokens && !isDone; ++n) {
        std::vector<float> scores = model.logits(tokens);
        ScoreScratch scratch;
        processScores(rules,
                      {tokens.data(), static_cast<int64_t>(tokens.size()),
                       padded.length, model.numPadding()},
                      scores.data(), vocab, scratch);
        int64_t token = how.do_sample
                            ? drawToken(scores.data(), vocab, {how.seed, i, n})
                            : greatestScore(scores.data(), vocab);
        tokens.push_back(static_cast<int32_t>(token));
        isDone = std::find(eos.begin(), eos.end(), token) != eos.end();
      }
      longest = std::max(longest, tokens.size());
      rows.push_back(tokens);
    }
  }
  std::vector<int64_t> all;
  for (std::vector<int32_t> &row : rows) {
    row.resize(longest, 0);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

TEST(Decoding, GeneratesByTheRules) {
  using O = tfc_decoding_options;
  const std::vector<std::pair<const char *, std::function<void(O &)>>> cases = {
      {"repetition", [](O &o) { o.repetition_penalty = 3; }},
      {"presence", [](O &o) { o.presence_penalty = 2; }},
      {"frequency", [](O &o) { o.frequency_penalty = 0.5; }},
      {"frequency that is wanted", [](O &o) { o.frequency_penalty = -2; }},
      {"ngram", [](O &o) { o.no_repeat_ngram = 1; }},
      {"min length", [](O &o) { o.min_length = 10; }},
      {"min new", [](O &o) { o.min_new_tokens = 5; }},
      {"min new instead of min length",
       [](O &o) { o.min_new_tokens = 1, o.min_length = 16; }},
      {"forced end", [](O &o) { o.forced_eos = 5; }},
      {"forced begin", [](O &o) { o.forced_bos = 9; }},
      {"times", [](O &o) { o.timestamp_begin = 9; }},
      {"times drawn",
       [](O &o) {
         o.timestamp_begin = 6, o.max_initial_timestamp = 1, o.do_sample = 1;
       }},
      {"draw", [](O &o) { o.do_sample = 1, o.seed = 5; }},
      {"draws", [](O &o) { o.do_sample = 1, o.num_return_sequences = 3; }},
      {"all", [](O &o) {
         o.do_sample = 1, o.temperature = 2, o.top_k = 9, o.top_p = 0.9;
         o.min_p = 0.01, o.repetition_penalty = 1.2, o.no_repeat_ngram = 2;
       }}};
  for (const auto &[name, set] : cases) {
    tfc_decoding_options how = plainDecoding();
    set(how);
    size_t numDifferent = 0;
    for (uint32_t seed = 0; seed < 12; ++seed) {
      SCOPED_TRACE(concat(name, ", seed ", seed));
      FakeWeights weights(seed);
      auto model = loadFake("decoder", weights, 1 + seed % 3);
      Padded padded = randomPrompt(seed);
      if (how.forced_bos >= 0) {
        padded = {2, 1, {7, 8}, {}, {}, {}};
      }
      auto got = generateBy(*model, padded, 8, how);
      ASSERT_TRUE(got) << messageOf(got);
      EXPECT_EQ(got->front().ints, rerun(weights, padded, how, {3, 5}, 8));
      auto plain = generate(*model, padded, 8);
      numDifferent += plain && plain->ints != got->front().ints;
    }
    EXPECT_GT(numDifferent, 0U) << name << " changed nothing";
  }
}

/// The same seed, the same text: in a batch or alone, on any threads.
TEST(Decoding, DrawsDependOnTheSeedAlone) {
  FakeWeights weights(7);
  auto model = loadFake("decoder", weights, 1);
  auto threaded = loadFake("decoder", weights, 4);
  Padded padded{3, 3, {7, 8, 9, 10, 11, 12, 0, 7, 8}, {}, {}, {}};
  padded.mask = {1, 1, 1, 1, 1, 1, 0, 1, 1};
  tfc_decoding_options how = plainDecoding();
  how.do_sample = 1;
  how.num_return_sequences = 2;
  how.temperature = 8;
  std::set<std::vector<int64_t>> texts;
  for (uint64_t seed = 1; seed < 6; ++seed) {
    how.seed = seed;
    auto one = generateBy(*model, padded, 8, how, noEos);
    auto many = generateBy(*threaded, padded, 8, how, noEos);
    ASSERT_TRUE(one && many) << messageOf(one);
    EXPECT_EQ(one->size(), 1U);
    const OutputTensor &all = one->front();
    EXPECT_EQ(all.shape, (std::vector<int64_t>{6, 11}));
    EXPECT_EQ(all.ints, many->front().ints);
    texts.insert(all.ints);
    EXPECT_FALSE(std::equal(all.ints.begin(), all.ints.begin() + 11,
                            all.ints.begin() + 11))
        << "two sequences returned for a prompt";
    // The last row alone, without its padding.
    auto alone = generateBy(*model, {1, 2, {7, 8}, {}, {}, {}}, 8, how, noEos);
    ASSERT_TRUE(alone) << messageOf(alone);
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(std::equal(all.ints.begin() + (4 + i) * 11 + 1,
                             all.ints.begin() + (5 + i) * 11,
                             alone->front().ints.begin() + i * 10));
    }
  }
  EXPECT_EQ(texts.size(), 5U);
}

/// Several sequences of a prompt, which may end in a masked token, part behind
/// it.
TEST(Decoding, ComputesAPromptOnceForItsSequences) {
  FakeWeights weights(7);
  Folder folder;
  writeTensors(folder / "model.safetensors", weights.stored());
  int64_t numComputed = 0;
  LoadOptions load;
  load.libraryPath = fakeLibrary("tapped_decoder");
  load.weightsPath = folder.path.string();
  load.tap = [&](const TappedValue &value) {
    numComputed += value.layer == 0 ? value.rows : 0;
    return false;
  };
  auto tapped = Model::load(load);
  ASSERT_TRUE(tapped) << messageOf(tapped);
  tfc_decoding_options how = plainDecoding();
  how.do_sample = 1;
  how.num_return_sequences = 3;
  how.temperature = 8;
  Padded padded{2, 5, {7, 8, 9, 10, 11, 12, 4, 7, 8, 9}, {}, {}, {}};
  for (int64_t last : {1, 0}) {
    padded.mask = {0, 1, 1, 1, 1, 1, 1, 1, 1, last};
    numComputed = 0;
    auto got = generateBy(**tapped, padded, 6, how, noEos);
    ASSERT_TRUE(got) << messageOf(got);
    EXPECT_EQ(got->front().ints, rerun(weights, padded, how, {}, 6));
    // A masked last token is computed, too.
    EXPECT_EQ(numComputed, 4 + 5 + 2 * 3 * 5);
  }
}

/// Without positions there is no limit: the largest number is none either.
TEST(Decoding, TheLargestLengthIsNoLimit) {
  auto model = loadFake("endless", FakeWeights(7));
  Padded padded{3, 3, {7, 8, 9, 10, 11, 12, 1, 7, 8}, {}, {}, {}};
  std::vector<int64_t> eos; // most tokens, so that every row ends
  for (int64_t token = 6; token < vocab; ++token) {
    eos.push_back(token);
  }
  tfc_decoding_options how = plainDecoding();
  how.forced_eos = 3;
  how.min_new_tokens = 2;
  for (uint32_t numBeams : {1U, 4U}) {
    how.num_beams = numBeams;
    auto limited = generateBy(*model, padded, 40, how, eos);
    ASSERT_TRUE(limited) << messageOf(limited);
    ASSERT_LT(limited->front().shape[1], 40);
    EXPECT_GT(limited->front().shape[1], 4);
    auto unlimited = generateBy(*model, padded, INT64_MAX, how, eos);
    ASSERT_TRUE(unlimited) << messageOf(unlimited);
    EXPECT_EQ(limited->front().ints, unlimited->front().ints);
    EXPECT_EQ(limited->back().floats, unlimited->back().floats);
  }
  EXPECT_EQ(makeScoreRules(how, eos, 5, INT64_MAX).maxLength, INT32_MAX);
  EXPECT_EQ(makeBeamOptions(how, eos, 5, INT64_MAX).maxLength, INT32_MAX);
}

TEST(Decoding, RefusesMoreSequencesThanTheCacheHolds) {
  auto model = loadFake("decoder", FakeWeights(7));
  tfc_decoding_options how = plainDecoding();
  how.do_sample = 1;
  how.num_return_sequences = 5;
  GenerateOptions options;
  options.maxNewTokens = 1;
  options.decoding = how;
  options.engine.maxCacheBytes =
      15 * cacheOf(*model->generateEntry(), TFC_CACHE_SELF).block_bytes;
  // Of 5, 4 and 1 tokens, in blocks of 4.
  Padded padded{3,  5,  {7, 8, 9, 10, 11, 7, 7, 8, 9, 9, 7, 7, 7, 7, 7},
                {}, {}, {}};
  padded.mask = {1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1};
  std::vector<tfc_tensor> inputs = padded.tensors();
  auto run = [&] { return runGenerate(*model, inputs.data(), 2, options); };
  auto refused = run();
  EXPECT_EQ(messageOf(refused),
            "expected room for 3 prompts, 5 sequences each, in the cache (16 "
            "blocks), got 15");
  EXPECT_EQ(refused.error().code, Code::Exhausted);
  options.engine.maxCacheBytes =
      16 * cacheOf(*model->generateEntry(), TFC_CACHE_SELF).block_bytes;
  EXPECT_EQ(messageOf(run()), "");
}

TEST(Decoding, RefusesBadOptionsBeforeTheInputs) {
  auto model = loadFake("decoder", FakeWeights());
  tfc_decoding_options how = plainDecoding();
  how.num_beams = 0;
  EXPECT_EQ(messageOf(generateBy(*model, {1, 1, {7}, {}, {}, {}}, 1, how)),
            "num_beams: expected a number from 1 to 1024, got 0");
}

} // namespace
} // namespace tfc::rt::test
