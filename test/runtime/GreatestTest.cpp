// A library that finds the greatest logits of a row: sessions that choose those
// get tokens and no logits, and the same tokens; others get logits as ever.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/Requests.h"

#include <cmath>
#include <limits>

namespace tfc::rt::test {
namespace {

class Greatest : public ::testing::Test {
protected:
  void load(const FakeWeights &weights) {
    chooses = loadFake("chooses", weights, 3);
    plain = loadFake("decoder", weights, 3);
    ASSERT_TRUE(chooses->givesGreatest());
    ASSERT_FALSE(plain->givesGreatest());
  }

  Asked ask(Tokens prompt) const {
    Asked asked = Requests(*plain).ask(std::move(prompt), 6);
    asked.decoding.do_sample = 0;
    return asked;
  }

  /// Steps both with the same requests; `isShort`: whether the library chooses.
  void expectEqual(const std::vector<Asked> &all, bool isShort,
                   const SessionOptions &how = {}) {
    Requests with(*chooses, how), without(*plain, how);
    for (const Asked &asked : all) {
      EXPECT_EQ(with.add(asked), without.add(asked));
    }
    while (without.session->numSequences() > 0) {
      ASSERT_TRUE(with.step());
      ASSERT_TRUE(without.step());
      EXPECT_NE(without.session->logits(), nullptr);
      EXPECT_EQ(with.session->logits() == nullptr, isShort);
      EXPECT_EQ(with.session->faults().size(),
                without.session->faults().size());
      for (size_t i = 0; i < with.session->faults().size(); ++i) {
        EXPECT_EQ(with.session->faults()[i].reason,
                  without.session->faults()[i].reason);
      }
    }
    EXPECT_EQ(with.stories, without.stories);
    EXPECT_EQ(with.session->numSequences(), 0);
  }

  std::unique_ptr<Model> chooses, plain;
};

TEST_F(Greatest, AreTheTokensOfLogits) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    load(FakeWeights(seed));
    expectEqual({ask({7, 8, 9, 10, 11}), ask({12}), ask({9, 9})}, true);
    SessionOptions pieces;
    pieces.maxStepTokens = 2;
    Requests with(*chooses, pieces), without(*plain, pieces);
    for (Requests *each : {&with, &without}) {
      each->add(ask({7, 8, 9, 10, 11}));
      each->add(ask({12}));
      each->run();
    }
    EXPECT_EQ(with.stories, without.stories);
  }
}

/// Behind guesses that are right, too.
TEST_F(Greatest, AreLookedAtBehindDrafts) {
  load(FakeWeights(5));
  SessionOptions drafts;
  drafts.maxDrafts = 4;
  Asked asked = ask({7, 8, 7, 8, 7, 8});
  asked.count = 9;
  expectEqual({asked, ask({12})}, true, drafts);
}

/// All that looks at logits gets them; one such sequence is enough.
TEST_F(Greatest, AreNotAskedForWhereLogitsAre) {
  load(FakeWeights(5));
  Asked greedy = ask({7, 8, 9});
  std::vector<Asked> others(6, ask({12, 13}));
  others[0].decoding.do_sample = 1;
  others[1].options.numLogProbabilities = 2;
  others[2].options.bias = {{17, 2.5F}};
  others[3].decoding.repetition_penalty = 1.5;
  others[4].options.headRows = {3, 17, 21};
  others[5].decoding.forced_eos = 5;
  for (const Asked &other : others) {
    expectEqual({greedy, other}, false);
  }
}

TEST_F(Greatest, AreNotAskedForWhereAHookOrAnEchoIs) {
  load(FakeWeights(5));
  SessionOptions hooked;
  hooked.logits.change = [](void *, uint64_t, float *logits, int64_t n) {
    std::reverse(logits, logits + n);
  };
  expectEqual({ask({7, 8, 9})}, false, hooked);
  Asked echoed = ask({7, 8, 9});
  echoed.count = 1;
  echoed.options.echoes = true;
  expectEqual({echoed}, false);
}

/// Of equal logits the first token comes; where one is a NaN, or none is more
/// than minus infinity, there is no token, by the same name.
TEST_F(Greatest, AreNoneWhereLogitsAreNone) {
  FakeWeights weights(5);
  for (float &bias : weights.bias) {
    bias = 0;
  }
  std::fill(weights.embed.begin(), weights.embed.end(), 0);
  weights.bias[9] = weights.bias[20] = 4;
  load(weights);
  expectEqual({ask({7, 8})}, true);
  EXPECT_EQ(storyAlone(*chooses, ask({7, 8})).tokens, Tokens(6, 9));
  weights.bias[20] = std::numeric_limits<float>::quiet_NaN();
  load(weights);
  expectEqual({ask({7, 8}), ask({9})}, true);
  EXPECT_EQ(storyAlone(*chooses, ask({7, 8})).state, TFC_FAILED);
  std::fill(weights.bias.begin(), weights.bias.end(),
            -std::numeric_limits<float>::infinity());
  load(weights);
  expectEqual({ask({7, 8}), ask({9})}, true);
  EXPECT_EQ(storyAlone(*chooses, ask({7, 8})).state, TFC_FAILED);
}

/// A model that guesses may be one that chooses.
TEST_F(Greatest, AreGuessesOfADraftModel) {
  load(FakeWeights(5));
  auto stories = [&](const char *variant) {
    SessionOptions how;
    how.draft = loadFake(variant, FakeWeights(6));
    how.draftCost = 0.0;
    Requests requests(*plain, how);
    requests.add(ask({7, 8, 9, 10, 11}));
    requests.run();
    SessionState state = requests.session->state();
    EXPECT_GT(state.drafts.drafted, 0U);
    return std::pair(requests.stories,
                     std::pair(state.drafts.drafted, state.drafts.accepted));
  };
  EXPECT_EQ(stories("chooses"), stories("decoder"));
}

} // namespace
} // namespace tfc::rt::test
