// Several answers to a prompt, and prompts that begin as another one did: they
// are computed and kept once, and the tokens are those of requests alone.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/Requests.h"

#include <functional>
#include <set>

namespace tfc::rt::test {
namespace {

struct Case {
  const char *variant;
  int64_t maxStepTokens;
};

void PrintTo(const Case &c, std::ostream *out) {
  *out << c.variant << " " << c.maxStepTokens;
}

class SharedPrompt : public ::testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    model = loadFake(GetParam().variant, FakeWeights(5), 2);
    options.maxStepTokens = GetParam().maxStepTokens;
  }

  /// What answer i of a request is alone.
  Story answer(const Asked &asked, uint32_t i) const {
    Asked one = asked;
    one.options.numAnswers = 1;
    one.options.index = asked.options.index + i;
    one.options.echoes = asked.options.echoes && i == 0;
    return storyAlone(*model, one);
  }

  std::unique_ptr<Model> model;
  SessionOptions options;
};

TEST_P(SharedPrompt, GivesTheAnswersOfAsManyRequests) {
  Requests requests(*model, options);
  Asked asked = requests.ask({7, 8, 9, 10, 11, 3}, 7);
  asked.options.numAnswers = 4;
  asked.options.index = 2;
  asked.options.numLogProbabilities = 2;
  asked.decoding.presence_penalty = 0.5;
  uint64_t other = requests.add(requests.ask({4, 5}, 9));
  uint64_t id = requests.add(asked);
  EXPECT_EQ(requests.session->numSequences(), 5);
  requests.run();
  std::set<Tokens> different;
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(requests.stories[id + i], answer(asked, i)) << i;
    different.insert(requests.stories[id + i].tokens);
  }
  EXPECT_GT(different.size(), 2U);
  EXPECT_EQ(requests.stories[other],
            storyAlone(*model, requests.ask({4, 5}, 9)));
  EXPECT_EQ(requests.session->cacheBytes().used, 0U);
}

/// Whatever happens to one of them, the others are what they are.
TEST_P(SharedPrompt, ToleratesAnythingThatHappensToOne) {
  // One that has ended already refuses it, and harms nobody either.
  using Act = std::function<void(Requests &, uint64_t)>;
  std::vector<std::pair<const char *, Act>> acts = {
      {"remove", [](Requests &r, uint64_t id) { (void)r.session->remove(id); }},
      {"pause", [](Requests &r, uint64_t id) { (void)r.session->pause(id); }},
      {"hold", [](Requests &r, uint64_t id) { (void)r.session->hold(id); }},
      {"fork",
       [](Requests &r, uint64_t id) { (void)r.session->fork(id, nullptr); }}};
  Asked asked = Requests(*model).ask({7, 8, 9, 10, 11, 3}, 5);
  asked.options.numAnswers = 3;
  std::vector<Story> expected;
  for (uint32_t i = 0; i < 3; ++i) {
    expected.push_back(answer(asked, i));
  }
  for (const auto &[name, act] : acts) {
    for (uint32_t which = 0; which < 3; ++which) {
      for (int at = 0; at < 4; ++at) {
        SCOPED_TRACE(concat(name, " ", which, " at ", at));
        Requests requests(*model, options);
        uint64_t id = requests.add(asked);
        for (int i = 0; i < at; ++i) {
          ASSERT_TRUE(requests.step());
        }
        act(requests, id + which);
        ASSERT_TRUE(requests.step());
        ASSERT_TRUE(requests.step());
        // It has ended or gone otherwise.
        (void)requests.session->resume(id + which);
        requests.run();
        bool isGone = name == std::string("remove");
        for (uint32_t i = 0; i < 3; ++i) {
          if (!isGone || i != which) {
            EXPECT_EQ(requests.stories[id + i], expected[i]) << i;
          }
        }
        EXPECT_EQ(requests.session->cacheBytes().used, 0U);
      }
    }
  }
}

TEST_P(SharedPrompt, BeginsWhereAnotherOneDid) {
  Requests requests(*model, options);
  Asked first = requests.ask({7, 8, 9, 10, 11, 3}, 4);
  first.options.keeps = true;
  uint64_t id = requests.add(first);
  requests.run();
  EXPECT_EQ(requests.session->state().numKept, 1);
  EXPECT_EQ(requests.session->numSequences(), 0);
  Tokens turn = first.prompt;
  Tokens &written = requests.stories[id].tokens;
  turn.insert(turn.end(), written.begin(), written.end());
  turn.insert(turn.end(), {5, 6});
  // The next turn; another beginning; the same prompt; nothing in common.
  for (Tokens prompt :
       {turn, {7, 8, 9, 4, 5}, first.prompt, {7}, {3, 2, 1, 4, 5}}) {
    Asked asked = requests.ask(prompt, 4);
    asked.options.prefix = id;
    asked.options.numLogProbabilities = 2;
    asked.options.numAnswers = 2;
    uint64_t next = requests.add(asked);
    requests.run();
    EXPECT_EQ(requests.stories[next], answer(asked, 0)) << prompt.size();
    EXPECT_EQ(requests.stories[next + 1], answer(asked, 1)) << prompt.size();
  }
  EXPECT_GT(requests.session->cacheBytes().used, 0U);
  EXPECT_FALSE(requests.session->pause(id));
  EXPECT_FALSE(requests.session->hold(id));
  EXPECT_FALSE(requests.session->resume(id));
  EXPECT_FALSE(requests.session->fork(id, nullptr));
  EXPECT_TRUE(requests.session->remove(id));
  EXPECT_FALSE(requests.session->remove(id));
  EXPECT_EQ(requests.session->cacheBytes().used, 0U);
  EXPECT_EQ(requests.session->state().numKept, 0);
  // One that has gone: all is computed.
  Asked asked = requests.ask(turn, 4);
  asked.options.prefix = id;
  uint64_t next = requests.add(asked);
  requests.run();
  EXPECT_EQ(requests.stories[next], storyAlone(*model, asked));
}

