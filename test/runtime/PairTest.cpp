// Forward passes of encoder-decoders: both entries, and what is refused.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/PairModel.h"

namespace tfc::rt::test {
namespace {

const OutputTensor &named(const std::vector<OutputTensor> &outputs,
                          const std::string &name) {
  for (const OutputTensor &output : outputs) {
    if (output.name == name) {
      return output;
    }
  }
  ADD_FAILURE() << "no output " << name;
  return outputs.front();
}

TEST(Pair, MatchesReferenceForRandomMasks) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    FakeWeights weights(seed);
    auto model = loadFake("translator", weights, 1 + seed % 3);
    int64_t batch = 1 + seed % 4;
    Pair pair{randomBatch(random, batch, 1 + random() % 16),
              randomBatch(random, batch, 1 + random() % 16)};
    EncodedSource source = encodeReference(weights, pair.source);
    std::vector<double> states =
        referenceState(weights, pair.target, true, &source);
    auto outputs = forward(*model, pair);
    ASSERT_TRUE(outputs) << messageOf(outputs);
    ASSERT_EQ(outputs->size(), 4U);
    // The decoder's outputs come first, as in Hugging Face's results.
    EXPECT_EQ(outputs->back().name, "encoder_last_hidden_state");
    EXPECT_EQ(outputs->back().shape,
              (std::vector<int64_t>{batch, pair.source.length, width}));
    expectNear(outputs->back().floats, visible(pair.source, source.states));
    expectNear(named(*outputs, "last_hidden_state").floats,
               visible(pair.target, states));
    const OutputTensor &logits = named(*outputs, "logits");
    EXPECT_EQ(logits.shape,
              (std::vector<int64_t>{batch, pair.target.length, vocab}));
    std::vector<double> expected;
    for (size_t i = 0; i < pair.target.ids.size(); ++i) {
      std::vector<double> one = referenceLogits(weights, &states[i * width]);
      expected.insert(expected.end(), one.begin(), one.end());
    }
    expectNear(logits.floats, visible(pair.target, expected));
  }
}

TEST(Pair, RunsOnlyWhatIsWanted) {
  FakeWeights weights;
  auto model = loadFake("translator", weights);
  Pair pair{{1, 3, {7, 8, 9}, {}, {}, {}}, {}};
  auto outputs = forward(*model, pair, {"encoder_last_hidden_state"});
  ASSERT_TRUE(outputs) << messageOf(outputs);
  ASSERT_EQ(outputs->size(), 1U);
  expectNear(outputs->front().floats,
             encodeReference(weights, pair.source).states);
  EXPECT_EQ(messageOf(forward(*model, pair)),
            "input \"decoder_input_ids\": expected a tensor, got none");
  pair.target = {1, 1, {2}, {}, {}, {}};
  outputs = forward(*model, pair, {"logits"});
  ASSERT_TRUE(outputs) << messageOf(outputs);
  ASSERT_EQ(outputs->size(), 1U);
  EXPECT_EQ(outputs->front().name, "logits");
}

TEST(Pair, ShiftsInputsAndTakesTheLastEndToken) {
  FakeWeights weights;
  auto model = loadFake("shifting", weights);
  // End tokens are 3 and 5; the mask hides one.
  Pair pair{{2, 5, {7, 3, 8, 5, 0, 9, 5, 3, 0, 0}, {}, {}, {}}, {}};
  pair.source.mask = {1, 1, 1, 1, 0, 1, 1, 0, 0, 0};
  EncodedSource source = encodeReference(weights, pair.source);
  Padded shifted{2, 5, {2, 7, 3, 8, 5, 2, 9, 5, 3, 0}, {}, {}, {}};
  std::vector<double> states = referenceState(weights, shifted, true, &source);
  std::vector<double> expected;
  for (int64_t at : {3, 7}) {
    std::vector<double> one = referenceLogits(weights, &states[at * width]);
    expected.insert(expected.end(), one.begin(), one.end());
  }
  for (bool onlyLogits : {true, false}) {
    auto outputs =
        onlyLogits ? forward(*model, pair, {"logits"}) : forward(*model, pair);
    ASSERT_TRUE(outputs) << messageOf(outputs);
    EXPECT_EQ(named(*outputs, "logits").shape,
              (std::vector<int64_t>{2, vocab}));
    expectNear(named(*outputs, "logits").floats, expected);
  }
  auto outputs = forward(*model, pair, {"last_hidden_state"});
  ASSERT_TRUE(outputs) << messageOf(outputs);
  expectNear(outputs->front().floats, states);
  // Given ones are taken as they are, and their masked tokens are spectators.
  pair.target = shifted;
  pair.target.mask = {1, 1, 1, 0, 1, 1, 1, 1, 1, 1};
  states = referenceState(weights, pair.target, true, &source);
  std::vector<double> one = referenceLogits(weights, &states[3 * width]);
  outputs = forward(*model, pair, {"logits"});
  ASSERT_TRUE(outputs) << messageOf(outputs);
  outputs->front().floats.resize(vocab);
  expectNear(outputs->front().floats, one);
}

