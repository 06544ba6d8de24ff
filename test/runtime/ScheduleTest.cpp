// Who goes into a step: as many as there is room for, the oldest first; who can
// never go in harms nobody, and no prompt is kept waiting by those that write.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/ModuleTables.h"
#include "test/runtime/Requests.h"

namespace tfc::rt::test {
namespace {

class Schedule : public ::testing::Test {
protected:
  /// A session with so many blocks of four positions.
  Requests open(const std::string &variant, int64_t numBlocks,
                int64_t maxStepTokens = 0) {
    model = loadFake(variant, FakeWeights(5), 2);
    SessionOptions options;
    options.maxStepTokens = maxStepTokens;
    options.engine.maxCacheBytes =
        static_cast<uint64_t>(numBlocks) *
        cacheOf(*model->generateEntry(), TFC_CACHE_SELF).block_bytes;
    return Requests(*model, options);
  }

  std::unique_ptr<Model> model;
};

TEST_F(Schedule, NewSequencesWaitForRoomInOrder) {
  Requests requests = open("endless", 6);
  // Five blocks in the end, of which it has two.
  Asked first = requests.ask({7, 8, 9, 10, 11}, 14);
  Asked large = requests.ask(Tokens(14, 3), 2), small = requests.ask({4}, 2);
  uint64_t a = requests.add(first);
  ASSERT_TRUE(requests.step());
  uint64_t b = requests.add(large), c = requests.add(small);
  for (int i = 0; i < 13; ++i) {
    ASSERT_TRUE(requests.step());
    EXPECT_EQ(requests.session->leftOut(), (std::vector<uint64_t>{b, c})) << i;
    EXPECT_EQ(requests.session->newTokens().size(), 1U);
  }
  EXPECT_EQ(requests.stories[a], storyAlone(*model, first));
  ASSERT_TRUE(requests.step());
  EXPECT_TRUE(requests.session->leftOut().empty());
  requests.run();
  EXPECT_EQ(requests.stories[b], storyAlone(*model, large));
  EXPECT_EQ(requests.stories[c], storyAlone(*model, small));
}

TEST_F(Schedule, WhatFitsExactlyIsLetIn) {
  // Two and two blocks to the end.
  Requests requests = open("endless", 4);
  requests.add(requests.ask({7, 8, 9, 10}, 5));
  requests.add(requests.ask({4, 5, 6}, 6));
  ASSERT_TRUE(requests.step());
  EXPECT_TRUE(requests.session->leftOut().empty());
  requests.run();
  EXPECT_EQ(requests.stories.size(), 2U);
}

TEST_F(Schedule, APromptThatTheCacheCannotHoldIsRefused) {
  for (int64_t maxStepTokens : {0, 3}) {
    Requests requests = open("endless", 3, maxStepTokens);
    auto id = requests.tryAdd(requests.ask(Tokens(13, 3), 1));
    ASSERT_FALSE(id);
    EXPECT_EQ(id.error().code, Code::Exhausted);
    EXPECT_EQ(messageOf(id), "expected a prompt that the cache can hold, got "
                             "one of 13 tokens (4 blocks)");
    EXPECT_TRUE(requests.tryAdd(requests.ask(Tokens(12, 3), 1)));
    EXPECT_EQ(requests.session->numSequences(), 1);
  }
  // A window gives blocks back while pieces of the prompt go in.
  for (int64_t maxStepTokens : {0, 3}) {
    Requests requests = open("window", 4, maxStepTokens);
    auto id = requests.tryAdd(requests.ask(Tokens(50, 3), 1));
    EXPECT_EQ(bool(id), maxStepTokens != 0);
    requests.run();
  }
}

TEST_F(Schedule, OfASourceToo) {
  Requests requests = open("translator", 2);
  auto id = requests.tryAdd(requests.ask(Tokens(13, 3), 1));
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().code, Code::Exhausted);
}

TEST_F(Schedule, OneThatOutgrowsTheCacheFailsAlone) {
  Requests requests = open("endless", 6);
  Asked longer = requests.ask({7, 8, 9, 10, 11}, 100);
  Asked small = requests.ask({4}, 3);
  uint64_t a = requests.add(longer);
  int numSmall = 0;
  while (requests.stories[a].state == TFC_RUNNING) {
    if (requests.session->numSequences() == 1) {
      requests.add(small);
    }
    Status status = requests.step();
    if (!status) {
      // Nothing has happened; who is in the way goes.
      ASSERT_EQ(status.error().code, Code::Exhausted);
      ASSERT_TRUE(requests.session->pause(a + 1 + numSmall));
      ASSERT_TRUE(requests.session->remove(a + 1 + numSmall));
    }
    numSmall = static_cast<int>(requests.stories.size()) - 1;
  }
  // A token more than has room is not in the cache yet.
  EXPECT_EQ(requests.stories[a].tokens.size(), 6U * 4 - 5 + 1);
  EXPECT_EQ(requests.stories[a].state, uint32_t(TFC_FAILED));
  ASSERT_EQ(requests.session->faults().size(), 1U);
  EXPECT_EQ(requests.session->faults()[0].sequence, a);
  EXPECT_EQ(requests.session->faults()[0].reason, TFC_FAULT_NO_ROOM);
  EXPECT_EQ(requests.session->faults()[0].code, TFC_EXHAUSTED);
  requests.run();
  EXPECT_EQ(requests.session->cache().used(), 0);
  EXPECT_GT(numSmall, 2);
}

TEST_F(Schedule, SaysWhenNobodyCanGoOn) {
  Requests requests = open("endless", 4);
  uint64_t a = requests.add(requests.ask(Tokens(9, 3), 9));
  ASSERT_TRUE(requests.step());
  EXPECT_TRUE(requests.session->hold(a));
  uint64_t b = requests.add(requests.ask(Tokens(9, 4), 2));
  Status status = requests.step();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::Exhausted);
  EXPECT_EQ(messageOf(status),
            concat("expected room in the cache for sequence ", b, ", which ",
                   "nothing runs beside, got blocks of sequences that are ",
                   "held or kept"));
  EXPECT_TRUE(requests.session->pause(a)) << "takes the cache of a held one";
  ASSERT_TRUE(requests.step());
  EXPECT_EQ(requests.session->newTokens().size(), 1U);
}

