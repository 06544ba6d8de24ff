// The scheduler's core without a thread, by a clock of the test's: each answer
// is, bit for bit, what it is alone, whoever else asks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/ModuleTables.h"
#include "runtime/src/serve/Core.h"
#include "test/runtime/Requests.h"

#include <array>
#include <cstdlib>
#include <limits>
#include <random>

namespace tfc::rt::test {
namespace {

struct Ending {
  uint32_t finish = 0;
  tfc_job_event event{};
  std::string message;
};

/// A core, and what came of its jobs.
class Served {
public:
  Served(const Model &model, const CoreOptions &options) {
    if (model.generateEntry()) {
      asks.emplace(model);
    }
    auto made = Core::create(model, options);
    EXPECT_TRUE(made) << messageOf(made);
    core = std::move(*made);
  }

  uint64_t add(const Asked &asked, JobTerms terms = {}) {
    Asked given = asked;
    given.options.decoding = &given.decoding;
    auto prompt = core->session()->prepare(
        {given.prompt.data(), static_cast<int64_t>(given.prompt.size())}, {},
        given.count, given.options);
    EXPECT_TRUE(prompt) << messageOf(prompt);
    terms.id = ++lastJob;
    terms.arrival = now;
    if (prompt) {
      core->add(terms, std::move(*prompt), given.options);
    }
    return terms.id;
  }
  uint64_t add(TextBatch texts) {
    JobTerms terms;
    terms.id = ++lastJob;
    terms.arrival = now;
    core->add(terms, std::move(texts));
    return terms.id;
  }

  void step() {
    EventList out;
    Status status = core->step([&] { return now; }, out);
    EXPECT_TRUE(status) << messageOf(status);
    take(out);
    now += 10;
  }
  void cancel(uint64_t job) {
    EventList out;
    core->cancel(job, out);
    take(out);
  }
  void run() {
    for (int i = 0; !core->isIdle(); ++i) {
      step();
      ASSERT_LT(i, 20000) << "nothing goes on";
    }
  }

  using Name = std::pair<uint64_t, uint32_t>; // job, index
  std::map<Name, Story> stories;
  std::map<Name, Ending> endings;
  std::vector<Name> order;      // of the ends
  std::optional<Requests> asks; // what is asked, of models that generate
  std::unique_ptr<Core> core;
  uint64_t now = 1000;

private:
  void take(EventList &out) {
    tfc_job_events list = out.list();
    for (uint64_t i = 0; i < list.n_events; ++i) {
      const tfc_job_event &event = list.events[i];
      Name name{event.job, event.index};
      EXPECT_EQ(endings.count(name), 0U) << "something behind the end";
      if (event.kind == TFC_JOB_DONE) {
        endings[name] = {event.finish, event,
                         event.message ? event.message : ""};
        order.push_back(name);
        continue;
      }
      for (uint64_t at = event.first; at < event.first + event.count; ++at) {
        takeToken(list, event, at);
      }
    }
  }
  void takeToken(const tfc_job_events &list, const tfc_job_event &event,
                 uint64_t at) {
    Story &story = stories[{event.job, event.index}];
    bool isToken = event.kind == TFC_JOB_TOKENS;
    if (isToken) {
      EXPECT_EQ(event.at, story.tokens.size());
      story.tokens.push_back(list.tokens[at]);
    }
    if (!list.logprobs || (isToken && list.logprobs[at].n == 0)) {
      return;
    }
    const tfc_logprobs &report = list.logprobs[at];
    std::vector<float> &to = isToken ? story.logprobs : story.echo;
    to.push_back(report.chosen);
    to.insert(to.end(), report.values, report.values + report.n);
    for (uint32_t i = 0; i < report.n; ++i) {
      to.push_back(static_cast<float>(report.tokens[i]));
    }
  }

  uint64_t lastJob = 0;
};

uint32_t stateOf(uint32_t finish) {
  return finish == TFC_FINISH_ENDED     ? TFC_ENDED
         : finish == TFC_FINISH_LENGTH  ? TFC_LENGTH_REACHED
         : finish == TFC_FINISH_STOPPED ? TFC_STOPPED
                                        : TFC_FAILED;
}

uint64_t blockBytes(const Model &model) {
  return cacheOf(*model.generateEntry(), TFC_CACHE_SELF).block_bytes;
}

/// Whether it ended by itself, as it would alone.
bool isWhole(const Ending &ending) {
  return stateOf(ending.finish) != TFC_FAILED;
}

Asked answerOf(const Asked &asked, uint32_t index) {
  Asked one = asked;
  one.options.numAnswers = 1;
  one.options.index += index;
  one.options.echoes = asked.options.echoes && index == 0;
  return one;
}

/// Mixed traffic, drawn from a seed.
class Mix {
public:
  Mix(const Model &model, uint32_t seed, const CoreOptions &options)
      : model(model), random(seed), served(model, options) {}

