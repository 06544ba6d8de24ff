// Sequences that are paused give their blocks back and go on as if nothing had
// been.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/session/Session.h"

#include "test/runtime/FakeModel.h"

#include <functional>

namespace tfc::rt::test {
namespace {

using Tokens = std::vector<int64_t>;

/// What happened to a session's sequences: tokens, and what they were chosen
/// from.
struct Story {
  std::map<uint64_t, Tokens> tokens;
  std::map<uint64_t, std::vector<float>> logits;
};

class Pause : public ::testing::Test {
protected:
  void begin(const std::string &variant, int64_t maxStepTokens = 0,
             uint64_t maxCacheBytes = 0) {
    session.reset(); // before its model
    if (variant != loaded) {
      model = loadFake(variant, weights, 1);
      loaded = variant;
    }
    SessionOptions options;
    options.engine.maxCacheBytes = maxCacheBytes;
    options.maxStepTokens = maxStepTokens;
    options.logits = {[](void *user, uint64_t id, float *logits, int64_t n) {
                        auto &self = *static_cast<Pause *>(user);
                        auto &all = self.story.logits[id];
                        all.insert(all.end(), logits, logits + n);
                        if (self.during) {
                          self.during();
                        }
                      },
                      this};
    auto made = Session::create(*model, options);
    ASSERT_TRUE(made) << messageOf(made);
    session = std::move(*made);
    story = {};
  }

  uint64_t add(const Tokens &prompt, int64_t count = 6) {
    auto id = session->add({prompt.data(), static_cast<int64_t>(prompt.size())},
                           {}, count, {Tokens()});
    EXPECT_TRUE(id) << messageOf(id);
    return id ? *id : 0;
  }

  Status step() {
    Status status = session->step();
    for (const tfc_new_token &token : session->newTokens()) {
      story.tokens[token.sequence].push_back(token.token);
    }
    return status;
  }

  void run() {
    while (session->numSequences() > session->numPaused()) {
      Status status = step();
      ASSERT_TRUE(status) << messageOf(status);
    }
  }

