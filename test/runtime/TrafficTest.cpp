// Random traffic over everything that a session can do, in small caches and in
// pieces: every sequence is, bit for bit, what it is alone.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/ModuleTables.h"
#include "test/runtime/Requests.h"

#include <array>
#include <random>
#include <set>

namespace tfc::rt::test {
namespace {

/// One session's traffic, drawn from a seed.
class Traffic {
public:
  Traffic(const Model &model, uint32_t seed, const SessionOptions &options)
      : model(model), random(seed), requests(model, options) {}

  void run(int numSteps) {
    for (int step = 0; step < numSteps || hasMore(); ++step) {
      for (uint32_t n = step < numSteps ? random() % 3 : 0; n > 0; --n) {
        add();
      }
      interfere(step < numSteps);
      Status status = requests.step();
      if (!status) {
        ASSERT_EQ(status.error().code, Code::Exhausted) << messageOf(status);
        ++numFull;
        makeRoom();
      }
      numWaiting += static_cast<int>(requests.session->leftOut().size());
      ASSERT_LT(step, 5000) << "nothing goes on";
    }
    for (uint64_t id : keeping) {
      // Who was removed, or failed, is not there.
      (void)requests.session->remove(id);
    }
    EXPECT_EQ(requests.session->cacheBytes().used, 0U);
    EXPECT_EQ(requests.session->state().numKept, 0);
  }

  /// Against each alone; returns how many there were.
  int check() {
    int numChecked = 0;
    for (auto &[id, asked] : wanted) {
      const Story &story = requests.stories[id];
      if (story.state == TFC_RUNNING || story.state == TFC_FAILED) {
        continue; // removed, or too large for this cache
      }
      EXPECT_EQ(story, storyAlone(model, asked)) << id;
      ++numChecked;
    }
    return numChecked;
  }

  int numFull = 0, numWaiting = 0;

private:
  bool hasMore() const { return requests.session->numSequences() > 0; }

  uint64_t drawId() { return lastId ? 1 + random() % lastId : 0; }

  void add() {
    // Tiled from few pieces, so that many begin the same.
    Tokens prompt;
    for (uint32_t n = 1 + random() % 3; n > 0; --n) {
      int64_t piece = 1 + random() % 3;
      prompt.insert(prompt.end(), {piece, piece + 5, piece + 9});
    }
    prompt.resize(prompt.size() - random() % 3);
    Asked asked = requests.ask(prompt, 1 + random() % 6);
    asked.decoding.do_sample = random() % 4 != 0;
    asked.decoding.seed = random() % 3;
    asked.decoding.frequency_penalty =
        std::array<double, 3>{0, 0.75, -4}[random() % 3]; // the last repeats
    asked.decoding.presence_penalty = random() % 3 == 0 ? -0.5 : 0;
    asked.options.numLogProbabilities = random() % 3;
    asked.options.echoes = random() % 4 == 0;
    asked.options.index = random() % 3;
    asked.options.numAnswers = random() % 3 == 0 ? 1 + random() % 4 : 1;
    asked.options.keeps = random() % 5 == 0;
    asked.options.prefix = random() % 2 == 0 ? drawId() : 0;
    asked.options.stops = {{1, 6}, {int64_t(random() % vocab)}};
    auto id = requests.tryAdd(asked);
    if (!id) {
      ASSERT_EQ(id.error().code, Code::Exhausted) << messageOf(id);
      return;
    }
    for (uint32_t i = 0; i < asked.options.numAnswers; ++i) {
      Asked one = asked;
      one.options.numAnswers = 1;
      one.options.index += i;
      one.options.echoes = asked.options.echoes && i == 0;
      // Its prompt may have been taken over before all of it was told.
      wanted[*id + i] = one;
      lastId = *id + i;
      if (asked.options.keeps) {
        keeping.insert(lastId);
      }
    }
  }

  /// Things happen to sequences, which may have ended long ago.
  void interfere(bool mayStop) {
    Session &session = *requests.session;
    if (uint64_t id = drawId(); id && mayStop) {
      switch (random() % 6) {
      case 0:
        (void)session.pause(id);
        break;
      case 1:
        (void)session.hold(id);
        break;
      case 2:
        if (random() % 3 == 0 && session.remove(id) &&
            requests.stories[id].state == TFC_RUNNING) {
          wanted.erase(id);
        }
        break;
      case 3:
        forkOf(id);
        break;
      default:
        break;
      }
    }
    for (int i = 0; i < (mayStop ? 2 : 8); ++i) {
      (void)session.resume(drawId());
    }
  }

  void forkOf(uint64_t id) {
    auto fork = requests.session->fork(id, nullptr);
    if (fork && wanted.count(id)) {
      wanted[*fork] = wanted[id];
      // What it has of the other one's story is the other one's.
      requests.stories[*fork] = requests.stories[id];
      requests.stories[*fork].state = TFC_RUNNING;
      // But for what is told of the prompt.
      requests.stories[*fork].echo.clear();
      wanted[*fork].options.echoes = false;
      if (wanted[id].options.keeps) {
        keeping.insert(*fork);
      }
      lastId = *fork;
    }
  }

  /// What a caller does when nobody finds room: lets go of what is kept, then
  /// pauses somebody.
  void makeRoom() {
    for (uint64_t id : keeping) {
      if (requests.stories[id].state != TFC_RUNNING) {
        (void)requests.session->remove(id);
      }
    }
    for (int i = 0; i < 3; ++i) {
      (void)requests.session->pause(drawId());
    }
  }

  const Model &model;
  std::mt19937 random;
  Requests requests;
  std::map<uint64_t, Asked> wanted;
  std::set<uint64_t> keeping;
  uint64_t lastId = 0;
};

class Traffics : public ::testing::TestWithParam<const char *> {};

TEST_P(Traffics, AreWhatEachSequenceIsAlone) {
  auto model = loadFake(GetParam(), FakeWeights(5), 2);
  uint64_t block = cacheOf(*model->generateEntry(), TFC_CACHE_SELF).block_bytes;
  int numChecked = 0, numFull = 0, numWaiting = 0;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    SessionOptions options;
    options.maxStepTokens = std::array<int64_t, 4>{0, 1, 3, 9}[seed % 4];
    options.engine.maxCacheBytes =
        std::array<uint64_t, 3>{9, 20, 400}[seed % 3] * block;
    options.maxDrafts = std::array<int64_t, 3>{8, 2, 0}[seed % 3];
    Traffic traffic(*model, seed, options);
    traffic.run(25);
    numChecked += traffic.check();
    numFull += traffic.numFull;
    numWaiting += traffic.numWaiting;
    if (HasFailure()) {
      break;
    }
  }
  EXPECT_GT(numChecked, 200);
  EXPECT_GT(numFull, 0);
  EXPECT_GT(numWaiting, 0);
}

INSTANTIATE_TEST_SUITE_P(Of, Traffics,
                         ::testing::Values("endless", "window", "decoder",
                                           "translator"));

} // namespace
} // namespace tfc::rt::test
