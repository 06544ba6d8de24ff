// Speculation: what is looked up, how long a guess is, and that no guess, of a
// text or of another model, changes anything but the number of steps.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/ModuleTables.h"
#include "test/runtime/Requests.h"

#include <array>
#include <random>

namespace tfc::rt::test {
namespace {

using Ids = std::vector<int32_t>;

TEST(DraftLookup, IsWhatCameBehindTheLongestLikeness) {
  EXPECT_EQ(lookUpDraft({1, 2, 3, 4, 1, 2}, nullptr, 4, 99), (Ids{3, 4, 1, 2}));
  EXPECT_EQ(lookUpDraft({1, 2, 3, 1, 2}, nullptr, 8, 99),
            (Ids{3, 1, 2, 3, 1, 2, 3, 1}))
      << "and so on";
  EXPECT_EQ(lookUpDraft({1, 2, 3, 4, 1, 2}, nullptr, 2, 99), (Ids{3, 4}));
  EXPECT_EQ(lookUpDraft({9, 1, 2, 5, 1, 2, 6, 9, 1, 2}, nullptr, 1, 99),
            (Ids{5}))
      << "three tokens are alike there";
  EXPECT_EQ(lookUpDraft({1, 2, 5, 1, 2, 6, 1, 2}, nullptr, 1, 99), (Ids{6}))
      << "the last of equals";
  EXPECT_EQ(lookUpDraft({7, 7, 7}, nullptr, 3, 99), (Ids{7, 7, 7}));
  EXPECT_EQ(lookUpDraft({1, 2, 3, 4, 5, 2}, nullptr, 8, 99), Ids())
      << "one token is not enough";
  for (const Ids &tokens : {Ids{}, Ids{1}, Ids{1, 1}, Ids{1, 2}}) {
    EXPECT_EQ(lookUpDraft(tokens, nullptr, 8, 99), Ids());
  }
  EXPECT_EQ(lookUpDraft({1, 2, 3, 1, 2}, nullptr, 0, 99), Ids());
}

TEST(DraftLookup, TakesASourceWhereItHasNothingItself) {
  Ids source = {5, 6, 7, 8, 5, 6};
  EXPECT_EQ(lookUpDraft({0, 5, 6}, &source, 2, 99), (Ids{7, 8}))
      << "nothing follows its end";
  EXPECT_EQ(lookUpDraft({5, 6, 1, 5, 6}, &source, 1, 99), (Ids{1}));
  EXPECT_EQ(lookUpDraft({0, 5, 6}, &source, 9, 8), (Ids{7}))
      << "8 is no token of the decoder";
  Ids wrong = {5, 6, -1, 2}, empty;
  EXPECT_EQ(lookUpDraft({0, 5, 6}, &wrong, 9, 8), Ids());
  EXPECT_EQ(lookUpDraft({0, 5, 6}, &empty, 9, 8), Ids());
}

TEST(DraftLength, GrowsWithWhatIsRightAndPausesWithWhatIsNot) {
  DraftLength right;
  int64_t first = right.next(), length = first;
  for (int i = 0; i < 5; ++i) {
    right.learn(length, length);
    EXPECT_GE(right.next(), length);
    length = right.next();
  }
  EXPECT_EQ(length, 16);
  DraftLength wrong;
  int numGuessed = 0;
  for (int i = 0; i < 1000; ++i) {
    int64_t next = wrong.next();
    wrong.learn(next, 0);
    numGuessed += static_cast<int>(next);
  }
  EXPECT_LT(numGuessed, 40) << "of a thousand steps";
  EXPECT_GT(numGuessed, 20) << "it asks again now and then";
  for (int i = 0; i < 200; ++i) {
    int64_t next = wrong.next();
    wrong.learn(next, next);
  }
  EXPECT_EQ(wrong.next(), 16) << "it has learnt better";
}

TEST(DraftLength, IsWhatPaysWhereAGuessCosts) {
  EXPECT_EQ(DraftLength(1).next(), 0) << "as dear as a step";
  auto lengthAt = [](double cost, int64_t right) {
    DraftLength length(cost);
    for (int i = 0; i < 60; ++i) {
      int64_t next = length.next();
      length.learn(next, std::min(next, right));
    }
    return length.next();
  };
  EXPECT_EQ(lengthAt(0.1, 16), 16) << "all are right";
  EXPECT_GE(lengthAt(0.05, 3), lengthAt(0.4, 3)) << "dear ones are fewer";
  EXPECT_GE(lengthAt(0.4, 3), 1);
  DraftLength wrong(0.6);
  int64_t numGuessed = 0;
  for (int i = 0; i < 1000; ++i) {
    int64_t next = wrong.next();
    wrong.learn(next, i % 3 == 0);
    numGuessed += next;
  }
  EXPECT_LT(numGuessed, 100) << "a third is not enough at that price";
}

/// A session with drafts, and how many steps it made.
struct Drafting {
  Drafting(const Model &model, SessionOptions how, int64_t maxDrafts)
      : requests(model, with(how, maxDrafts)) {}
  static SessionOptions with(SessionOptions how, int64_t maxDrafts) {
    how.maxDrafts = maxDrafts;
    return how;
  }
  void run() {
    for (; requests.session->numSequences() > 0; ++numSteps) {
      ASSERT_TRUE(requests.step());
      ASSERT_LT(numSteps, 10000);
    }
  }
  DraftCounts counts() const { return requests.session->state().drafts; }

