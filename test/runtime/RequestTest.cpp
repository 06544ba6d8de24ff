// What a request can ask of a session beside tokens: other ends, other scores,
// a look at them, and a second sequence that goes on from it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/choose/Decoding.h"
#include "runtime/src/session/Session.h"

#include "test/runtime/FakeModel.h"

#include <cmath>
#include <functional>
#include <set>

namespace tfc::rt::test {
namespace {

using Tokens = std::vector<int64_t>;
const Tokens noEos;
const Tokens prompt = {7, 8, 9, 10, 11};

class Request : public ::testing::Test {
protected:
  void SetUp() override {
    model = loadFake("decoder", weights);
    begin({});
  }

  void begin(const SessionOptions &options) {
    auto made = Session::create(*model, options);
    ASSERT_TRUE(made) << messageOf(made);
    session = std::move(*made);
  }

  Result<uint64_t> add(RequestOptions options, int64_t count = 8) {
    if (!options.eos) {
      options.eos = noEos;
    }
    return session->add({prompt.data(), static_cast<int64_t>(prompt.size())},
                        {}, count, options);
  }

  /// Steps until all have ended; their tokens, and how the last one ended.
  std::map<uint64_t, Tokens> run() {
    std::map<uint64_t, Tokens> tokens;
    while (session->numSequences() > 0) {
      Status status = session->step();
      EXPECT_TRUE(status) << messageOf(status);
      for (const tfc_new_token &token : session->newTokens()) {
        tokens[token.sequence].push_back(token.token);
        lastState = token.state;
      }
    }
    EXPECT_EQ(session->cache().used(), 0);
    return tokens;
  }

  Tokens runOne(const RequestOptions &options) {
    auto id = add(options);
    EXPECT_TRUE(id) << messageOf(id);
    return run()[*id];
  }

  FakeWeights weights{5};
  std::unique_ptr<Model> model;
  std::unique_ptr<Session> session;
  uint32_t lastState = 0;
};

TEST_F(Request, StopsEndASequenceOnceItEndsWithOne) {
  Tokens whole = runOne({});
  ASSERT_EQ(whole.size(), 8U);
  EXPECT_EQ(lastState, TFC_LENGTH_REACHED);
  // The toy repeats itself; its first tokens that differ are a stop.
  RequestOptions options;
  options.stops = {{whole[2], whole[1], 31}, {whole[2], whole[3]}};
  Tokens stopped = runOne(options);
  size_t size = 2;
  while (!(whole[size - 2] == whole[2] && whole[size - 1] == whole[3])) {
    ++size;
  }
  EXPECT_EQ(stopped, Tokens(whole.begin(), whole.begin() + size));
  EXPECT_EQ(lastState, size == 8 ? TFC_LENGTH_REACHED : TFC_STOPPED);
  EXPECT_LT(size, 8U);
  // The prompt's own tokens are none of the new ones.
  options.stops = {{prompt.back(), whole[0]}};
  EXPECT_EQ(runOne(options), whole);
}

TEST_F(Request, BiasesForbidAndForceTokens) {
  Tokens whole = runOne({});
  RequestOptions options;
  options.bias = {{whole[0], -INFINITY}};
  Tokens without = runOne(options);
  EXPECT_EQ(std::count(without.begin(), without.end(), whole[0]), 0);
  options.bias = {{17, 1e6f}};
  EXPECT_EQ(runOne(options), Tokens(8, 17));
  options.bias = {{vocab, 1}, {-1, 1}, {3, NAN}};
  EXPECT_EQ(messageOf(add(options)),
            "logit_bias: expected a token below 32 and a number, got 32 and 1\n"
            "logit_bias: expected a token below 32 and a number, got -1 and 1\n"
            "logit_bias: expected a token below 32 and a number, got 3 and "
            "nan");
}

TEST_F(Request, LogProbabilitiesAreTheModels) {
  RequestOptions options;
  options.numLogProbabilities = 3;
  options.bias = {{17, 1e6f}};
  ASSERT_TRUE(add({}, 2));
  ASSERT_TRUE(add(options, 2));
  ASSERT_TRUE(session->step());
  const auto &reports = session->logProbabilities();
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].n, 0U);
  ASSERT_EQ(reports[1].n, 3U);
  // Both have the same prompt; the bias changes what is chosen alone.
  const float *logits = session->logits() + vocab;
  double sum = 0;
  for (int64_t i = 0; i < vocab; ++i) {
    sum += std::exp(double(logits[i]));
  }
  EXPECT_EQ(session->newTokens()[1].token, 17);
  EXPECT_NEAR(reports[1].chosen, logits[17] - std::log(sum), 1e-5);
  EXPECT_EQ(reports[1].tokens[0], session->newTokens()[0].token);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(reports[1].values[i],
                logits[reports[1].tokens[i]] - std::log(sum), 1e-5);
    EXPECT_GE(reports[1].values[0], reports[1].values[i]);
  }
  run();
  ASSERT_TRUE(add({}, 2));
  ASSERT_TRUE(session->step());
  EXPECT_TRUE(session->logProbabilities().empty());
}

