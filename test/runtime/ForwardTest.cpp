// Forward passes: ragged batches, holes, spectators, every way to take rows,
// and every input that must be refused.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/FakeModel.h"

#include <cstring>
#include <random>

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

/// The reference's states with zeros where tokens are masked.
std::vector<double> visible(const Padded &padded, std::vector<double> state) {
  for (int64_t i = 0; i < padded.batch * padded.length; ++i) {
    if (!padded.exists(i / padded.length, i % padded.length)) {
      std::fill_n(state.begin() + i * width, width, 0.0);
    }
  }
  return state;
}

Padded randomBatch(uint32_t seed, int64_t batch, int64_t length) {
  std::mt19937 random(seed);
  Padded padded;
  padded.batch = batch;
  padded.length = length;
  for (int64_t i = 0; i < batch * length; ++i) {
    padded.ids.push_back(random() % vocab);
    padded.mask.push_back(random() % 3 != 0);
    padded.types.push_back(random() % 3);
    padded.positions.push_back(random() % positions);
  }
  for (int64_t row = 0; row < batch; ++row) {
    padded.mask[row * length + random() % length] = 1;
  }
  return padded;
}

/// Positions that depend on other tokens are those that a caller would have
/// counted.
TEST(Forward, PositionsByPadding) {
  FakeWeights weights;
  auto model = loadFake("from_pad", weights);
  Padded padded;
  padded.batch = 2;
  padded.length = 5;
  // 5 is the pad token, masked or not; a masked token counts if it is another.
  padded.ids = {5, 9, 5, 7, 5, 3, 4, 8, 5, 5};
  padded.mask = {1, 1, 1, 1, 1, 1, 0, 1, 0, 0};
  auto filled = forward(*model, padded);
  ASSERT_TRUE(filled) << messageOf(filled);
  padded.positions = {5, 6, 5, 7, 5, 6, 7, 8, 5, 5};
  auto given = forward(*model, padded);
  ASSERT_TRUE(given) << messageOf(given);
  for (const OutputTensor &output : *given) {
    EXPECT_EQ(named(*filled, output.name).floats, output.floats);
  }
  // Of 16 positions, the pad token's and those before it are nobody's.
  padded = randomBatch(1, 1, 11);
  padded.positions.clear();
  EXPECT_NE(messageOf(forward(*model, padded)).find("at most 10"),
            std::string::npos);
}

TEST(Forward, PositionsByMask) {
  FakeWeights weights;
  auto model = loadFake("from_mask", weights);
  Padded padded;
  padded.batch = 2;
  padded.length = 4;
  padded.ids = {9, 8, 7, 6, 5, 4, 3, 2};
  padded.mask = {0, 0, 1, 1, 1, 0, 1, 0};
  auto filled = forward(*model, padded);
  ASSERT_TRUE(filled) << messageOf(filled);
  padded.positions = {0, 0, 0, 1, 0, 0, 1, 0};
  auto given = forward(*model, padded);
  ASSERT_TRUE(given) << messageOf(given);
  const std::string name = "last_hidden_state";
  EXPECT_EQ(named(*filled, name).floats, named(*given, name).floats);
}

TEST(Forward, MatchesReferenceForRandomMasks) {
  FakeWeights weights;
  auto model = loadFake("encoder", weights);
  for (uint32_t seed = 0; seed < 20; ++seed) {
    Padded padded = randomBatch(seed, 1 + seed % 4, 1 + seed % 16);
    if (seed % 2) {
      padded.types.clear();
      padded.positions.clear();
    }
    auto outputs = forward(*model, padded);
    ASSERT_TRUE(outputs) << messageOf(outputs);
    std::vector<double> state = referenceState(weights, padded, false);
    const OutputTensor &hidden = named(*outputs, "last_hidden_state");
    EXPECT_EQ(hidden.shape,
              (std::vector<int64_t>{padded.batch, padded.length, width}));
    expectNear(hidden.floats, visible(padded, state));
    // The first column is taken whether the mask hides it or not.
    std::vector<double> logits;
    for (int64_t row = 0; row < padded.batch; ++row) {
      std::vector<double> one =
          referenceLogits(weights, &state[row * padded.length * width]);
      logits.insert(logits.end(), one.begin(), one.end());
    }
    const OutputTensor &taken = named(*outputs, "logits");
    EXPECT_EQ(taken.shape, (std::vector<int64_t>{padded.batch, vocab}));
    expectNear(taken.floats, logits);
    EXPECT_EQ(named(*outputs, "start_logits").shape,
              (std::vector<int64_t>{padded.batch, padded.length}));
  }
}

