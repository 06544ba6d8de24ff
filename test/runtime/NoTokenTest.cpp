// Where no token can come: every one is forbidden, or scores are no numbers.
// Such a sequence fails and the others go on; a generation is an error.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/choose/Decoding.h"
#include "runtime/src/session/Session.h"

#include "test/runtime/FakeModel.h"

#include <cmath>
#include <limits>

namespace tfc::rt::test {
namespace {

using Tokens = std::vector<int64_t>;
const Tokens noEos;
const Tokens prompt = {7, 8, 9, 10, 11};

/// What a hook writes over all logits of a sequence, from a step on.
struct Writer {
  float value = 0;
  uint64_t sequence = 0;
  bool isOn = false;

  static void write(void *user, uint64_t id, float *logits, int64_t n) {
    auto &self = *static_cast<Writer *>(user);
    if (self.isOn && id == self.sequence) {
      std::fill_n(logits, n, self.value);
    }
  }
};

class NoToken : public ::testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    model = loadFake("decoder", FakeWeights(5));
    decoding = defaultDecoding(model->table());
    decoding.do_sample = GetParam();
    decoding.temperature = 2;
    SessionOptions options;
    options.logits = {Writer::write, &writer};
    auto made = Session::create(*model, options);
    ASSERT_TRUE(made) << messageOf(made);
    session = std::move(*made);
  }

  uint64_t add(std::vector<std::pair<int64_t, float>> bias = {}) {
    RequestOptions options;
    options.eos = noEos;
    options.decoding = &decoding;
    options.bias = std::move(bias);
    options.numLogProbabilities = 2;
    auto id = session->add({prompt.data(), static_cast<int64_t>(prompt.size())},
                           {}, 6, options);
    EXPECT_TRUE(id) << messageOf(id);
    return id ? *id : 0;
  }

  /// A step; the tokens of who has not failed are kept.
  void step() {
    Status status = session->step();
    ASSERT_TRUE(status) << messageOf(status);
    for (const tfc_new_token &token : session->newTokens()) {
      if (token.state != TFC_FAILED) {
        tokens[token.sequence].push_back(token.token);
      }
    }
  }

  void expectFault(uint64_t id, uint32_t reason) {
    ASSERT_EQ(session->faults().size(), 1U);
    const tfc_sequence_fault &fault = session->faults()[0];
    EXPECT_EQ(fault.sequence, id);
    EXPECT_EQ(fault.token, -1);
    EXPECT_EQ(fault.reason, reason);
    EXPECT_EQ(fault.code, TFC_INVALID_ARGUMENT);
    for (const tfc_new_token &token : session->newTokens()) {
      EXPECT_EQ(token.state == TFC_FAILED, token.sequence == id);
      EXPECT_EQ(token.token == -1, token.sequence == id);
    }
  }

  std::unique_ptr<Model> model;
  std::unique_ptr<Session> session;
  tfc_decoding_options decoding{};
  Writer writer;
  std::map<uint64_t, Tokens> tokens;
};

TEST_P(NoToken, EndsItsSequenceAlone) {
  struct Case {
    float value;
    uint32_t reason;
  };
  for (Case c : {Case{-INFINITY, TFC_FAULT_NONE_ALLOWED},
                 Case{NAN, TFC_FAULT_NOT_A_NUMBER}}) {
    tokens.clear();
    writer = {c.value, 0, false};
    uint64_t first = add(), second = add(), third = add();
    step();
    EXPECT_TRUE(session->faults().empty());
    writer.sequence = second;
    writer.isOn = true;
    step();
    expectFault(second, c.reason);
    ASSERT_EQ(session->logProbabilities().size(), 3U);
    EXPECT_EQ(session->logProbabilities()[1].n, 0U);
    EXPECT_EQ(session->numSequences(), 2);
    while (session->numSequences() > 0) {
      step();
      EXPECT_TRUE(session->faults().empty());
    }
    EXPECT_EQ(tokens[first].size(), 6U);
    EXPECT_EQ(tokens[second], Tokens(1, tokens[first][0]));
    EXPECT_EQ(tokens[third], tokens[first]);
    EXPECT_EQ(session->cache().used(), 0);
  }
}