TEST_F(Request, LogProbabilitiesAreAsManyAsThereAreTokens) {
  RequestOptions options;
  for (uint32_t wanted : {31, 32, 33, 1024}) {
    options.numLogProbabilities = wanted;
    ASSERT_TRUE(add(options, 1));
    ASSERT_TRUE(session->step());
    const tfc_logprobs &report = session->logProbabilities()[0];
    ASSERT_EQ(report.n, std::min<uint32_t>(wanted, vocab));
    std::set<int64_t> tokens(report.tokens, report.tokens + report.n);
    EXPECT_EQ(tokens.size(), report.n);
    EXPECT_LT(*tokens.rbegin(), vocab);
    EXPECT_TRUE(std::is_sorted(report.values, report.values + report.n,
                               std::greater<>()));
  }
}

TEST_F(Request, EndTokensAndStopsAreTokensOfTheModel) {
  RequestOptions options;
  options.eos = {{5, INT64_MIN, vocab}};
  options.stops = {{5}, {vocab - 1, INT64_MAX}};
  EXPECT_EQ(messageOf(add(options)),
            "eos: expected token ids from 0 to 31, got -9223372036854775808\n"
            "eos: expected token ids from 0 to 31, got 32\n"
            "stops: expected token ids from 0 to 31, got 9223372036854775807");
  Padded padded{1, 2, {7, 8}, {}, {}, {}};
  EXPECT_EQ(messageOf(generate(*model, padded, 3, Tokens{5, vocab})),
            "eos: expected token ids from 0 to 31, got 32");
}

TEST_F(Request, AHookChangesLogitsByTheirSequence) {
  SessionOptions options;
  options.logits.change = [](void *, uint64_t id, float *logits, int64_t n) {
    ASSERT_EQ(n, vocab);
    logits[20 + id] = 1e6f;
  };
  begin(options);
  auto first = add({}, 3), second = add({}, 3);
  ASSERT_TRUE(first && second);
  auto tokens = run();
  EXPECT_EQ(tokens[*first], Tokens(3, 20 + static_cast<int64_t>(*first)));
  EXPECT_EQ(tokens[*second], Tokens(3, 20 + static_cast<int64_t>(*second)));
}

TEST_F(Request, ForksGoOnAsTheOtherWould) {
  Tokens whole = runOne({});
  for (int64_t before = 0; before < 7; ++before) {
    auto id = add({});
    ASSERT_TRUE(id);
    for (int64_t i = 0; i < before; ++i) {
      ASSERT_TRUE(session->step());
    }
    int64_t used = session->cache().used();
    auto fork = session->fork(*id, nullptr);
    ASSERT_TRUE(fork) << messageOf(fork);
    EXPECT_EQ(session->cache().used(), used) << "blocks are shared";
    EXPECT_EQ(session->numSequences(), 2);
    auto tokens = run();
    EXPECT_EQ(tokens[*fork], tokens[*id]);
    EXPECT_EQ(tokens[*fork], Tokens(whole.begin() + before, whole.end()));
  }
  EXPECT_EQ(messageOf(session->fork(999, nullptr)),
            "expected a sequence of the session, got 999");
}