TEST(Forward, DecoderGivesLogitsOfEveryToken) {
  FakeWeights weights;
  auto model = loadFake("decoder", weights);
  Padded padded{2, 5, {7, 8, 9, 10, 11, 0, 0, 12, 13, 14}, {}, {}, {}};
  padded.mask = {1, 1, 1, 1, 1, 0, 0, 1, 1, 1};
  auto outputs = forward(*model, padded);
  ASSERT_TRUE(outputs) << messageOf(outputs);
  std::vector<double> state =
      visible(padded, referenceState(weights, padded, true));
  expectNear(named(*outputs, "last_hidden_state").floats, state);
  std::vector<double> logits;
  for (int64_t i = 0; i < 10; ++i) {
    std::vector<double> one = referenceLogits(weights, &state[i * width]);
    if (!padded.mask[i]) {
      one.assign(vocab, 0);
    }
    logits.insert(logits.end(), one.begin(), one.end());
  }
  const OutputTensor &all = named(*outputs, "logits");
  EXPECT_EQ(all.shape, (std::vector<int64_t>{2, 5, vocab}));
  expectNear(all.floats, logits);
}

/// Logits of the given columns, one a row.
std::vector<double> logitsAt(const FakeWeights &weights, const Padded &padded,
                             const std::vector<int64_t> &columns) {
  std::vector<double> state = referenceState(weights, padded, true);
  std::vector<double> logits;
  for (int64_t row = 0; row < padded.batch; ++row) {
    std::vector<double> one = referenceLogits(
        weights, &state[(row * padded.length + columns[row]) * width]);
    logits.insert(logits.end(), one.begin(), one.end());
  }
  return logits;
}

TEST(Forward, ClassifierTakesLastColumnThatIsNotPad) {
  FakeWeights weights;
  auto model = loadFake("classifier", weights);
  // Right padding, left padding, a hidden last token, nothing but pad.
  Padded padded{4, 4, {}, {}, {}, {}};
  padded.ids = {7, 8, 0, 0, 0, 0, 9, 10, 11, 12, 13, 14, 0, 0, 0, 0};
  padded.mask = {1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1};
  auto outputs = forward(*model, padded);
  ASSERT_TRUE(outputs) << messageOf(outputs);
  expectNear(named(*outputs, "logits").floats,
             logitsAt(weights, padded, {1, 3, 3, 0}));
  expectNear(named(*outputs, "last_hidden_state").floats,
             visible(padded, referenceState(weights, padded, true)));
}

TEST(Forward, SpectatorNeedsATokenBeforeIt) {
  auto model = loadFake("classifier", FakeWeights());
  Padded padded{1, 3, {0, 0, 0}, {0, 1, 1}, {}, {}};
  EXPECT_EQ(messageOf(forward(*model, padded)),
            "input \"attention_mask\": expected a token before column 0 of row "
            "0 (an output is taken there), got none");
}

TEST(Forward, WithoutPadTokenOnlyOneRow) {
  FakeWeights weights;
  auto model = loadFake("nopad", weights);
  Padded padded{1, 3, {7, 0, 0}, {}, {}, {}};
  auto outputs = forward(*model, padded);
  ASSERT_TRUE(outputs) << messageOf(outputs);
  expectNear(named(*outputs, "logits").floats, logitsAt(weights, padded, {2}));
  Padded two{2, 1, {7, 8}, {}, {}, {}};
  EXPECT_EQ(messageOf(forward(*model, two)),
            "expected a batch of 1 (the model has no pad token), got 2");
  EXPECT_TRUE(forward(*model, two, {"last_hidden_state"}));
}

