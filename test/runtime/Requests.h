// Requests to a session of the toy model, and what comes of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_RUNTIME_REQUESTS_H
#define TFC_TEST_RUNTIME_REQUESTS_H

#include "runtime/src/choose/Decoding.h"
#include "runtime/src/session/Session.h"
#include "test/runtime/FakeModel.h"

namespace tfc::rt::test {

using Tokens = std::vector<int64_t>;

/// Everything about a sequence that must not depend on anything else: its
/// tokens, how it ended, its log-probabilities, and those of its prompt.
struct Story {
  Tokens tokens;
  uint32_t state = TFC_RUNNING;
  std::vector<float> logprobs, echo;

  bool operator==(const Story &other) const {
    return tokens == other.tokens && state == other.state &&
           logprobs == other.logprobs && echo == other.echo;
  }
};

inline void PrintTo(const Story &story, std::ostream *out) {
  *out << "state " << story.state << ", " << story.echo.size()
       << " tokens told, tokens";
  for (int64_t token : story.tokens) {
    *out << ' ' << token;
  }
}

/// What is asked: a prompt, so many tokens, and the rest.
struct Asked {
  Tokens prompt;
  int64_t count = 6;
  tfc_decoding_options decoding{};
  RequestOptions options{};
};

/// A session whose sequences' stories are kept.
class Requests {
public:
  explicit Requests(const Model &model, const SessionOptions &how = {})
      : model(model) {
    auto made = Session::create(model, how);
    EXPECT_TRUE(made) << messageOf(made);
    session = std::move(*made);
  }

  /// Draws unless that is changed, without end tokens.
  Asked ask(Tokens prompt, int64_t count = 6) const {
    Asked asked;
    asked.prompt = std::move(prompt);
    asked.count = count;
    asked.decoding = defaultDecoding(model.table());
    asked.decoding.do_sample = 1;
    asked.decoding.temperature = 3;
    asked.decoding.seed = 7;
    asked.options.eos = Tokens();
    return asked;
  }

  Result<uint64_t> tryAdd(Asked asked) {
    asked.options.decoding = &asked.decoding;
    return session->add(
        {asked.prompt.data(), static_cast<int64_t>(asked.prompt.size())}, {},
        asked.count, asked.options);
  }
  uint64_t add(const Asked &asked) {
    auto id = tryAdd(asked);
    EXPECT_TRUE(id) << messageOf(id);
    return id ? *id : 0;
  }

  Status step() {
    Status status = session->step();
    const auto &reports = session->logProbabilities();
    for (size_t i = 0; i < session->newTokens().size(); ++i) {
      const tfc_new_token &token = session->newTokens()[i];
      Story &story = stories[token.sequence];
      story.state = token.state;
      if (token.token >= 0) {
        story.tokens.push_back(token.token);
      }
      if (!reports.empty() && reports[i].n != 0) {
        addReport(reports[i], story.logprobs);
      }
    }
    for (const tfc_prompt_logprobs &piece : session->echoes()) {
      Story &story = stories[piece.sequence];
      EXPECT_EQ(piece.first, told[piece.sequence] + 1) << "each token once";
      told[piece.sequence] += static_cast<int64_t>(piece.n);
      for (uint64_t i = 0; i < piece.n; ++i) {
        addReport(piece.logprobs[i], story.echo);
      }
    }
    return status;
  }

  /// Steps until nothing goes on.
  void run() {
    for (int i = 0; session->numSequences() > session->numPaused(); ++i) {
      Status status = step();
      ASSERT_TRUE(status) << messageOf(status);
      ASSERT_LT(i, 10000);
    }
  }

  const Model &model;
  std::unique_ptr<Session> session;
  std::map<uint64_t, Story> stories;

private:
  static void addReport(const tfc_logprobs &report, std::vector<float> &to) {
    to.push_back(report.chosen);
    to.insert(to.end(), report.values, report.values + report.n);
    for (uint32_t i = 0; i < report.n; ++i) {
      to.push_back(static_cast<float>(report.tokens[i]));
    }
  }

  std::map<uint64_t, int64_t> told;
};

/// What a request of one answer gets when nothing else is there.
inline Story storyAlone(const Model &model, Asked asked) {
  Requests alone(model);
  asked.options.prefix = 0;
  uint64_t id = alone.add(asked);
  alone.run();
  return alone.stories[id];
}

} // namespace tfc::rt::test

#endif // TFC_TEST_RUNTIME_REQUESTS_H