  void run(int numSteps) {
    for (int i = 0; i < numSteps; ++i) {
      for (uint32_t n = random() % 3; n > 0; --n) {
        ask();
      }
      if (random() % 8 == 0 && !wanted.empty()) {
        served.cancel(1 + random() % wanted.size());
      }
      served.step();
    }
    served.run();
    CacheBytes cache = served.core->session()->cacheBytes();
    EXPECT_EQ(cache.used, served.core->session()->keptBytes());
  }

  /// Against each alone; returns how many there were.
  int check() {
    int numChecked = 0;
    for (const auto &[job, asked] : wanted) {
      for (uint32_t i = 0; i < asked.options.numAnswers; ++i) {
        auto ended = served.endings.find({job, i});
        if (ended == served.endings.end()) {
          ADD_FAILURE() << "no end of " << job;
          continue;
        }
        numFailed += ended->second.finish == TFC_FINISH_FAILED;
        if (!isWhole(ended->second)) {
          continue;
        }
        Story story = served.stories[{job, i}];
        story.state = stateOf(ended->second.finish);
        EXPECT_EQ(story, storyAlone(model, answerOf(asked, i)))
            << "job " << job << ", answer " << i;
        ++numChecked;
      }
    }
    return numChecked;
  }

  Served &all() { return served; }
  int numFailed = 0;

private:
  void ask() {
    // Tiled from few pieces, so that the same is behind many beginnings.
    Tokens prompt;
    for (uint32_t n = 1 + random() % 3; n > 0; --n) {
      int64_t piece = 1 + random() % 3;
      prompt.insert(prompt.end(), {piece, piece + 5, piece + 9});
    }
    prompt.resize(prompt.size() - random() % 3);
    Asked asked = served.asks->ask(prompt, 1 + random() % 6);
    asked.decoding.do_sample = random() % 4 != 0;
    asked.decoding.seed = random() % 3;
    asked.decoding.frequency_penalty =
        std::array<double, 3>{0, 0.75, -4}[random() % 3]; // the last repeats
    asked.options.numLogProbabilities = random() % 3;
    asked.options.echoes = random() % 6 == 0;
    asked.options.index = random() % 3;
    asked.options.numAnswers = random() % 3 == 0 ? 1 + random() % 4 : 1;
    asked.options.stops = {{1, 6}, {int64_t(random() % vocab)}};
    JobTerms terms;
    terms.priority = static_cast<int32_t>(random() % 3) - 1;
    terms.salt = random() % 2;
    terms.deadline = random() % 16 == 0 ? served.now + random() % 100 + 1 : 0;
    wanted[served.add(asked, terms)] = asked;
  }