TEST_P(SharedPrompt, OfOneThatGoesOnOrIsHeld) {
  for (bool isHeld : {false, true}) {
    Requests requests(*model, options);
    Asked asked = requests.ask({7, 8, 9, 10, 11, 3}, 8);
    uint64_t id = requests.add(asked);
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(requests.step());
    }
    if (isHeld) {
      EXPECT_TRUE(requests.session->hold(id));
    }
    Asked later = requests.ask({7, 8, 9, 10, 11, 5}, 4);
    later.options.prefix = id;
    uint64_t next = requests.add(later);
    ASSERT_TRUE(requests.step());
    EXPECT_TRUE(requests.session->resume(id));
    requests.run();
    EXPECT_EQ(requests.stories[id], storyAlone(*model, asked));
    EXPECT_EQ(requests.stories[next], storyAlone(*model, later));
    EXPECT_EQ(requests.session->cacheBytes().used, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, SharedPrompt,
    ::testing::Values(Case{"decoder", 0}, Case{"decoder", 3},
                      Case{"endless", 4}, Case{"window", 0}, Case{"window", 4},
                      Case{"translator", 0}, Case{"translator", 2}));

/// A model whose tokens are counted, step by step.
class CountedTokens : public ::testing::Test {
protected:
  void SetUp() override {
    writeTensors(folder / "model.safetensors", FakeWeights(5).stored());
    LoadOptions load;
    load.libraryPath = fakeLibrary("tapped_decoder");
    load.weightsPath = folder.path.string();
    load.tap = [&](const TappedValue &value) {
      numTokens += value.layer == 0 ? value.rows : 0;
      return false;
    };
    auto made = Model::load(load);
    ASSERT_TRUE(made) << messageOf(made);
    model = std::move(*made);
  }

  Folder folder;
  std::unique_ptr<Model> model;
  int64_t numTokens = 0;
};

TEST_F(CountedTokens, APromptIsComputedAndKeptOnceForAllItsAnswers) {
  Requests requests(*model);
  Asked asked = requests.ask({7, 8, 9, 10, 11, 3, 4, 5, 6}, 3);
  asked.options.numAnswers = 5;
  requests.add(asked);
  ASSERT_TRUE(requests.step());
  EXPECT_EQ(numTokens, 9);
  EXPECT_EQ(requests.session->newTokens().size(), 5U);
  EXPECT_EQ(requests.session->cache().used(), 3);
  ASSERT_TRUE(requests.step());
  EXPECT_EQ(numTokens, 9 + 5);
  // The last block is one of each now.
  EXPECT_EQ(requests.session->cache().used(), 2 + 5);
}

TEST_F(CountedTokens, WhoTakesAPromptOverGoesOnWithIt) {
  SessionOptions options;
  options.maxStepTokens = 3;
  for (bool isPause : {false, true}) {
    Requests requests(*model, options);
    Asked asked = requests.ask({7, 8, 9, 10, 11, 3, 4, 5, 6}, 2);
    asked.options.numAnswers = 3;
    uint64_t id = requests.add(asked);
    numTokens = 0;
    ASSERT_TRUE(requests.step());
    ASSERT_TRUE(isPause ? requests.session->pause(id)
                        : requests.session->remove(id));
    ASSERT_TRUE(requests.step());
    ASSERT_TRUE(requests.step());
    EXPECT_EQ(numTokens, 9);
    EXPECT_EQ(requests.session->newTokens().size(), 2U);
  }
}

TEST_F(CountedTokens, OnlyWhatIsNewOfAPromptIsComputed) {
  Requests requests(*model);
  Asked asked = requests.ask({7, 8, 9, 10, 11}, 4);
  asked.options.keeps = true;
  uint64_t id = requests.add(asked);
  requests.run();
  Tokens turn = asked.prompt, written = requests.stories[id].tokens;
  turn.insert(turn.end(), written.begin(), written.end());
  turn.insert(turn.end(), {5, 6});
  Asked next = requests.ask(turn, 2);
  next.options.prefix = id;
  requests.add(next);
  numTokens = 0;
  int64_t used = requests.session->cache().used();
  ASSERT_TRUE(requests.step());
  // The last token of a sequence is not in its cache.
  EXPECT_EQ(numTokens, 3);
  EXPECT_LE(requests.session->cache().used(), used + 1);
  next.options.echoes = true;
  requests.add(next);
  requests.run();
  EXPECT_GT(numTokens, 11) << "with echo all of them are computed";
}

/// One writes into what all share: each must see its own.
TEST_F(CountedTokens, AHookHasARowForEveryAnswer) {
  SessionOptions options;
  options.logits.change = [](void *, uint64_t id, float *logits, int64_t) {
    EXPECT_LT(*std::max_element(logits, logits + vocab), 1e5f);
    logits[20 + id] = 1e6f;
  };
  Requests requests(*model, options);
  Asked asked = requests.ask({7, 8, 9}, 1);
  asked.options.numAnswers = 3;
  uint64_t id = requests.add(asked);
  ASSERT_TRUE(requests.step());
  for (uint64_t i = id; i < id + 3; ++i) {
    EXPECT_EQ(requests.stories[i].tokens, Tokens{int64_t(20 + i)});
  }
}

} // namespace
} // namespace tfc::rt::test
