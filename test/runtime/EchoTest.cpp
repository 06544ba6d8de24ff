// How likely a prompt's own tokens are: as a forward pass says, whatever pieces
// the prompt goes in by.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/Requests.h"

#include <cmath>

namespace tfc::rt::test {
namespace {

const Tokens prompt = {7, 8, 9, 10, 11, 3, 4};

Asked askEcho(const Requests &requests, uint32_t likeliest) {
  Asked asked = requests.ask(prompt, 4);
  asked.options.echoes = true;
  asked.options.numLogProbabilities = likeliest;
  return asked;
}

TEST(Echo, IsWhatAForwardPassSays) {
  auto model = loadFake("decoder", FakeWeights(5));
  Padded padded{1, static_cast<int64_t>(prompt.size()), prompt, {}, {}, {}};
  auto outputs = forward(*model, padded, {"logits"});
  ASSERT_TRUE(outputs) << messageOf(outputs);
  const std::vector<float> &logits = (*outputs)[0].floats;
  SessionOptions options;
  options.logits.change = [](void *, uint64_t, float *row, int64_t n) {
    std::fill_n(row, n, 1.0f); // of no concern to the prompt
  };
  for (uint32_t likeliest : {0, 3}) {
    Requests requests(*model, options);
    requests.add(requests.ask({5, 6}, 5));
    uint64_t id = requests.add(askEcho(requests, likeliest));
    requests.run();
    const std::vector<float> &echo = requests.stories[id].echo;
    size_t width = 1 + 2 * likeliest;
    ASSERT_EQ(echo.size(), (prompt.size() - 1) * width);
    for (size_t i = 0; i + 1 < prompt.size(); ++i) {
      const float *row = logits.data() + i * vocab;
      double sum = 0;
      for (int64_t v = 0; v < vocab; ++v) {
        sum += std::exp(double(row[v]));
      }
      EXPECT_NEAR(echo[i * width], row[prompt[i + 1]] - std::log(sum), 1e-5);
      if (likeliest != 0) {
        const float *best = std::max_element(row, row + vocab);
        EXPECT_NEAR(echo[i * width + 1], *best - std::log(sum), 1e-5);
        EXPECT_EQ(echo[i * width + 1 + likeliest], float(best - row));
      }
    }
  }
}

class Echoes : public ::testing::TestWithParam<const char *> {};

TEST_P(Echoes, AreTheSameInAnyPiecesAndCompany) {
  auto model = loadFake(GetParam(), FakeWeights(5), 3);
  Asked asked = askEcho(Requests(*model), 2);
  Story alone = storyAlone(*model, asked);
  bool isPair = GetParam() == std::string("translator");
  EXPECT_EQ(alone.echo.size(), isPair ? 0 : 6U * 5);
  for (int64_t size : {1, 2, 3, 5, 8}) {
    SessionOptions options;
    options.maxStepTokens = size;
    Requests requests(*model, options);
    requests.add(requests.ask({4, 5, 6}, 9));
    uint64_t id = requests.add(asked);
    asked.options.numAnswers = 2;
    uint64_t both = requests.add(asked);
    asked.options.numAnswers = 1;
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(requests.step());
    }
    // What has been told is not told again.
    EXPECT_TRUE(requests.session->pause(id));
    ASSERT_TRUE(requests.step());
    EXPECT_TRUE(requests.session->resume(id));
    requests.run();
    EXPECT_EQ(requests.stories[id], alone) << size;
    EXPECT_EQ(requests.stories[both], alone) << size;
    EXPECT_TRUE(requests.stories[both + 1].echo.empty()) << "with the first";
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Echoes,
                         ::testing::Values("decoder", "window", "translator"));

TEST(Echo, OfASingleTokenIsNothing) {
  auto model = loadFake("decoder", FakeWeights(5));
  Requests requests(*model);
  Asked asked = requests.ask({7}, 2);
  asked.options.echoes = true;
  uint64_t id = requests.add(asked);
  requests.run();
  EXPECT_TRUE(requests.stories[id].echo.empty());
  EXPECT_EQ(requests.stories[id].tokens.size(), 2U);
}

/// Decoders that are given a beginning have something to tell.
TEST(Echo, OfAnEncoderDecoderIsTheDecodersBeginning) {
  auto model = loadFake("translator", FakeWeights(5));
  Requests requests(*model);
  Asked asked = askEcho(requests, 0);
  asked.options.decoding = &asked.decoding;
  Tokens beginning = {2, 9, 8, 7};
  auto id = requests.session->add({prompt.data(), 7}, {beginning.data(), 4}, 2,
                                  asked.options);
  ASSERT_TRUE(id) << messageOf(id);
  requests.run();
  EXPECT_EQ(requests.stories[*id].echo.size(), 3U);
}

} // namespace
} // namespace tfc::rt::test