  const Model &model;
  std::mt19937 random;
  Served served;
  std::map<uint64_t, Asked> wanted;
};

class Scheduling : public ::testing::TestWithParam<const char *> {};

TEST_P(Scheduling, AnswersAreThoseOfEachJobAlone) {
  auto model = loadFake(GetParam(), FakeWeights(5), 2);
  const char *given = std::getenv("TFC_SEED");
  uint32_t first =
      given ? static_cast<uint32_t>(std::strtoul(given, nullptr, 10)) * 12 : 0;
  int numChecked = 0;
  tfc_scheduler_stats sum{};
  for (uint32_t seed = first; seed < first + 12; ++seed) {
    SCOPED_TRACE(seed);
    CoreOptions options;
    options.session.maxStepTokens =
        std::array<int64_t, 4>{0, 2, 3, 9}[seed % 4];
    options.session.engine.maxCacheBytes =
        std::array<uint64_t, 3>{9, 20, 400}[seed % 3] * blockBytes(*model);
    options.remembers = seed % 6 != 5;
    options.session.maxDrafts = std::array<int64_t, 3>{8, 2, 0}[seed % 3];
    Mix mix(*model, seed, options);
    mix.run(40);
    numChecked += mix.check();
    tfc_scheduler_stats stats = mix.all().core->stats();
    sum.n_preemptions += stats.n_preemptions;
    sum.n_evictions += stats.n_evictions;
    sum.cached_tokens += stats.cached_tokens;
    sum.drafted_tokens += stats.drafted_tokens;
    sum.accepted_tokens += stats.accepted_tokens;
    EXPECT_EQ(mix.numFailed, 0) << "each fits alone";
    EXPECT_EQ(stats.n_waiting + stats.n_running, 0U);
    if (HasFailure()) {
      break;
    }
  }
  EXPECT_GT(numChecked, 300);
  EXPECT_GT(sum.n_preemptions, 0U);
  EXPECT_GT(sum.n_evictions, 0U);
  EXPECT_GT(sum.cached_tokens, 0U);
  // Of what others draw few tokens may be guessed, and those rightly.
  EXPECT_GE(sum.drafted_tokens, sum.accepted_tokens);
  if (!given) {
    EXPECT_GT(sum.accepted_tokens, 0U);
    EXPECT_GT(sum.drafted_tokens, sum.accepted_tokens);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Scheduling,
                         ::testing::Values("endless", "window", "decoder",
                                           "translator"));

class SchedulerCore : public ::testing::Test {
protected:
  std::unique_ptr<Model> model = loadFake("endless", FakeWeights(5), 2);
  CoreOptions options;
};

TEST_F(SchedulerCore, GreaterPrioritiesGoFirst) {
  options.session.engine.maxCacheBytes = 9 * blockBytes(*model);
  Served served(*model, options);
  JobTerms low, high;
  low.priority = -1;
  high.priority = 5;
  Tokens prompt = {1, 2, 3, 4, 5, 6};
  uint64_t first = served.add(served.asks->ask(prompt, 8), low);
  uint64_t second = served.add(served.asks->ask({2, 3, 4, 5, 6, 7}, 8), low);
  served.step();
  uint64_t third = served.add(served.asks->ask({3, 4, 5, 6, 7, 8}, 8), high);
  uint64_t fourth = served.add(served.asks->ask({4, 5, 6, 7, 8, 9}, 8), high);
  served.run();
  ASSERT_EQ(served.order.size(), 4U);
  std::vector<uint64_t> order;
  for (auto &[job, index] : served.order) {
    order.push_back(job);
  }
  auto place = [&](uint64_t job) {
    return std::find(order.begin(), order.end(), job) - order.begin();
  };
  EXPECT_LT(place(third), place(second));
  EXPECT_LT(place(fourth), place(second));
  EXPECT_LT(place(first), place(second)) << "the older of equals";
}

TEST_F(SchedulerCore, TheFirstInOrderIsNeverPreempted) {
  options.session.engine.maxCacheBytes = 9 * blockBytes(*model);
  Served served(*model, options);
  for (int64_t i = 0; i < 6; ++i) {
    served.add(served.asks->ask({i + 1, 2, 3, 4}, 10));
  }
  served.run();
  EXPECT_GT(served.core->stats().n_preemptions, 0U);
  EXPECT_EQ((served.endings[{1, 0}].event.preemptions), 0U);
}

TEST_F(SchedulerCore, DeadlinesEndJobs) {
  options.session.engine.maxCacheBytes = 9 * blockBytes(*model);
  options.session.maxStepTokens = 4;
  Served served(*model, options);
  uint64_t runs = served.add(served.asks->ask({1, 2, 3, 4}, 10));
  JobTerms soon;
  soon.queueDeadline = served.now + 15;
  JobTerms later;
  later.deadline = served.now + 45;
  uint64_t never = served.add(served.asks->ask({5, 6, 7, 8}, 10), soon);
  uint64_t half = served.add(served.asks->ask({2, 3}, 10), later);
  soon.queueDeadline = served.now + 1;
  soon.priority = 9;
  uint64_t begins = served.add(served.asks->ask({9, 8, 7}, 3), soon);
  served.run();
  EXPECT_EQ((served.endings[{runs, 0}].finish), TFC_FINISH_LENGTH);
  EXPECT_EQ((served.endings[{never, 0}].finish), TFC_FINISH_EXPIRED);
  EXPECT_EQ((served.endings[{never, 0}].event.new_tokens), 0U);
  EXPECT_EQ((served.endings[{half, 0}].finish), TFC_FINISH_EXPIRED);
  EXPECT_EQ((served.endings[{begins, 0}].finish), TFC_FINISH_LENGTH)
      << "it had begun";
}

TEST_F(SchedulerCore, CancelsEndAllAnswers) {
  Served served(*model, options);
  Asked asked = served.asks->ask({1, 2, 3}, 10);
  asked.options.numAnswers = 3;
  uint64_t job = served.add(asked);
  uint64_t other = served.add(served.asks->ask({1, 2, 3}, 10));
  served.step();
  served.step();
  served.cancel(job);
  served.cancel(job);
  EXPECT_EQ(served.order.size(), 3U);
  served.run();
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ((served.endings[{job, i}].finish), TFC_FINISH_CANCELLED);
  }
  EXPECT_EQ((served.endings[{other, 0}].finish), TFC_FINISH_LENGTH);
}

/// Tokens that leave `rest` when divided by 3, as a mask, and as biases that
/// forbid the others.
std::vector<uint32_t> everyThird(uint64_t rest) {
  std::vector<uint32_t> bits(vocab / 32 + 1);
  for (uint64_t token = rest % 3; token < uint64_t(vocab); token += 3) {
    bits[token / 32] |= uint32_t(1) << token % 32;
  }
  return bits;
}
void forbidOthers(Asked &asked, uint64_t rest) {
  for (int64_t token = 0; token < vocab; ++token) {
    if (uint64_t(token) % 3 != rest % 3) {
      asked.options.bias.emplace_back(token,
                                      -std::numeric_limits<float>::infinity());
    }
  }
}

/// What a token of an answer leaves when divided by 3: of some jobs always the
/// same, of others another at each position.
uint64_t restOf(uint64_t job, uint32_t index, uint64_t position) {
  return job + index + (job % 4 == 1 ? position : 0);
}

/// A masked job of one answer when nothing else is there.
Story maskedAlone(const Model &model, const Asked &asked, uint64_t job,
                  uint32_t index) {
  Served alone(model, {});
  JobTerms terms;
  terms.isMasked = true;
  uint64_t id = alone.add(asked, terms);
  while (!alone.core->isIdle()) {
    uint64_t position = alone.stories[{id, 0}].tokens.size();
    alone.core->setMask(
        {id, 0, position, everyThird(restOf(job, index, position))});
    alone.step();
  }
  Story story = alone.stories[{id, 0}];
  story.state = stateOf((alone.endings[{id, 0}].finish));
  return story;
}

TEST_F(SchedulerCore, MasksSayWhichTokensMayCome) {
  options.session.engine.maxCacheBytes = 9 * blockBytes(*model);
  options.session.maxStepTokens = 3;
  Served served(*model, options);
  std::mt19937 random(3);
  std::map<uint64_t, Asked> wanted;
  for (int64_t i = 0; i < 9; ++i) {
    Asked asked = served.asks->ask({i % 2, 2, 3, 4, i}, 7);
    asked.options.numAnswers = 1 + static_cast<uint32_t>(i) % 3;
    asked.options.numLogProbabilities = 2;
    asked.decoding.repetition_penalty = 1.5;
    JobTerms terms;
    terms.isMasked = i % 2 == 0;
    terms.priority = static_cast<int32_t>(i) / 3;
    wanted[served.add(asked, terms)] = asked;
  }
  for (int i = 0; !served.core->isIdle(); ++i) {
    ASSERT_LT(i, 20000) << "nothing goes on";
    for (const auto &[job, asked] : wanted) {
      for (uint32_t n = 0; n < asked.options.numAnswers; ++n) {
        uint64_t position = served.stories[{job, n}].tokens.size();
        served.core->setMask({job, n, position + 1, {0}}); // passed over
        if (random() % 3 == 0) {
          served.core->setMask(
              {job, n, position, everyThird(restOf(job, n, position))});
          served.core->setMask({job, n, position, {0}}); // it has one
        }
      }
    }
    served.step();
  }
  EXPECT_GT(served.core->stats().n_preemptions, 0U);
  for (const auto &[job, asked] : wanted) {
    for (uint32_t n = 0; n < asked.options.numAnswers; ++n) {
      Asked one = answerOf(asked, n);
      Story story = served.stories[{job, n}];
      story.state = stateOf((served.endings[{job, n}].finish));
      if (job % 2 == 1) {
        EXPECT_EQ(story, maskedAlone(*model, one, job, n)) << "job " << job;
        forbidOthers(one, job + n);
      }
      if (job % 4 != 1) {
        EXPECT_EQ(story, storyAlone(*model, one)) << "job " << job;
      }
    }
  }
}

TEST_F(SchedulerCore, AMaskThatAllowsNothingIsItsOwnJobsFault) {
  Served served(*model, options);
  JobTerms masked;
  masked.isMasked = true;
  uint64_t none = served.add(served.asks->ask({1, 2, 3}, 4), masked);
  uint64_t late = served.add(served.asks->ask({1, 2, 3}, 4), masked);
  uint64_t other = served.add(served.asks->ask({1, 2, 3}, 4));
  served.core->setMask({none, 0, 0, {0}});
  served.core->setMask({late, 0, 0, everyThird(0)});
  for (int i = 0; i < 20; ++i) {
    served.step();
  }
  EXPECT_EQ((served.endings[{none, 0}].finish), TFC_FINISH_FAILED);
  EXPECT_EQ((served.endings[{other, 0}].finish), TFC_FINISH_LENGTH);
  EXPECT_EQ((served.stories[{late, 0}].tokens.size()), 1U);
  EXPECT_TRUE(served.core->waitsForMasks());
  uint64_t numSteps = served.core->stats().n_steps;
  served.step();
  EXPECT_EQ(served.core->stats().n_steps, numSteps);
  served.cancel(late);
  EXPECT_TRUE(served.core->isIdle());
}

TEST_F(SchedulerCore, RemembersForTheSameSaltOnly) {
  Served served(*model, options);
  auto block =
      static_cast<uint64_t>(served.core->session()->cache().blockTokens());
  Asked asked = served.asks->ask({1, 2, 3, 4, 5, 6, 7, 8}, 2);
  auto cachedWith = [&](uint64_t salt) {
    JobTerms terms;
    terms.salt = salt;
    uint64_t job = served.add(asked, terms);
    served.run();
    return served.endings[{job, 0}].event.cached_tokens;
  };
  EXPECT_EQ(cachedWith(1), 0U);
  EXPECT_GE(cachedWith(1), 8 / block * block - 1);
  EXPECT_EQ(cachedWith(2), 0U) << "another tenant's";
  EXPECT_GT(cachedWith(2), 0U);
  tfc_scheduler_stats stats = served.core->stats();
  EXPECT_GT(stats.remembered_bytes, 0U);
  EXPECT_EQ(stats.cache_bytes, 0U);
}

TEST_F(SchedulerCore, AFaultIsItsOwnJobs) {
  Served served(*model, options);
  Asked none = served.asks->ask({1, 2, 3}, 4);
  for (int64_t token = 0; token < vocab; ++token) {
    none.options.bias.emplace_back(token, -INFINITY);
  }
  uint64_t job = served.add(none);
  uint64_t other = served.add(served.asks->ask({1, 2, 3}, 4));
  served.run();
  EXPECT_EQ((served.endings[{job, 0}].finish), TFC_FINISH_FAILED);
  EXPECT_EQ((served.endings[{job, 0}].event.code), TFC_INVALID_ARGUMENT);
  EXPECT_NE((served.endings[{job, 0}].message.find("forbidden")),
            std::string::npos);
  EXPECT_EQ((served.endings[{other, 0}].finish), TFC_FINISH_LENGTH);
}

TEST(SchedulerTexts, AreThoseOfEachAlone) {
  auto model = loadFake("encoder", FakeWeights(5), 2);
  for (uint64_t budget : {1, 5, 1000}) {
    CoreOptions options;
    options.maxBatchTokens = budget;
    Served served(*model, options);
    std::mt19937 random(3);
    std::map<uint64_t, TextBatch> wanted;
    for (int job = 0; job < 12; ++job) {
      TextBatch batch;
      for (uint32_t n = 1 + random() % 4; n > 0; --n) {
        std::vector<int64_t> text(1 + random() % 7);
        for (int64_t &token : text) {
          token = random() % vocab;
        }
        batch.texts.push_back(text);
        if (job % 3 == 0) {
          batch.types.emplace_back(text.size(), 1);
        }
      }
      ASSERT_TRUE(checkTexts(*model, batch));
      wanted[served.add(batch)] = batch;
    }
    served.run();
    for (auto &[job, batch] : wanted) {
      EncodeJob alone;
      alone.batch = batch;
      ASSERT_TRUE(encodeNext(*model, {&alone}, 1000, {}));
      const auto &got = served.core->encoded[job];
      ASSERT_EQ(got.size(), alone.results.size());
      ASSERT_FALSE(got.empty());
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].shape, alone.results[i].shape);
        EXPECT_EQ(got[i].floats, alone.results[i].floats) << got[i].name;
      }
    }
    EXPECT_EQ(served.core->stats().n_finished[TFC_FINISH_ENCODED], 12U);
    if (budget == 1000) {
      EXPECT_LT(served.core->stats().n_encodes, 5U) << "they go together";
    }
  }
}

} // namespace
} // namespace tfc::rt::test