TEST(Forward, BatchEqualsAloneAndThreadsDoNotMatter) {
  FakeWeights weights;
  Padded padded = randomBatch(5, 6, 13);
  std::vector<std::vector<float>> results;
  for (uint32_t threads : {1, 2, 5}) {
    auto model = loadFake("encoder", weights, threads);
    auto outputs = forward(*model, padded);
    ASSERT_TRUE(outputs) << messageOf(outputs);
    results.push_back(named(*outputs, "last_hidden_state").floats);
    EXPECT_EQ(results.back(), results.front());
    for (int64_t row = 0; row < padded.batch; ++row) {
      auto cut = [&](const std::vector<int64_t> &all) {
        auto begin = all.begin() + row * padded.length;
        return std::vector<int64_t>(begin, begin + padded.length);
      };
      Padded alone{1,
                   padded.length,
                   cut(padded.ids),
                   cut(padded.mask),
                   cut(padded.types),
                   cut(padded.positions)};
      auto one = forward(*model, alone);
      ASSERT_TRUE(one) << messageOf(one);
      auto begin = results.back().begin() + row * padded.length * width;
      EXPECT_EQ(named(*one, "last_hidden_state").floats,
                std::vector<float>(begin, begin + padded.length * width));
    }
  }
}

TEST(Forward, NarrowIntegersGiveTheSameBits) {
  auto model = loadFake("encoder", FakeWeights());
  Padded padded{1, 3, {4, 5, 6}, {}, {}, {}};
  // One byte off: the data need not be aligned.
  char bytes[13];
  for (int i = 0; i < 3; ++i) {
    int32_t id = 4 + i;
    std::memcpy(bytes + 1 + 4 * i, &id, 4);
  }
  tfc_tensor narrow{"input_ids", TFC_I32, 2, {1, 3, 0}, bytes + 1};
  auto one = forward(*model, padded);
  auto other = runForward(*model, &narrow, 1, {});
  ASSERT_TRUE(one && other);
  EXPECT_EQ((*one)[0].floats, (*other)[0].floats);
}

TEST(Forward, OnlyWantedOutputs) {
  auto model = loadFake("encoder", FakeWeights());
  Padded padded{1, 2, {4, 5}, {}, {}, {}};
  auto outputs = forward(*model, padded, {"start_logits"});
  ASSERT_TRUE(outputs) << messageOf(outputs);
  ASSERT_EQ(outputs->size(), 1U);
  EXPECT_EQ(outputs->front().name, "start_logits");
  EXPECT_EQ(messageOf(forward(*model, padded, {"pooler"})),
            "output \"pooler\": expected an output of the model, got another "
            "name");
}

struct BadInput {
  const char *what;
  std::vector<tfc_tensor> inputs;
  const char *message;
};