/// All the tokens of a step are spoken for by sequences that generate.
TEST_F(Schedule, PromptsAreNotKeptWaitingByThoseThatGenerate) {
  for (int64_t most : {1, 4, 8}) {
    Requests requests = open("endless", 1000, most);
    std::vector<uint64_t> running;
    for (int64_t i = 0; i < 8; ++i) {
      running.push_back(requests.add(requests.ask({1 + i}, 100)));
    }
    ASSERT_TRUE(requests.step());
    Asked asked = requests.ask(Tokens(21, 3), 2);
    uint64_t id = requests.add(asked);
    int numSteps = 0;
    while (requests.stories.count(id) == 0) {
      ASSERT_TRUE(requests.step());
      ++numSteps;
      ASSERT_GE(requests.session->newTokens().size(), 8U) << "all of them";
    }
    int64_t share = (most + 3) / 4;
    EXPECT_EQ(numSteps, (21 + share - 1) / share) << most;
    requests.run();
    EXPECT_EQ(requests.stories[id], storyAlone(*model, asked));
  }
}

class Hold : public ::testing::TestWithParam<const char *> {};

TEST_P(Hold, PassesASequenceOverAndKeepsItsCache) {
  auto model = loadFake(GetParam(), FakeWeights(5), 2);
  Asked asked = Requests(*model).ask({7, 8, 9, 10, 11}, 8);
  Asked other = Requests(*model).ask({4, 5}, 9);
  Story whole = storyAlone(*model, asked), rest = storyAlone(*model, other);
  for (int at = 0; at < 9; ++at) {
    Requests requests(*model);
    uint64_t id = requests.add(asked), second = requests.add(other);
    for (int i = 0; i < at; ++i) {
      ASSERT_TRUE(requests.step());
    }
    uint64_t used = requests.session->cacheBytes().used;
    bool isThere = bool(requests.session->hold(id));
    EXPECT_EQ(isThere, at < 8);
    EXPECT_EQ(requests.session->cacheBytes().used, used);
    EXPECT_EQ(requests.session->state().numHeld, isThere);
    EXPECT_EQ(requests.session->numPaused(), isThere);
    EXPECT_EQ(bool(requests.session->hold(id)), isThere) << "a second time";
    ASSERT_TRUE(requests.step());
    for (const tfc_new_token &token : requests.session->newTokens()) {
      EXPECT_EQ(token.sequence, second);
    }
    EXPECT_EQ(bool(requests.session->resume(id)), isThere);
    EXPECT_EQ(requests.session->state().numHeld, 0);
    requests.run();
    EXPECT_EQ(requests.stories[id], whole) << at;
    EXPECT_EQ(requests.stories[second], rest) << at;
    EXPECT_EQ(requests.session->cacheBytes().used, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Hold,
                         ::testing::Values("decoder", "window", "translator"));

TEST_F(Schedule, WhatIsHeldMayLeaveInEveryWay) {
  for (const char *variant : {"decoder", "translator"}) {
    Requests requests = open(variant, 100);
    Asked asked = requests.ask({7, 8, 9, 10, 11}, 8);
    Story whole = storyAlone(*model, asked);
    uint64_t id = requests.add(asked);
    ASSERT_TRUE(requests.step());
    EXPECT_TRUE(requests.session->hold(id));
    auto fork = requests.session->fork(id, nullptr);
    ASSERT_TRUE(fork) << messageOf(fork);
    EXPECT_EQ(requests.session->state().numHeld, 1) << "the fork is not held";
    requests.run();
    EXPECT_EQ(requests.stories[*fork].tokens,
              Tokens(whole.tokens.begin() + 1, whole.tokens.end()));
    EXPECT_GT(requests.session->cacheBytes().used, 0U);
    EXPECT_TRUE(requests.session->pause(id));
    EXPECT_EQ(requests.session->cacheBytes().used, 0U);
    EXPECT_EQ(requests.session->state().numHeld, 0);
    EXPECT_TRUE(requests.session->hold(id)) << "it is paused";
    EXPECT_EQ(requests.session->state().numHeld, 0);
    EXPECT_TRUE(requests.session->resume(id));
    requests.run();
    EXPECT_EQ(requests.stories[id], whole);
    id = requests.add(asked);
    ASSERT_TRUE(requests.step());
    EXPECT_TRUE(requests.session->hold(id));
    EXPECT_TRUE(requests.session->remove(id));
    EXPECT_EQ(requests.session->cacheBytes().used, 0U);
    EXPECT_EQ(requests.session->numSequences(), 0);
  }
}

} // namespace
} // namespace tfc::rt::test
