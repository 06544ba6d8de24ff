// Generation of padded batches, against the whole sequence run again for every
// token.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/RerunModel.h"

namespace tfc::rt::test {
namespace {

const std::vector<int64_t> modelEos = {3, 5};

void expectGenerates(const Model &model, const FakeWeights &weights,
                     const Padded &padded, const Padded &asMasked,
                     std::optional<std::vector<int64_t>> eos, int64_t pad,
                     int64_t maxNewTokens) {
  auto got = generate(model, padded, maxNewTokens, eos);
  ASSERT_TRUE(got) << messageOf(got);
  std::vector<int64_t> expected = referenceGenerate(
      weights, asMasked, eos.value_or(modelEos), pad, maxNewTokens);
  EXPECT_EQ(got->ints, expected);
  EXPECT_EQ(got->name, "sequences");
  EXPECT_EQ(got->dtype, TFC_I64);
  EXPECT_EQ(
      got->shape,
      (std::vector<int64_t>{
          padded.batch, static_cast<int64_t>(expected.size()) / padded.batch}));
}

TEST(Generate, MatchesReference) {
  size_t numRagged = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    FakeWeights weights(seed);
    auto model = loadFake("decoder", weights, 1 + seed % 3);
    Padded padded = randomPrompt(seed);
    if (seed % 4 == 1) {
      padded.types.assign(padded.ids.size(), 1);
      padded.types.back() = 2;
    }
    if (seed % 4 == 2) {
      for (size_t i = 0; i < padded.ids.size(); ++i) {
        padded.positions.push_back(static_cast<int64_t>(i) % 7);
      }
    }
    expectGenerates(*model, weights, padded, padded, std::nullopt, 0, 8);
    expectGenerates(*model, weights, padded, padded, noEos, 0, 8);
    auto got = generate(*model, padded, 8);
    numRagged += got && got->shape[1] < padded.length + 8;
  }
  EXPECT_GT(numRagged, 0U) << "no case ended with end tokens";
}

/// The end tokens are the row's own third new token: it must stop there.
TEST(Generate, StopsAtEndTokens) {
  FakeWeights weights(11);
  auto model = loadFake("decoder", weights);
  Padded padded{2, 3, {7, 8, 9, 10, 11, 12}, {}, {}, {}};
  auto open = generate(*model, padded, 6, noEos);
  ASSERT_TRUE(open) << messageOf(open);
  for (int64_t column = 3; column < 9; ++column) {
    for (int64_t row = 0; row < 2; ++row) {
      std::vector<int64_t> eos = {31, open->ints[row * 9 + column]};
      expectGenerates(*model, weights, padded, padded, eos, 0, 6);
    }
  }
}

TEST(Generate, GuessesTheMaskAsHuggingFaceDoes) {
  FakeWeights weights(3);
  auto model = loadFake("decoder", weights);
  Padded padded{2, 4, {0, 0, 7, 8, 9, 0, 10, 0}, {}, {}, {}};
  Padded masked = padded;
  masked.mask = {0, 0, 1, 1, 1, 0, 1, 0};
  expectGenerates(*model, weights, padded, masked, std::nullopt, 0, 4);
  expectGenerates(*model, weights, padded, masked, noEos, 0, 4);
  // A pad token that ends rows may be a real one.
  expectGenerates(*model, weights, padded, padded, std::vector<int64_t>{4, 0},
                  0, 4);
  // Without a pad token, the first end token fills and nothing is masked.
  auto openended = loadFake("openended", weights);
  expectGenerates(*openended, weights, padded, padded, std::nullopt, 3, 8);
  expectGenerates(*openended, weights, padded, padded, noEos, -1, 4);
}

TEST(Generate, ARowOfPadHasNoToken) {
  auto model = loadFake("decoder", FakeWeights());
  EXPECT_EQ(
      messageOf(generate(*model, Padded{2, 2, {7, 8, 0, 0}, {}, {}, {}}, 2)),
      "input \"attention_mask\": expected a token in every row, got none "
      "in row 1");
}

TEST(Generate, RefusesMoreTokensThanPositions) {
  auto model = loadFake("decoder", FakeWeights());
  Padded padded{1, 10, std::vector<int64_t>(10, 7), {}, {}, {}};
  EXPECT_TRUE(generate(*model, padded, 6, noEos));
  EXPECT_EQ(messageOf(generate(*model, padded, 7, noEos)),
            "expected prompt and new tokens within 16 (the model's positions), "
            "got 10 and 7");
  EXPECT_EQ(messageOf(generate(*model, padded, INT64_MAX, noEos)),
            "expected prompt and new tokens within 16 (the model's positions), "
            "got 10 and 9223372036854775807");
  EXPECT_EQ(messageOf(generate(*model, padded, 0)),
            "expected at least 1 new token, got 0");
  padded.length = 2;
  padded.ids = {7, 8};
  padded.positions = {3, 12};
  EXPECT_TRUE(generate(*model, padded, 4, noEos));
  EXPECT_EQ(messageOf(generate(*model, padded, 5, noEos)),
            "input \"position_ids\": expected positions below 16, got a prompt "
            "that ends at 12 and 5 new tokens");
}

TEST(Generate, NeedsALanguageHead) {
  for (const char *variant : {"encoder", "classifier"}) {
    auto model = loadFake(variant, FakeWeights());
    auto got = generate(*model, Padded{1, 1, {7}, {}, {}, {}}, 1);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, Code::Unsupported);
    EXPECT_NE(messageOf(got).find("expected a model that generates"),
              std::string::npos);
  }
}

TEST(Generate, StreamsAndStopsEarly) {
  auto model = loadFake("decoder", FakeWeights());
  Padded padded{2, 2, {7, 8, 9, 10}, {}, {}, {}};
  std::vector<tfc_tensor> inputs = padded.tensors();
  std::vector<int64_t> rows, tokens;
  GenerateOptions options;
  options.maxNewTokens = 10;
  options.eos = noEos;
  options.onToken = [&](int64_t row, int64_t token, bool) {
    rows.push_back(row);
    tokens.push_back(token);
    return rows.size() < 5;
  };
  auto got = runGenerate(*model, inputs.data(), 1, options);
  ASSERT_TRUE(got) << messageOf(got);
  EXPECT_EQ(got->front().shape, (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(rows, (std::vector<int64_t>{0, 1, 0, 1, 0, 1}));
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(got->front().ints[i % 2 * 5 + 2 + i / 2], tokens[i]);
  }
}

TEST(Generate, BatchEqualsAloneAndThreadsDoNotMatter) {
  FakeWeights weights(7);
  auto model = loadFake("decoder", weights, 1);
  auto threaded = loadFake("decoder", weights, 4);
  Padded padded = randomPrompt(13);
  auto one = generate(*model, padded, 8, noEos);
  auto many = generate(*threaded, padded, 8, noEos);
  ASSERT_TRUE(one && many);
  EXPECT_EQ(one->ints, many->ints);
  for (int64_t row = 0; row < padded.batch; ++row) {
    auto cut = [&](const std::vector<int64_t> &all, int64_t size) {
      return std::vector<int64_t>(all.begin() + row * size,
                                  all.begin() + (row + 1) * size);
    };
    Padded alone{1,
                 padded.length,
                 cut(padded.ids, padded.length),
                 cut(padded.mask, padded.length),
                 {},
                 {}};
    auto got = generate(*model, alone, 8, noEos);
    ASSERT_TRUE(got) << messageOf(got);
    EXPECT_EQ(got->ints, cut(one->ints, one->shape[1]));
  }
}

} // namespace
} // namespace tfc::rt::test