TEST(Pair, RefusesRowsWithoutTheirEndTokens) {
  auto model = loadFake("shifting", FakeWeights());
  auto message = [&](std::vector<int64_t> ids, int64_t batch) {
    int64_t length = static_cast<int64_t>(ids.size()) / batch;
    return messageOf(
        forward(*model, {{batch, length, std::move(ids), {}, {}, {}}, {}}));
  };
  EXPECT_EQ(message({7, 3, 8, 9}, 2),
            "input \"input_ids\": expected an end token in every row (an "
            "output is taken at the last one), got none in row 1");
  EXPECT_EQ(message({7, 3, 5, 3}, 2),
            "input \"input_ids\": expected equally many end tokens in all rows "
            "(1, as in row 0), got 2 in row 1");
  Pair longer{{1, 2, {7, 3}, {}, {}, {}}, {1, 3, {2, 7, 3}, {}, {}, {}}};
  EXPECT_EQ(messageOf(forward(*model, longer)),
            "input \"decoder_input_ids\": expected the length of input_ids, 2 "
            "(an output is taken at their last end token), got 3");
  EXPECT_TRUE(forward(*model, longer, {"last_hidden_state"}));
}

TEST(Pair, RefusesBadInputs) {
  auto model = loadFake("translator", FakeWeights());
  static const int64_t ids[40] = {4, 5, 6, 7, 8, 9};
  static const int64_t wild[6] = {4, 5, 32, 7, 8, 9};
  static const int64_t masks[6] = {1, 1, 1, 0, 0, 0};
  auto tensor = [](const char *name, const int64_t *data, int64_t batch,
                   int64_t length) {
    return tfc_tensor{name, TFC_I64, 2, {batch, length, 0}, data};
  };
  tfc_tensor source = tensor("input_ids", ids, 2, 3);
  tfc_tensor target = tensor("decoder_input_ids", ids, 2, 2);
  struct Bad {
    std::vector<tfc_tensor> inputs;
    const char *message;
  };
  const Bad cases[] = {
      {{target}, "input \"input_ids\": expected a tensor, got none"},
      {{source, tensor("decoder_attention_mask", masks, 2, 3)},
       "input \"decoder_input_ids\": expected a tensor, got none"},
      {{source, tensor("decoder_input_ids", ids, 3, 2)},
       "input \"decoder_input_ids\": expected 2 rows (those of input_ids), got "
       "3"},
      {{source, target, tensor("decoder_attention_mask", masks, 2, 3)},
       "input \"decoder_attention_mask\": expected shape [2, 2] (that of "
       "decoder_input_ids), got [2, 3]"},
      {{source, tensor("decoder_input_ids", wild, 2, 3)},
       "input \"decoder_input_ids\": expected values from 0 to 31, got 32 at "
       "[0, 2]"},
      {{source, tensor("decoder_input_ids", ids, 2, 3),
        tensor("decoder_attention_mask", masks, 2, 3)},
       "input \"decoder_attention_mask\": expected a token in every row, got "
       "none in row 1"},
      {{source, target, tensor("attention_mask", masks, 2, 3)},
       "input \"attention_mask\": expected a token in every row, got none in "
       "row 1"},
      {{source, tensor("decoder_input_ids", ids, 2, 17)},
       "input \"decoder_input_ids\": expected a length of at most 16 (the "
       "model's positions), got 17"},
      {{source, target, tensor("token_type_ids", ids, 2, 3)},
       "input \"token_type_ids\": expected one of input_ids, position_ids, "
       "attention_mask, decoder_input_ids, decoder_position_ids, "
       "decoder_attention_mask, got another name"},
  };
  for (const Bad &bad : cases) {
    auto outputs = runForward(*model, bad.inputs.data(),
                              static_cast<uint32_t>(bad.inputs.size()), {});
    EXPECT_EQ(messageOf(outputs), bad.message);
    EXPECT_TRUE(outputs || outputs.error().code == Code::InvalidArgument);
  }
}

TEST(Pair, RefusesHolesWhereDistancesCount) {
  auto model = loadFake("distances", FakeWeights());
  Pair pair{{2, 3, {7, 8, 9, 7, 8, 9}, {}, {}, {}},
            {2, 3, {2, 8, 9, 2, 8, 9}, {}, {}, {}}};
  // Padding on either side is none.
  pair.source.mask = {0, 1, 1, 1, 1, 0};
  pair.target.mask = {0, 1, 1, 1, 1, 0};
  EXPECT_TRUE(forward(*model, pair));
  EXPECT_EQ(messageOf(generate(*model, pair, 2)),
            "input \"decoder_attention_mask\": expected padding on the left "
            "(the model counts distances), got a masked token at [1, 2]");
  pair.target.mask = {0, 1, 1, 0, 0, 1};
  EXPECT_TRUE(generate(*model, pair, 2));
  pair.source.mask = {0, 1, 1, 1, 0, 1};
  std::string hole = "input \"attention_mask\": expected no masked token "
                     "between others (the model counts distances), got one at "
                     "[1, 1]";
  EXPECT_EQ(messageOf(forward(*model, pair)), hole);
  EXPECT_EQ(messageOf(generate(*model, pair, 2)), hole);
  // A row taken at a masked token must be its neighbours' neighbour.
  auto classifier = loadFake("classifier_distances", FakeWeights());
  Padded padded{1, 4, {7, 8, 9, 10}, {0, 1, 1, 0}, {}, {}};
  EXPECT_TRUE(test::forward(*classifier, padded));
  padded.mask = {0, 1, 0, 0};
  EXPECT_EQ(messageOf(test::forward(*classifier, padded)),
            "input \"attention_mask\": expected a token at column 3 of row 0 "
            "(an output is taken there, and the model counts distances), got a "
            "masked one");
}

} // namespace
} // namespace tfc::rt::test