TEST(Forward, RefusesBadInputs) {
  auto model = loadFake("encoder", FakeWeights());
  static const int64_t ids[40] = {4, 5, 6, 7, 8, 9};
  static const int64_t wild[6] = {4, 5, 32, 7, 8, 9};
  static const int64_t negative[6] = {4, 5, 6, -1, 8, 9};
  static const int64_t huge[6] = {4, 5, int64_t(1) << 40, 7, 8, 9};
  static const int64_t masks[6] = {1, 1, 0, 0, 0, 0};
  static const int64_t badMask[6] = {1, 2, 1, 1, 1, 1};
  auto tensor = [](const char *name, const int64_t *data, int64_t batch,
                   int64_t length) {
    return tfc_tensor{name, TFC_I64, 2, {batch, length, 0}, data};
  };
  tfc_tensor good = tensor("input_ids", ids, 2, 3);
  tfc_tensor flat = good, floats = good;
  flat.rank = 1;
  floats.dtype = TFC_F32;
  const BadInput cases[] = {
      {"nothing", {}, "input \"input_ids\": expected a tensor, got none"},
      {"an unknown name",
       {good, tensor("labels", ids, 2, 3)},
       "input \"labels\": expected one of input_ids, token_type_ids, "
       "position_ids, attention_mask, got another name"},
      {"a name twice",
       {good, good},
       "input \"input_ids\": expected once, got twice"},
      {"floats",
       {floats},
       "input \"input_ids\": expected dtype I32 or I64, got F32"},
      {"one axis",
       {flat},
       "input \"input_ids\": expected shape [batch, length], each at least 1, "
       "got [2]"},
      {"zero rows",
       {tensor("input_ids", ids, 0, 3)},
       "input \"input_ids\": expected shape [batch, length], each at least 1, "
       "got [0, 3]"},
      {"zero columns",
       {tensor("input_ids", ids, 2, 0)},
       "input \"input_ids\": expected shape [batch, length], each at least 1, "
       "got [2, 0]"},
      {"negative rows",
       {tensor("input_ids", ids, -2, 3)},
       "input \"input_ids\": expected shape [batch, length], each at least 1, "
       "got [-2, 3]"},
      {"absurdly many tokens",
       {tensor("input_ids", ids, int64_t(1) << 40, int64_t(1) << 40)},
       "input \"input_ids\": expected at most 1073741824 tokens, got shape "
       "[1099511627776, 1099511627776]"},
      {"shapes that differ",
       {good, tensor("token_type_ids", ids, 3, 2)},
       "input \"token_type_ids\": expected shape [2, 3] (that of input_ids), "
       "got [3, 2]"},
      {"an id beyond the table",
       {tensor("input_ids", wild, 2, 3)},
       "input \"input_ids\": expected values from 0 to 31, got 32 at [0, 2]"},
      {"a negative id",
       {tensor("input_ids", negative, 2, 3)},
       "input \"input_ids\": expected values from 0 to 31, got -1 at [1, 0]"},
      {"an id beyond 32 bits",
       {tensor("input_ids", huge, 2, 3)},
       "input \"input_ids\": expected values from 0 to 31, got 1099511627776 "
       "at [0, 2]"},
      {"a wild id under the mask",
       {tensor("input_ids", wild, 2, 3), tensor("attention_mask", masks, 2, 3)},
       "input \"input_ids\": expected values from 0 to 31, got 32 at [0, 2]"},
      {"a mask of twos",
       {good, tensor("attention_mask", badMask, 2, 3)},
       "input \"attention_mask\": expected values from 0 to 1, got 2 at [0, "
       "1]"},
      {"a row without a token",
       {good, tensor("attention_mask", masks, 2, 3)},
       "input \"attention_mask\": expected a token in every row, got none in "
       "row 1"},
      {"too long",
       {tensor("input_ids", ids, 1, 17)},
       "input \"input_ids\": expected a length of at most 16 (the model's "
       "positions), got 17"},
      {"two faults",
       {tensor("input_ids", wild, 2, 3), tensor("labels", ids, 2, 3)},
       "input \"input_ids\": expected values from 0 to 31, got 32 at [0, 2]\n"
       "input \"labels\": expected one of input_ids, token_type_ids, "
       "position_ids, attention_mask, got another name"},
  };
  for (const BadInput &bad : cases) {
    auto outputs = runForward(*model, bad.inputs.data(),
                              static_cast<uint32_t>(bad.inputs.size()), {});
    EXPECT_EQ(messageOf(outputs), bad.message) << bad.what;
    EXPECT_TRUE(outputs || outputs.error().code == Code::InvalidArgument)
        << bad.what;
  }
}

TEST(Forward, ReportsStatusOfCompiledCode) {
  auto model = loadFake("failing", FakeWeights());
  auto outputs = forward(*model, Padded{1, 1, {4}, {}, {}, {}});
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code, Code::Internal);
  EXPECT_NE(messageOf(outputs).find("expected status 0, got 7"),
            std::string::npos);
}

} // namespace
} // namespace tfc::rt::test