TEST_P(NoToken, IsThereWhenBiasesForbidAll) {
  std::vector<std::pair<int64_t, float>> bias;
  for (int64_t token = 0; token < vocab; ++token) {
    bias.emplace_back(token, -INFINITY);
  }
  uint64_t id = add(bias);
  step();
  expectFault(id, TFC_FAULT_NONE_ALLOWED);
  // One of them may come: it does.
  bias[20].second = 0;
  id = add(bias);
  step();
  EXPECT_EQ(tokens[id], Tokens{20});
}

TEST_P(NoToken, IsAnotherThanOneThatMustCome) {
  uint64_t id = add({{17, INFINITY}});
  step();
  EXPECT_TRUE(session->faults().empty());
  EXPECT_EQ(tokens[id], Tokens{17});
}

INSTANTIATE_TEST_SUITE_P(Drawn, NoToken, ::testing::Bool());

struct Way {
  uint32_t beams, draws;
};

class NoTokenOf : public ::testing::TestWithParam<Way> {
protected:
  Result<std::vector<OutputTensor>> run(const Model &model, int64_t count) {
    decoding.num_beams = GetParam().beams;
    decoding.do_sample = GetParam().draws;
    std::vector<tfc_tensor> inputs = padded.tensors();
    GenerateOptions options;
    options.maxNewTokens = count;
    options.eos = noEos;
    options.decoding = decoding;
    options.onToken = [&](int64_t, int64_t token, bool) {
      EXPECT_GE(token, 0);
      ++numTold;
      return true;
    };
    return runGenerate(model, inputs.data(),
                       static_cast<uint32_t>(inputs.size()), options);
  }

  Padded padded{2, 2, {7, 8, 9, 9}, {1, 1, 1, 1}, {}, {}};
  tfc_decoding_options decoding{};
  int numTold = 0;
};

/// No token may come twice, and then there is none left.
TEST_P(NoTokenOf, IsAnErrorOfAGeneration) {
  auto model = loadFake("endless", FakeWeights(5));
  decoding = defaultDecoding(model->table());
  decoding.no_repeat_ngram = 1;
  auto whole = run(*model, vocab - 2);
  ASSERT_TRUE(whole) << messageOf(whole);
  numTold = 0;
  auto got = run(*model, vocab);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::InvalidArgument);
  // The other row has a token more, then none: the first to fail ends it.
  EXPECT_EQ(messageOf(got).find(concat(model->path(), ": row 0: expected a ",
                                       "token that may come next, got none ",
                                       "(all are forbidden)")),
            0U)
      << messageOf(got);
  EXPECT_EQ(numTold, GetParam().beams > 1 ? 0 : 2 * (vocab - 2));
}

TEST_P(NoTokenOf, IsAnErrorOfAModelWhoseScoresAreNoNumbers) {
  FakeWeights weights(5);
  weights.bias[11] = std::numeric_limits<float>::quiet_NaN();
  auto model = loadFake("decoder", weights);
  decoding = defaultDecoding(model->table());
  auto got = run(*model, 3);
  ASSERT_FALSE(got);
  std::string rest = ": expected a token that may come next, got scores that "
                     "are not numbers (NaN)";
  EXPECT_EQ(messageOf(got), concat(model->path(), ": row 0", rest, "\n",
                                   model->path(), ": row 1", rest));
  EXPECT_EQ(numTold, 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, NoTokenOf,
                         ::testing::Values(Way{1, 0}, Way{1, 1}, Way{3, 0},
                                           Way{3, 1}));

} // namespace
} // namespace tfc::rt::test
