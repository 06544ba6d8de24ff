// Some columns of a head: the bits of the whole's, whatever else is asked, and
// nothing else is computed where the library can.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/Requests.h"

#include <cmath>

namespace tfc::rt::test {
namespace {

const Tokens prompt = {7, 8, 9, 10, 11, 3, 4};
const Padded padded{2, 3, {7, 8, 9, 3, 4, 5}, {1, 1, 1, 1, 1, 0}, {}, {}};

Result<std::vector<OutputTensor>> forwardRows(const Model &model,
                                              const Tokens &headRows,
                                              std::vector<std::string> wanted) {
  std::vector<tfc_tensor> tensors = padded.tensors();
  return runForward(model, tensors.data(),
                    static_cast<uint32_t>(tensors.size()), wanted, {},
                    headRows);
}

/// Libraries that compute what is asked, and that compute everything.
class HeadRows : public ::testing::TestWithParam<const char *> {
protected:
  std::unique_ptr<Model> model = loadFake(GetParam(), FakeWeights(5), 3);
  bool picks = GetParam() == std::string("picks");

  Asked ask(Tokens headRows, Tokens tokens = prompt) {
    Asked asked = Requests(*model).ask(std::move(tokens), 4);
    asked.options.headRows = std::move(headRows);
    asked.options.numLogProbabilities = 3;
    return asked;
  }
};

TEST_P(HeadRows, OfAForwardPassAreTheWholesColumns) {
  auto whole = forward(*model, padded, {"logits"});
  ASSERT_TRUE(whole) << messageOf(whole);
  for (const Tokens &asked :
       {Tokens{5}, Tokens{31, 0, 17}, Tokens{4, 4}, Tokens(50, 9)}) {
    auto some = forwardRows(*model, asked, {});
    ASSERT_TRUE(some) << messageOf(some);
    const OutputTensor &logits = (*some)[1];
    ASSERT_EQ(logits.name, "logits");
    auto columns = static_cast<int64_t>(asked.size());
    ASSERT_EQ(logits.shape, (std::vector<int64_t>{2, 3, columns}));
    EXPECT_EQ((*some)[0].shape, (std::vector<int64_t>{2, 3, width}));
    for (int64_t row = 0; row < 6; ++row) {
      for (int64_t c = 0; c < columns; ++c) {
        EXPECT_EQ(logits.floats[row * columns + c],
                  (*whole)[0].floats[row * vocab + asked[c]]);
      }
    }
  }
  // An engine that is used again has forgotten them.
  auto again = forward(*model, padded, {"logits"});
  ASSERT_TRUE(again) << messageOf(again);
  EXPECT_EQ((*again)[0].floats, (*whole)[0].floats);
}

TEST_P(HeadRows, ThatAreNoneAreRefused) {
  EXPECT_EQ(messageOf(forwardRows(*model, {3, 32, -1}, {"logits"})),
            "head_rows: expected token ids from 0 to 31, got 32\n"
            "head_rows: expected token ids from 0 to 31, got -1");
  EXPECT_EQ(messageOf(forwardRows(*model, {3}, {"last_hidden_state"})),
            "head_rows: expected a wanted output over the vocabulary, got "
            "none");
  EXPECT_EQ(messageOf(Requests(*model).tryAdd(ask({32}))),
            "head_rows: expected token ids from 0 to 31, got 32");
}

TEST_P(HeadRows, AreAllThatMayCome) {
  auto outputs = forward(*model, {1, 7, prompt, {}, {}, {}}, {"logits"});
  ASSERT_TRUE(outputs) << messageOf(outputs);
  const float *last = (*outputs)[0].floats.data() + 6 * vocab;
  Requests requests(*model);
  Asked asked = ask({20, 6, 20});
  asked.count = 1;
  uint64_t id = requests.add(asked);
  ASSERT_TRUE(requests.step());
  EXPECT_EQ(requests.session->headColumns(), picks ? 2 : vocab);
  const Story &story = requests.stories[id];
  ASSERT_EQ(story.tokens.size(), 1U);
  EXPECT_TRUE(story.tokens[0] == 6 || story.tokens[0] == 20);
  // Both, the likelier one first, and none that may not come.
  ASSERT_EQ(story.logprobs.size(), 5U);
  double sum = std::exp(last[6]) + std::exp(last[20]);
  int64_t best = last[6] > last[20] ? 6 : 20;
  EXPECT_EQ(story.logprobs[3], float(best));
  EXPECT_NEAR(story.logprobs[1], last[best] - std::log(sum), 1e-5);
  EXPECT_NEAR(std::exp(story.logprobs[1]) + std::exp(story.logprobs[2]), 1,
              1e-6);
}

TEST_P(HeadRows, DoNotDependOnWhatOthersAsk) {
  std::vector<Asked> all = {ask({20, 6}), ask({6}, {5, 4}),
                            ask({1, 2, 3, 4, 5, 6, 7}, {9, 9, 3}), ask({}),
                            ask({20, 6}, {3, 4, 5, 6, 7, 8, 9, 10, 11})};
  std::vector<Story> alone;
  for (const Asked &asked : all) {
    alone.push_back(storyAlone(*model, asked));
  }
  EXPECT_NE(alone[0].tokens, alone[3].tokens);
  for (int64_t pieces : {0, 2}) {
    // All of them; those without the third and fourth, who ask for much.
    for (bool few : {false, true}) {
      SessionOptions options;
      options.maxStepTokens = pieces;
      options.maxDrafts = 3;
      Requests requests(*model, options);
      std::vector<std::pair<size_t, uint64_t>> ids;
      for (size_t i = 0; i < all.size(); ++i) {
        if (!few || (i != 2 && i != 3)) {
          ids.emplace_back(i, requests.add(all[i]));
        }
      }
      Asked twice = all[0];
      twice.options.numAnswers = 2;
      ids.emplace_back(0, requests.add(twice));
      requests.run();
      for (auto [i, id] : ids) {
        EXPECT_EQ(requests.stories[id], alone[i]) << i << ' ' << pieces;
      }
      if (few) {
        EXPECT_EQ(requests.session->headColumns(), picks ? 2 : vocab);
      }
    }
  }
}

TEST_P(HeadRows, AreAllComputedWhereSomebodyWantsAll) {
  Requests requests(*model);
  requests.add(ask({20, 6}));
  requests.add(ask({}));
  ASSERT_TRUE(requests.step());
  EXPECT_EQ(requests.session->headColumns(), vocab);
}

TEST_P(HeadRows, GoWithAFork) {
  Requests requests(*model);
  uint64_t id = requests.add(ask({20, 6}));
  ASSERT_TRUE(requests.step());
  auto fork = requests.session->fork(id, nullptr);
  ASSERT_TRUE(fork) << messageOf(fork);
  requests.run();
  Tokens rest(requests.stories[id].tokens.begin() + 1,
              requests.stories[id].tokens.end());
  EXPECT_EQ(requests.stories[*fork].tokens, rest);
}

INSTANTIATE_TEST_SUITE_P(Of, HeadRows, ::testing::Values("decoder", "picks"));

} // namespace
} // namespace tfc::rt::test