  Requests requests;
  int numSteps = 0;
};

/// A model; and the weights of the one that guesses, 0: nobody.
struct Who {
  const char *variant;
  uint32_t draftSeed;
};

void PrintTo(const Who &who, std::ostream *out) {
  *out << who.variant << ", draft " << who.draftSeed;
}

class Drafts : public ::testing::TestWithParam<Who> {
protected:
  std::unique_ptr<Model> model =
      loadFake(GetParam().variant, FakeWeights(5), 2);
  std::shared_ptr<const Model> draft =
      GetParam().draftSeed
          ? loadFake("endless", FakeWeights(GetParam().draftSeed), 1)
          : nullptr;
  bool isEndless() const { return model->table().max_positions == 0; }

  /// One that repeats itself, the more the less `penalty` is.
  Asked ask(const Requests &requests, std::mt19937 &random) const {
    Tokens prompt;
    for (uint32_t n = 1 + random() % 2; n > 0; --n) {
      int64_t piece = 1 + random() % 3;
      prompt.insert(prompt.end(), {piece, piece + 5, piece + 9});
    }
    Asked asked = requests.ask(prompt, 1 + random() % (isEndless() ? 40 : 9));
    asked.decoding.do_sample = random() % 3 != 0;
    asked.decoding.seed = random();
    asked.decoding.frequency_penalty =
        std::array<double, 4>{0, -4, -1, 0.5}[random() % 4];
    asked.decoding.repetition_penalty = random() % 4 == 0 ? 1.25 : 1;
    asked.decoding.no_repeat_ngram = random() % 6 == 0 ? 4 : 0;
    asked.decoding.min_new_tokens = random() % 4 == 0 ? 5 : 0;
    asked.options.numLogProbabilities = random() % 3;
    asked.options.numAnswers = 1 + random() % 2;
    asked.options.keeps = random() % 3 == 0;
    asked.options.stops = {
        {int64_t(random() % vocab), int64_t(random() % vocab)}, {7, 7, 7, 7}};
    asked.options.eos = Tokens{int64_t(random() % vocab)};
    return asked;
  }
};

TEST_P(Drafts, ChangeNothingButTheSteps) {
  DraftCounts sum;
  int numShort = 0; // fewer steps
  for (uint32_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    SessionOptions how;
    how.maxStepTokens = seed % 2 ? 7 : 0;
    Drafting plain(*model, how, 0);
    how.draft = draft;
    how.draftCost = 0.02;
    Drafting drafting(*model, how, 1 + seed % 9);
    std::map<uint64_t, Asked> wanted;
    for (uint32_t n = 1 + random() % 3; n > 0; --n) {
      Asked asked = ask(plain.requests, random);
      uint64_t id = drafting.requests.add(asked);
      plain.requests.add(asked);
      for (uint32_t i = 0; i < asked.options.numAnswers; ++i) {
        wanted[id + i] = asked;
        wanted[id + i].options.numAnswers = 1;
        wanted[id + i].options.index = i;
      }
    }
    drafting.run();
    plain.run();
    for (auto &[id, asked] : wanted) {
      EXPECT_EQ(drafting.requests.stories[id], plain.requests.stories[id]);
      EXPECT_EQ(drafting.requests.stories[id], storyAlone(*model, asked));
    }
    DraftCounts counts = drafting.counts();
    sum.drafted += counts.drafted;
    sum.accepted += counts.accepted;
    numShort += drafting.numSteps < plain.numSteps;
    EXPECT_LE(drafting.numSteps, plain.numSteps);
    EXPECT_EQ(plain.counts().drafted, 0U);
    // Blocks of guesses that were wrong are given back.
    EXPECT_EQ(drafting.requests.session->cacheBytes().used,
              plain.requests.session->cacheBytes().used);
  }
  EXPECT_GT(sum.accepted, 8U);
  EXPECT_GT(sum.drafted, sum.accepted) << "some were wrong";
  EXPECT_GT(numShort, 1);
}

INSTANTIATE_TEST_SUITE_P(Of, Drafts,
                         ::testing::Values(Who{"endless", 0}, Who{"window", 0},
                                           Who{"decoder", 0},
                                           Who{"translator", 0}));
// The same weights guess what is likeliest, others hardly anything.
INSTANTIATE_TEST_SUITE_P(Models, Drafts,
                         ::testing::Values(Who{"endless", 5}, Who{"endless", 6},
                                           Who{"window", 5},
                                           Who{"decoder", 5}));

class DraftsOfOne : public ::testing::Test {
protected:
  std::unique_ptr<Model> model = loadFake("endless", FakeWeights(5), 2);