TEST_F(Request, ForksThatDifferDoNotDisturbEachOther) {
  // The logits of the first sequence, step by step: tokens alone repeat.
  auto logitsOf = [&](bool forks) {
    std::vector<float> logits;
    auto id = add({});
    EXPECT_TRUE(id) << messageOf(id);
    for (int step = 0; step < 8; ++step) {
      EXPECT_TRUE(session->step());
      logits.insert(logits.end(), session->logits(), session->logits() + vocab);
      tfc_decoding_options draws = defaultDecoding(model->table());
      draws.do_sample = 1;
      draws.temperature = 100;
      for (draws.seed = 1; forks && step == 1 && draws.seed <= 3;
           ++draws.seed) {
        auto fork = session->fork(*id, &draws);
        EXPECT_TRUE(fork) << messageOf(fork);
      }
    }
    EXPECT_EQ(session->numSequences(), 0);
    EXPECT_EQ(session->cache().used(), 0);
    return logits;
  };
  EXPECT_EQ(logitsOf(true), logitsOf(false));
}

TEST_F(Request, ForksChooseTheirOwnWay) {
  auto id = add({});
  ASSERT_TRUE(id);
  ASSERT_TRUE(session->step());
  tfc_decoding_options draws = defaultDecoding(model->table());
  draws.do_sample = 1;
  draws.temperature = 100;
  std::vector<uint64_t> forks;
  for (draws.seed = 1; draws.seed <= 2; ++draws.seed) {
    auto fork = session->fork(*id, &draws);
    ASSERT_TRUE(fork) << messageOf(fork);
    forks.push_back(*fork);
  }
  auto tokens = run();
  EXPECT_NE(tokens[forks[0]], tokens[forks[1]]);
  EXPECT_NE(tokens[forks[0]], tokens[*id]);
  draws.num_beams = 2;
  ASSERT_TRUE(id = add({}));
  EXPECT_EQ(messageOf(session->fork(*id, &draws)),
            "expected one beam and one returned sequence in a session, got 2 "
            "and 1");
}

/// Removes a sequence while its step runs.
struct Leaver {
  Session *session = nullptr;
  uint64_t leaves = 0;
  int numDone = 0, numRefused = 0;
};

TEST_F(Request, WhoLeavesDuringAStepIsGoneBehindIt) {
  Leaver leaver;
  SessionOptions options;
  options.logits.user = &leaver;
  options.logits.change = [](void *user, uint64_t, float *, int64_t) {
    auto &self = *static_cast<Leaver *>(user);
    if (self.leaves != 0) {
      self.session->remove(self.leaves) ? ++self.numDone : ++self.numRefused;
    }
  };
  begin(options);
  leaver.session = session.get();
  auto first = add({}), second = add({});
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(session->step());
  leaver.leaves = *second;
  ASSERT_TRUE(session->step());
  EXPECT_EQ(leaver.numDone, 1);
  EXPECT_EQ(leaver.numRefused, 1) << "it has left";
  EXPECT_EQ(session->newTokens().size(), 2U);
  EXPECT_EQ(session->numSequences(), 1);
  EXPECT_EQ(session->cache().used(), 2) << "of the other one alone";
  leaver.leaves = 0;
  EXPECT_EQ(run().count(*second), 0U);
}

TEST_F(Request, ASourceIsEncodedOnceForAllItsForks) {
  model = loadFake("translator", weights);
  begin({});
  Tokens whole = runOne({});
  auto id = add({});
  ASSERT_TRUE(id);
  std::vector<uint64_t> forks;
  for (int i = 0; i < 2; ++i) {
    auto other = add({});
    ASSERT_TRUE(other);
    auto fork = session->fork(*id, nullptr);
    ASSERT_TRUE(fork);
    forks.push_back(*fork);
  }
  ASSERT_TRUE(session->step());
  // Three sources of five positions, three to a block.
  EXPECT_EQ(session->crossCache().used(), 6);
  auto tokens = run();
  EXPECT_EQ(tokens[forks[1]], Tokens(whole.begin() + 1, whole.end()));
  EXPECT_EQ(session->crossCache().used(), 0);
}

TEST_F(Request, WhoLeavesBeforeItsFirstStepIsNeverSeen) {
  auto id = add({});
  ASSERT_TRUE(id);
  EXPECT_TRUE(session->remove(*id));
  EXPECT_FALSE(session->remove(*id));
  EXPECT_EQ(session->numSequences(), 0);
  ASSERT_TRUE(session->step());
  EXPECT_TRUE(session->newTokens().empty());
}

} // namespace
} // namespace tfc::rt::test