  FakeWeights weights{5};
  std::string loaded;
  std::unique_ptr<Model> model;
  std::unique_ptr<Session> session;
  Story story;
  std::function<void()> during;
};

struct Case {
  const char *variant;
  int64_t maxStepTokens;
};

void PrintTo(const Case &c, std::ostream *out) {
  *out << c.variant << " " << c.maxStepTokens;
}

class PauseOf : public Pause, public ::testing::WithParamInterface<Case> {};

TEST_P(PauseOf, AnywhereChangesNoBit) {
  auto prompts = [&] {
    add({7, 8, 9, 10, 11}, 8);
    add({3}, 9);
    add({5, 4, 5}, 4);
  };
  begin(GetParam().variant, GetParam().maxStepTokens);
  prompts();
  run();
  Story whole = story;
  for (int at = 0; at < 12; ++at) {
    for (int length : {0, 2}) {
      begin(GetParam().variant, GetParam().maxStepTokens);
      prompts();
      for (int i = 0; i < at; ++i) {
        ASSERT_TRUE(step());
      }
      bool isThere = bool(session->pause(1));
      EXPECT_EQ(session->numPaused(), isThere);
      for (int i = 0; i < length; ++i) {
        ASSERT_TRUE(step());
        for (const tfc_new_token &token : session->newTokens()) {
          EXPECT_NE(token.sequence, 1U);
        }
      }
      EXPECT_EQ(bool(session->resume(1)), isThere);
      run();
      EXPECT_EQ(story.tokens, whole.tokens) << at << " " << length;
      EXPECT_EQ(story.logits, whole.logits) << at << " " << length;
      EXPECT_EQ(session->cacheBytes().used, 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, PauseOf,
                         ::testing::Values(Case{"decoder", 0},
                                           Case{"decoder", 3},
                                           Case{"window", 0}, Case{"window", 4},
                                           Case{"translator", 0},
                                           Case{"translator", 2}));

TEST_F(Pause, GivesTheBlocksBack) {
  begin("decoder");
  uint64_t first = add({7, 8, 9, 10, 11}), second = add({3});
  ASSERT_TRUE(step());
  EXPECT_EQ(session->cache().used(), 3);
  EXPECT_TRUE(session->pause(first));
  EXPECT_EQ(session->cache().used(), 1);
  EXPECT_TRUE(session->pause(first)) << "a second time";
  EXPECT_TRUE(session->pause(second));
  EXPECT_EQ(session->cacheBytes().used, 0U);
  EXPECT_EQ(session->numSequences(), 2);
  // Nobody is there to be advanced.
  ASSERT_TRUE(step());
  EXPECT_TRUE(session->newTokens().empty());
  EXPECT_TRUE(session->resume(second));
  EXPECT_TRUE(session->resume(second));
  EXPECT_TRUE(session->remove(first));
  EXPECT_EQ(messageOf(session->resume(first)),
            concat("expected a sequence of the session, got ", first));
  run();
  EXPECT_EQ(story.tokens[first].size(), 1U);
  EXPECT_EQ(story.tokens[second].size(), 6U);
  EXPECT_EQ(messageOf(session->pause(second)),
            concat("expected a sequence of the session, got ", second));
  EXPECT_FALSE(session->resume(0));
}

TEST_F(Pause, MakesRoomWhereThereIsNone) {
  begin("endless");
  add({7, 8, 9, 10, 11}, 12);
  add({3, 4, 5, 6}, 12);
  run();
  Story whole = story;
  // Each of them needs all of five blocks in the end.
  uint64_t block = session->cache().capacityBytes() /
                   static_cast<uint64_t>(session->cache().capacity());
  begin("endless", 0, 5 * block);
  uint64_t first = add({7, 8, 9, 10, 11}, 12);
  uint64_t second = add({3, 4, 5, 6}, 12);
  int numFull = 0;
  while (session->numSequences() > 0) {
    Status status = step();
    if (!status) {
      ASSERT_EQ(status.error().code, Code::Exhausted) << messageOf(status);
      ASSERT_EQ(++numFull, 1);
      EXPECT_TRUE(session->pause(second));
    } else if (session->numPaused() > 0 && session->numSequences() == 1) {
      EXPECT_TRUE(session->resume(second));
    }
  }
  EXPECT_EQ(numFull, 1);
  EXPECT_EQ(story.tokens, whole.tokens);
  EXPECT_EQ(story.tokens[first].size(), 12U);
}

TEST_F(Pause, DuringAStepHoldsFromItsEnd) {
  begin("decoder");
  uint64_t first = add({7, 8, 9}), second = add({3});
  during = [&] {
    EXPECT_TRUE(session->pause(first));
    EXPECT_TRUE(session->pause(second));
    EXPECT_TRUE(session->resume(second)) << "it is not paused yet";
    EXPECT_EQ(session->numPaused(), 0);
  };
  ASSERT_TRUE(step());
  during = nullptr;
  EXPECT_EQ(session->newTokens().size(), 2U);
  EXPECT_EQ(session->numPaused(), 1);
  EXPECT_EQ(session->cache().used(), 1);
  during = [&] { EXPECT_TRUE(session->resume(first)); };
  ASSERT_TRUE(step());
  EXPECT_EQ(session->newTokens().size(), 1U);
  during = nullptr;
  ASSERT_TRUE(step());
  EXPECT_EQ(session->newTokens().size(), 2U);
  // Who is paused and taken out is taken out.
  bool isRemoved = false;
  during = [&] {
    if (!isRemoved) {
      EXPECT_TRUE(session->pause(first));
      EXPECT_TRUE(session->remove(first));
      EXPECT_FALSE(session->pause(first));
      EXPECT_FALSE(session->resume(first));
    }
    isRemoved = true;
  };
  ASSERT_TRUE(step());
  EXPECT_EQ(session->numPaused(), 0);
  EXPECT_EQ(session->numSequences(), 1);
}

TEST_F(Pause, OfOneThatEndsWithTheStepIsNone) {
  begin("decoder");
  uint64_t id = add({7, 8}, 1);
  during = [&] { EXPECT_TRUE(session->pause(id)); };
  ASSERT_TRUE(step());
  EXPECT_EQ(session->numSequences(), 0);
  EXPECT_FALSE(session->resume(id));
}

TEST_F(Pause, LeavesForksTheirOwn) {
  for (const char *variant : {"decoder", "translator"}) {
    begin(variant);
    uint64_t id = add({7, 8, 9, 10, 11}, 8);
    run();
    Tokens whole = story.tokens[id];
    begin(variant);
    id = add({7, 8, 9, 10, 11}, 8);
    ASSERT_TRUE(step());
    auto fork = session->fork(id, nullptr);
    ASSERT_TRUE(fork) << messageOf(fork);
    int64_t cross = session->crossCache().used();
    EXPECT_TRUE(session->pause(id));
    EXPECT_EQ(session->crossCache().used(), cross) << "the fork reads it";
    // One more, of the paused one: with nothing in the cache.
    auto late = session->fork(id, nullptr);
    ASSERT_TRUE(late) << messageOf(late);
    ASSERT_TRUE(step());
    EXPECT_TRUE(session->pause(*late));
    EXPECT_TRUE(session->pause(*fork));
    EXPECT_EQ(session->cacheBytes().used, 0U);
    EXPECT_TRUE(session->resume(*fork));
    run();
    EXPECT_EQ(session->cacheBytes().used, 0U) << "of paused ones alone";
    EXPECT_TRUE(session->resume(id));
    EXPECT_TRUE(session->resume(*late));
    run();
    EXPECT_EQ(story.tokens[id], whole);
    Tokens rest(whole.begin() + 1, whole.end());
    EXPECT_EQ(story.tokens[*fork], rest);
    EXPECT_EQ(story.tokens[*late], rest);
    EXPECT_EQ(session->cacheBytes().used, 0U);
  }
}

TEST_F(Pause, KeepsTheOrderOfAddition) {
  begin("decoder");
  std::vector<uint64_t> ids = {add({7}), add({8}), add({9})};
  EXPECT_TRUE(session->pause(ids[0])) << "before its first step";
  ASSERT_TRUE(step());
  EXPECT_TRUE(session->resume(ids[0]));
  ASSERT_TRUE(step());
  ASSERT_EQ(session->newTokens().size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(session->newTokens()[i].sequence, ids[i]);
  }
}

} // namespace
} // namespace tfc::rt::test