  /// It says the same again and again.
  Asked looping(const Requests &requests, int64_t count) const {
    Asked asked = requests.ask({1, 2, 3}, count);
    asked.decoding.frequency_penalty = -8;
    return asked;
  }
};

TEST_F(DraftsOfOne, GiveSeveralTokensAStep) {
  Drafting drafting(*model, {}, 8);
  uint64_t id = drafting.requests.add(looping(drafting.requests, 64));
  drafting.run();
  EXPECT_EQ(drafting.requests.stories[id].tokens.size(), 64U);
  EXPECT_LT(drafting.numSteps, 30);
  EXPECT_GT(drafting.counts().accepted, 34U);
}

/// Sessions of it take its own weights as the other model's.
class DraftModels : public DraftsOfOne {
protected:
  SessionOptions how;
  Asked greedy(const Requests &requests, Tokens prompt, int64_t count) const {
    Asked asked = requests.ask(std::move(prompt), count);
    asked.decoding.do_sample = 0;
    return asked;
  }
  void SetUp() override {
    how.draft = loadFake("endless", FakeWeights(5), 1);
    how.draftCost = 0.02;
  }
  std::string refusal(const char *of, const char *by) {
    auto target = loadFake(of, FakeWeights(5), 1);
    how.draft = loadFake(by, FakeWeights(5), 1);
    auto made = Session::create(*target, how);
    EXPECT_FALSE(made);
    return made ? "" : made.error().message;
  }
};

TEST_F(DraftModels, GiveSeveralTokensAStep) {
  Drafting drafting(*model, how, 0);
  Asked asked = greedy(drafting.requests, {1, 2, 3}, 65);
  uint64_t id = drafting.requests.add(asked);
  drafting.run();
  EXPECT_EQ(drafting.requests.stories[id], storyAlone(*model, asked));
  EXPECT_LT(drafting.numSteps, 20);
  DraftCounts counts = drafting.counts();
  EXPECT_EQ(counts.accepted, counts.drafted) << "all are right";
  EXPECT_EQ(drafting.requests.session->draftModel()->cache().used(), 0);
}

/// A prompt that it cannot read at once, and of the longer one none.
TEST_F(DraftModels, ReadByPiecesAndWithinTheirPositions) {
  how.maxStepTokens = 4;
  Tokens prompt;
  for (int64_t i = 0; i < 40; ++i) {
    prompt.push_back(i * 7 % vocab);
  }
  Drafting drafting(*model, how, 4);
  Asked asked = greedy(drafting.requests, prompt, 40);
  uint64_t id = drafting.requests.add(asked);
  drafting.run();
  EXPECT_EQ(drafting.requests.stories[id], storyAlone(*model, asked));
  EXPECT_GT(drafting.counts().accepted, 8U);
  how.draft = loadFake("decoder", FakeWeights(5), 1);
  Drafting beyond(*model, how, 4);
  beyond.requests.add(asked);
  beyond.run();
  EXPECT_EQ(beyond.counts().drafted, 0U) << "it has 16 positions";
}

TEST_F(DraftModels, AreNotAskedWhereTheyAreAsDear) {
  how.draftCost.reset();
  Drafting drafting(*model, how, 8);
  drafting.requests.add(greedy(drafting.requests, {1, 2, 3}, 40));
  drafting.run();
  EXPECT_EQ(drafting.counts().drafted, 0U);
}

TEST_F(DraftModels, ForgetWhoIsPausedOrGone) {
  Drafting drafting(*model, how, 4);
  Session &session = *drafting.requests.session;
  Asked asked = greedy(drafting.requests, {1, 2, 3}, 40);
  uint64_t stays = drafting.requests.add(asked);
  uint64_t goes = drafting.requests.add(asked);
  auto used = [&] { return session.draftModel()->cache().used(); };
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(drafting.requests.step());
  }
  int64_t ofBoth = used();
  ASSERT_TRUE(session.remove(goes));
  ASSERT_TRUE(drafting.requests.step());
  EXPECT_LT(used(), ofBoth);
  ASSERT_TRUE(session.pause(stays));
  drafting.requests.add(greedy(drafting.requests, {1}, 1));
  ASSERT_TRUE(drafting.requests.step());
  EXPECT_EQ(used(), 0);
  ASSERT_TRUE(session.resume(stays));
  drafting.run();
  EXPECT_EQ(drafting.requests.stories[stays], storyAlone(*model, asked));
}

TEST_F(DraftModels, AreDecoders) {
  EXPECT_NE(refusal("endless", "encoder").find("draft: "), std::string::npos);
  EXPECT_NE(refusal("endless", "translator").find("draft: "),
            std::string::npos);
  EXPECT_NE(refusal("translator", "endless").find("expected a decoder"),
            std::string::npos);
}

TEST_F(DraftsOfOne, TakeNobodysPlaceInTheCache) {
  const tfc_cache_v0 &cache = cacheOf(*model->generateEntry(), TFC_CACHE_SELF);
  SessionOptions how;
  // Room for two sequences of 19 tokens, and no block more.
  how.engine.maxCacheBytes = 10 * cache.block_bytes;
  Drafting drafting(*model, how, 8);
  for (int i = 0; i < 2; ++i) {
    drafting.requests.add(looping(drafting.requests, 17));
  }
  drafting.run();
  EXPECT_GT(drafting.counts().drafted, 0U);
  for (auto &[id, story] : drafting.requests.stories) {
    EXPECT_EQ(story.state, TFC_LENGTH_REACHED);
  }
}

TEST_F(DraftsOfOne, AreOffWhereManyGenerate) {
  Drafting drafting(*model, {}, 8);
  for (int i = 0; i < 16; ++i) {
    drafting.requests.add(looping(drafting.requests, 30));
  }
  drafting.run();
  EXPECT_EQ(drafting.counts().drafted, 0U);
}

TEST_F(DraftsOfOne, AreOffWithAHook) {
  SessionOptions how;
  how.logits.change = [](void *, uint64_t, float *, int64_t) {};
  Drafting drafting(*model, how, 8);
  drafting.requests.add(looping(drafting.requests, 30));
  drafting.run();
  EXPECT_EQ(drafting.counts().drafted, 0U);
}

/// What is allowed is said of one token, and here it is all.
TEST_F(DraftsOfOne, AreOffForWhoHasAMask) {
  Drafting drafting(*model, {}, 8);
  uint64_t id = drafting.requests.add(looping(drafting.requests, 30));
  drafting.requests.session->setAllowed(
      id, std::vector<uint32_t>(64, ~uint32_t(0)));
  drafting.run();
  EXPECT_EQ(drafting.counts().drafted, 0U);
  EXPECT_EQ(drafting.requests.stories[id].tokens.size(), 30U);
}

TEST_F(DraftsOfOne, AStepThatIsStoppedHasNotHappened) {
  SessionOptions how;
  struct Stopper {
    int left = 1 << 30;
    static int ask(void *user) {
      return --static_cast<Stopper *>(user)->left < 0;
    }
  } stopper;
  how.engine.stop = {Stopper::ask, &stopper};
  Drafting drafting(*model, how, 8);
  Asked asked = looping(drafting.requests, 40);
  uint64_t id = drafting.requests.add(asked);
  int numStopped = 0;
  for (int step = 0; drafting.requests.session->numSequences() > 0; ++step) {
    stopper.left = step % 2 ? 1 << 30 : step % 7;
    numStopped += !drafting.requests.step();
    ASSERT_LT(step, 1000);
  }
  EXPECT_GT(numStopped, 3);
  EXPECT_EQ(drafting.requests.stories[id], storyAlone(*model, asked));
}

} // namespace
} // namespace tfc::rt::test
