// Prompts that go in a piece at a time: the tokens are those of whole prompts,
// and nobody waits longer than for a piece. And what is behind a window is
// given back.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/session/Session.h"

#include "test/runtime/FakeModel.h"

#include <random>

namespace tfc::rt::test {
namespace {

const std::vector<int64_t> noEos;
using Tokens = std::vector<int64_t>;

SessionOptions inPieces(int64_t maxStepTokens) {
  SessionOptions options;
  options.maxStepTokens = maxStepTokens;
  return options;
}

uint64_t addPrompt(Session &session, const Tokens &prompt, int64_t count) {
  auto id = session.add({prompt.data(), static_cast<int64_t>(prompt.size())},
                        {}, count, {noEos});
  EXPECT_TRUE(id) << messageOf(id);
  return id ? *id : 0;
}

/// All sequences' tokens, by id; `begin(step)` adds some.
template <typename Begin>
std::map<uint64_t, Tokens> runAll(const Model &model,
                                  const SessionOptions &options,
                                  int64_t numSteps, const Begin &begin) {
  std::map<uint64_t, Tokens> tokens;
  auto session = Session::create(model, options);
  EXPECT_TRUE(session) << messageOf(session);
  for (int64_t step = 0; step < numSteps || (*session)->numSequences() > 0;
       ++step) {
    begin(**session, step);
    Status status = (*session)->step();
    EXPECT_TRUE(status) << messageOf(status);
    if (!status) {
      break;
    }
    for (const tfc_new_token &token : (*session)->newTokens()) {
      tokens[token.sequence].push_back(token.token);
    }
  }
  EXPECT_EQ((*session)->cache().used(), 0);
  return tokens;
}

class Chunks : public ::testing::TestWithParam<const char *> {};

TEST_P(Chunks, OfAnySizeGiveTheSameTokens) {
  auto model = loadFake(GetParam(), FakeWeights(5), 3);
  auto begin = [](Session &session, int64_t step) {
    std::mt19937 random(static_cast<uint32_t>(step));
    for (uint32_t n = step < 5 ? random() % 3 : 0; n > 0; --n) {
      Tokens prompt(1 + random() % 9);
      for (int64_t &id : prompt) {
        id = 1 + random() % (vocab - 1);
      }
      addPrompt(session, prompt, 1 + random() % 7);
    }
  };
  auto whole = runAll(*model, {}, 5, begin);
  EXPECT_GT(whole.size(), 4U);
  for (int64_t size : {1, 2, 3, 5, 8, 100}) {
    EXPECT_EQ(runAll(*model, inPieces(size), 5, begin), whole) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Chunks,
                         ::testing::Values("decoder", "translator"));

TEST(Chunk, APromptDelaysNobodyByMoreThanAPiece) {
  auto model = loadFake("endless", FakeWeights(5));
  auto session = Session::create(*model, inPieces(6));
  ASSERT_TRUE(session) << messageOf(session);
  uint64_t first = addPrompt(**session, {7, 8}, 20);
  uint64_t second = addPrompt(**session, {9}, 20);
  ASSERT_TRUE((*session)->step());
  // Beside two tokens of those, 4 of the prompt a step: 41 in 11 steps.
  uint64_t longer = addPrompt(**session, Tokens(41, 3), 2);
  for (int64_t step = 1; step <= 12; ++step) {
    ASSERT_TRUE((*session)->step());
    const auto &tokens = (*session)->newTokens();
    ASSERT_EQ(tokens.size(), step < 11 ? 2U : 3U) << step;
    EXPECT_EQ(tokens[0].sequence, first);
    EXPECT_EQ(tokens[1].sequence, second);
    if (step >= 11) {
      EXPECT_EQ(tokens[2].sequence, longer);
    }
  }
  EXPECT_EQ((*session)->numSequences(), 2);
}

TEST(Chunk, EightStreamsGoOnBesideFourThousandTokens) {
  auto model = loadFake("endless", FakeWeights(5));
  auto session = Session::create(*model, inPieces(64));
  ASSERT_TRUE(session) << messageOf(session);
  std::vector<uint64_t> streams;
  for (int64_t stream = 0; stream < 8; ++stream) {
    streams.push_back(addPrompt(**session, {1 + stream, 9}, 200));
  }
  ASSERT_TRUE((*session)->step());
  Tokens prompt(4000);
  for (size_t i = 0; i < prompt.size(); ++i) {
    prompt[i] = 1 + static_cast<int64_t>(i * i % 30);
  }
  uint64_t longer = addPrompt(**session, prompt, 1);
  // Beside eight tokens 56 of the prompt a step: 4000 in 72 steps, each of
  // which has a token of every stream.
  for (int64_t step = 1; step <= 72; ++step) {
    ASSERT_TRUE((*session)->step());
    const auto &tokens = (*session)->newTokens();
    ASSERT_EQ(tokens.size(), step < 72 ? 8U : 9U) << step;
    for (size_t stream = 0; stream < streams.size(); ++stream) {
      EXPECT_EQ(tokens[stream].sequence, streams[stream]);
    }
  }
  EXPECT_EQ((*session)->newTokens()[8].sequence, longer);
}

TEST(Chunk, WhoCameLaterIsNotHeldUpEither) {
  auto model = loadFake("endless", FakeWeights(5));
  auto session = Session::create(*model, inPieces(6));
  ASSERT_TRUE(session) << messageOf(session);
  addPrompt(**session, Tokens(41, 3), 2);
  ASSERT_TRUE((*session)->step());
  uint64_t other = addPrompt(**session, {9}, 20);
  for (int64_t step = 1; step <= 6; ++step) {
    ASSERT_TRUE((*session)->step());
    ASSERT_EQ((*session)->newTokens().size(), 1U) << step;
    EXPECT_EQ((*session)->newTokens()[0].sequence, other);
  }
}

TEST(Window, BlocksBehindItAreGivenBack) {
  auto model = loadFake("window", FakeWeights(5));
  // A window of 5 positions touches three blocks of 4 at most, and a piece of
  // 3 tokens one more.
  for (int64_t size : {0, 3}) {
    auto session = Session::create(*model, inPieces(size));
    ASSERT_TRUE(session) << messageOf(session);
    addPrompt(**session, Tokens(41, 3), 30);
    addPrompt(**session, Tokens(2, 7), 30);
    while ((*session)->numSequences() > 0) {
      Status status = (*session)->step();
      ASSERT_TRUE(status) << messageOf(status);
      EXPECT_LE((*session)->cache().used(), 2 * 3);
    }
    EXPECT_EQ((*session)->cache().used(), 0);
  }
}

TEST(Window, ForksShareWhatIsLeft) {
  auto model = loadFake("window", FakeWeights(5));
  auto session = Session::create(*model, {});
  ASSERT_TRUE(session) << messageOf(session);
  uint64_t id = addPrompt(**session, Tokens(21, 3), 9);
  std::map<uint64_t, Tokens> tokens;
  uint64_t other = 0;
  for (int step = 0; (*session)->numSequences() > 0 || step == 0; ++step) {
    ASSERT_TRUE((*session)->step());
    for (const tfc_new_token &token : (*session)->newTokens()) {
      tokens[token.sequence].push_back(token.token);
    }
    if (step == 2) {
      auto fork = (*session)->fork(id, nullptr);
      ASSERT_TRUE(fork) << messageOf(fork);
      other = *fork;
    }
  }
  EXPECT_EQ(tokens[other], Tokens(tokens[id].begin() + 3, tokens[id].end()));
  EXPECT_EQ((*session)->cache().used(), 0);
}

TEST(Chunk, StepsWithoutATokenGoOn) {
  auto model = loadFake("decoder", FakeWeights(5));
  auto session = Session::create(*model, inPieces(2));
  ASSERT_TRUE(session) << messageOf(session);
  addPrompt(**session, {1, 2, 3, 4, 5, 6, 7}, 1);
  for (size_t step = 0; step < 4; ++step) {
    EXPECT_EQ((*session)->numSequences(), 1);
    ASSERT_TRUE((*session)->step());
    EXPECT_EQ((*session)->newTokens().size(), step == 3 ? 1U : 0U);
  }
  EXPECT_EQ((*session)->numSequences(), 0);
}

} // namespace
} // namespace tfc::rt::test
