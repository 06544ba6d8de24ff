// Continuous batching: sequences that come and go give what they give alone,
// and their cache blocks are used again.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/session/Session.h"

#include "test/runtime/FakeModel.h"

#include <random>

namespace tfc::rt::test {
namespace {

const std::vector<int64_t> noEos;

std::vector<int64_t> alone(const Model &model,
                           const std::vector<int64_t> &prompt, int64_t count) {
  Padded padded{1,      static_cast<int64_t>(prompt.size()),
                prompt, std::vector<int64_t>(prompt.size(), 1),
                {},     {}};
  auto got = generate(model, padded, count, noEos);
  EXPECT_TRUE(got) << messageOf(got);
  return got ? std::vector<int64_t>(got->ints.begin() + padded.length,
                                    got->ints.end())
             : std::vector<int64_t>();
}

struct Running {
  std::vector<int64_t> prompt, tokens;
  int64_t count = 0;
};

TEST(Session, SequencesThatComeAndGoEqualThemselvesAlone) {
  FakeWeights weights(5);
  auto model = loadFake("decoder", weights, 3);
  auto session = Session::create(*model, {});
  ASSERT_TRUE(session) << messageOf(session);
  std::mt19937 random(1);
  std::map<uint64_t, Running> running;
  size_t numFinished = 0;
  for (int step = 0; step < 60; ++step) {
    for (uint32_t n = step < 40 ? random() % 3 : 0; n > 0; --n) {
      Running one;
      one.prompt.resize(1 + random() % 9);
      for (int64_t &id : one.prompt) {
        id = random() % vocab;
      }
      one.count = 1 + random() % 7;
      auto id = (*session)->add(
          {one.prompt.data(), static_cast<int64_t>(one.prompt.size())}, {},
          one.count, {noEos});
      ASSERT_TRUE(id) << messageOf(id);
      running[*id] = one;
    }
    if (step % 7 == 6 && !running.empty()) {
      uint64_t id = running.begin()->first;
      EXPECT_TRUE((*session)->remove(id));
      EXPECT_FALSE((*session)->remove(id));
      running.erase(id);
    }
    Status status = (*session)->step();
    ASSERT_TRUE(status) << messageOf(status);
    EXPECT_EQ((*session)->newTokens().size(), running.size());
    for (const tfc_new_token &token : (*session)->newTokens()) {
      Running &one = running.at(token.sequence);
      one.tokens.push_back(token.token);
      bool isLast = static_cast<int64_t>(one.tokens.size()) == one.count;
      EXPECT_EQ(token.state, isLast ? TFC_LENGTH_REACHED : TFC_RUNNING);
      if (isLast) {
        EXPECT_EQ(one.tokens, alone(*model, one.prompt, one.count));
        running.erase(token.sequence);
        ++numFinished;
      }
    }
  }
  EXPECT_TRUE(running.empty());
  EXPECT_GT(numFinished, 20U);
  EXPECT_EQ((*session)->cache().used(), 0);
}

TEST(Session, EndTokensEndASequence) {
  auto model = loadFake("decoder", FakeWeights(5));
  std::vector<int64_t> prompt = {7, 8};
  std::vector<int64_t> tokens = alone(*model, prompt, 3);
  auto session = Session::create(*model, {});
  ASSERT_TRUE(session) << messageOf(session);
  auto id = (*session)->add({prompt.data(), 2}, {}, 3,
                            {std::vector<int64_t>{tokens[0]}});
  ASSERT_TRUE(id);
  ASSERT_TRUE((*session)->step());
  ASSERT_EQ((*session)->newTokens().size(), 1U);
  EXPECT_EQ((*session)->newTokens()[0].token, tokens[0]);
  EXPECT_EQ((*session)->newTokens()[0].state, TFC_ENDED);
  ASSERT_TRUE((*session)->step());
  EXPECT_TRUE((*session)->newTokens().empty());
  auto other = (*session)->add({prompt.data(), 2}, {}, 3, {noEos});
  ASSERT_TRUE(other);
  EXPECT_NE(*other, *id);
}

TEST(Session, ReportsAFullCacheAndGoesOn) {
  auto model = loadFake("decoder", FakeWeights(5));
  uint64_t blockBytes =
      cacheOf(*model->generateEntry(), TFC_CACHE_SELF).block_bytes;
  EXPECT_EQ(messageOf(Session::create(*model, {{blockBytes - 1, {}}})),
            concat("expected at least ", blockBytes,
                   " bytes of cache (one block), got ", blockBytes - 1));
  auto session = Session::create(*model, {{3 * blockBytes, {}}});
  ASSERT_TRUE(session) << messageOf(session);
  // A block holds four positions: the fifth of each needs a second block.
  std::vector<int64_t> prompt = {7, 8, 9, 10};
  std::vector<uint64_t> ids;
  for (int i = 0; i < 2; ++i) {
    auto id = (*session)->add({prompt.data(), 4}, {}, 4, {noEos});
    ASSERT_TRUE(id);
    ids.push_back(*id);
  }
  ASSERT_TRUE((*session)->step());
  std::vector<int64_t> tokens = {(*session)->newTokens()[0].token};
  Status full = (*session)->step();
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::Exhausted);
  EXPECT_EQ(messageOf(full),
            "expected a free block of the cache, got all of 3 in use");
  EXPECT_TRUE((*session)->newTokens().empty());
  ASSERT_TRUE((*session)->remove(ids[1]));
  for (int i = 0; i < 3; ++i) {
    Status status = (*session)->step();
    ASSERT_TRUE(status) << messageOf(status);
    ASSERT_EQ((*session)->newTokens().size(), 1U);
    tokens.push_back((*session)->newTokens()[0].token);
  }
  EXPECT_EQ(tokens, alone(*model, prompt, 4));
}

/// The library checks the values it gets, so one that is fed back would be
/// another error.
TEST(Session, ATokenWithoutAnEmbeddingEndsItsSequenceAlone) {
  FakeWeights weights(5);
  auto whole = loadFake("decoder", weights);
  auto model = loadFake("embeds_few", weights); // the tokens below 12
  std::vector<std::vector<int64_t>> prompts;
  std::vector<std::vector<int64_t>> expected;
  size_t numLeft = 0;
  for (int64_t token = 0; token < 12; ++token) {
    prompts.push_back({token, 11 - token});
    expected.push_back(alone(*whole, prompts.back(), 4));
  }
  auto session = Session::create(*model, {});
  ASSERT_TRUE(session) << messageOf(session);
  std::map<uint64_t, std::vector<int64_t>> running;
  for (size_t i = 0; i < prompts.size(); ++i) {
    auto id = (*session)->add({prompts[i].data(), 2}, {}, 4, {noEos});
    ASSERT_TRUE(id);
    running[*id] = expected[i];
  }
  for (size_t t = 0; t < 4; ++t) {
    Status status = (*session)->step();
    ASSERT_TRUE(status) << messageOf(status);
    ASSERT_EQ((*session)->newTokens().size(), running.size());
    size_t numFaults = 0;
    for (const tfc_new_token &token : (*session)->newTokens()) {
      int64_t wanted = running.at(token.sequence)[t];
      EXPECT_EQ(token.token, wanted < 12 ? wanted : -1);
      if (wanted < 12) {
        EXPECT_NE(token.state, TFC_FAILED);
        continue;
      }
      EXPECT_EQ(token.state, TFC_FAILED);
      const tfc_sequence_fault &fault = (*session)->faults().at(numFaults++);
      EXPECT_EQ(fault.sequence, token.sequence);
      EXPECT_EQ(fault.token, wanted);
      EXPECT_EQ(fault.reason, TFC_FAULT_NO_EMBEDDING);
      EXPECT_EQ(fault.code, TFC_INCOMPATIBLE);
      running.erase(token.sequence);
    }
    EXPECT_EQ((*session)->faults().size(), numFaults);
    numLeft += numFaults;
  }
  EXPECT_GT(numLeft, 0U);
  EXPECT_LT(numLeft, prompts.size());
  EXPECT_EQ((*session)->cache().used(), 0);
}

TEST(Session, RefusesBadPrompts) {
  auto model = loadFake("decoder", FakeWeights());
  auto session = Session::create(*model, {});
  ASSERT_TRUE(session) << messageOf(session);
  std::vector<int64_t> prompt(17, 7);
  auto add = [&](int64_t count, int64_t maxNewTokens) {
    return messageOf(
        (*session)->add({prompt.data(), count}, {}, maxNewTokens, {noEos}));
  };
  EXPECT_EQ(add(0, 1), "expected a prompt and new tokens, at least 1 each, got "
                       "0 and 1");
  EXPECT_EQ(add(1, 0), "expected a prompt and new tokens, at least 1 each, got "
                       "1 and 0");
  EXPECT_EQ(add(17, 1), "input \"input_ids\": expected a length of at most 16 "
                        "(the model's positions), got 17");
  EXPECT_EQ(add(16, 1), "expected prompt and new tokens within 16 (the model's "
                        "positions), got 16 and 1");
  EXPECT_EQ(add(15, 1), "");
  prompt[0] = 99;
  EXPECT_EQ(add(2, 1), "input \"input_ids\": expected values from 0 to 31, got "
                       "99 at [0, 0]");
}

} // namespace
} // namespace tfc::rt::test
