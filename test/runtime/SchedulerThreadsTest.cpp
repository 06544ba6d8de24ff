// The scheduler with its thread: jobs from several threads at once, cancels,
// events that nobody takes for a while, an end in the middle of a step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/serve/Scheduler.h"
#include "test/runtime/Requests.h"
#include "tfc/scheduler.h"

#include <random>

namespace tfc::rt::test {
namespace {

constexpr uint64_t second = 1000000;

class SchedulerThreads : public ::testing::Test {
protected:
  std::unique_ptr<Scheduler> make(uint64_t maxQueueTokens = 1 << 20) {
    SchedulerOptions options;
    options.core.session.maxStepTokens = 5;
    options.maxQueueTokens = maxQueueTokens;
    auto made = Scheduler::create(model, options);
    EXPECT_TRUE(made) << messageOf(made);
    return std::move(*made);
  }
  Result<uint64_t> submit(Scheduler &to, const Asked &asked) {
    Asked given = asked;
    given.options.decoding = &given.decoding;
    auto prompt = to.session()->prepare(
        {given.prompt.data(), static_cast<int64_t>(given.prompt.size())}, {},
        given.count, given.options);
    EXPECT_TRUE(prompt) << messageOf(prompt);
    return to.submit({}, std::move(*prompt), given.options);
  }
  Asked ask(uint32_t number) const {
    Asked asked;
    asked.prompt = {1 + number % 5, 2, 3 + number % 3};
    asked.count = 3 + number % 6;
    asked.decoding = defaultDecoding(model->table());
    asked.decoding.do_sample = 1;
    asked.decoding.temperature = 3;
    asked.decoding.seed = number;
    asked.options.eos = Tokens();
    return asked;
  }

  std::shared_ptr<const Model> model = loadFake("endless", FakeWeights(5), 2);
};

/// Takes events until so many jobs have ended.
struct Taken {
  std::map<uint64_t, Tokens> tokens;
  std::map<uint64_t, uint32_t> finish;

  void take(Scheduler &from, size_t count) {
    for (int i = 0; finish.size() < count; ++i) {
      ASSERT_LT(i, 20000) << "nothing goes on";
      auto events = from.wait(second / 100);
      ASSERT_TRUE(events) << messageOf(events);
      for (uint64_t e = 0; e < events->n_events; ++e) {
        const tfc_job_event &event = events->events[e];
        if (event.kind == TFC_JOB_DONE) {
          finish[event.job] = event.finish;
        } else {
          tokens[event.job].insert(tokens[event.job].end(),
                                   events->tokens + event.first,
                                   events->tokens + event.first + event.count);
        }
      }
    }
  }
};

TEST_F(SchedulerThreads, JobsOfManyThreadsAreThoseOfEachAlone) {
  constexpr uint32_t numThreads = 4, numJobs = 30;
  auto scheduler = make();
  std::map<uint64_t, uint32_t> numbers; // of what was asked, by job
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < numThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < numJobs; ++i) {
        uint32_t number = t * numJobs + i;
        auto job = submit(*scheduler, ask(number));
        ASSERT_TRUE(job) << messageOf(job);
        if (number % 7 == 3) {
          (void)scheduler->cancel(*job); // it may have ended
        }
        (void)scheduler->stats();
        std::lock_guard<std::mutex> lock(mutex);
        numbers[*job] = number;
      }
    });
  }
  Taken taken;
  taken.take(*scheduler, numThreads * numJobs);
  for (std::thread &thread : threads) {
    thread.join();
  }
  for (const auto &[job, number] : numbers) {
    bool isCancelled = taken.finish[job] == TFC_FINISH_CANCELLED;
    EXPECT_TRUE(isCancelled ? number % 7 == 3
                            : taken.finish[job] == TFC_FINISH_LENGTH);
    Tokens alone = storyAlone(*model, ask(number)).tokens;
    if (isCancelled) {
      alone.resize(std::min(alone.size(), taken.tokens[job].size()));
    }
    EXPECT_EQ(taken.tokens[job], alone) << number;
  }
  EXPECT_EQ(scheduler->stats().n_jobs, 0U);
}

TEST_F(SchedulerThreads, EndsInTheMiddleOfAStep) {
  for (int i = 0; i < 20; ++i) {
    auto scheduler = make();
    for (uint32_t number = 0; number < 8; ++number) {
      ASSERT_TRUE(submit(*scheduler, ask(number)));
    }
  }
}

TEST_F(SchedulerThreads, RefusesWhatIsTooMuch) {
  auto scheduler = make(/*maxQueueTokens=*/4);
  Error why{Code::Internal, "nothing was refused"};
  for (uint32_t number = 0; number < 10000; ++number) {
    auto job = submit(*scheduler, ask(number));
    if (!job) {
      why = job.error();
      break;
    }
  }
  EXPECT_EQ(why.code, Code::Exhausted);
  EXPECT_NE(why.message.find("queue"), std::string::npos) << why.message;
}

TEST_F(SchedulerThreads, AMaskThatDoesNotComeIsWaitedForUntilTheDeadline) {
  auto scheduler = make();
  auto prompt =
      scheduler->session()->prepare({Tokens{1, 2, 3}.data(), 3}, {}, 4, {});
  ASSERT_TRUE(prompt) << messageOf(prompt);
  JobWishes wishes;
  wishes.isMasked = true;
  wishes.deadline = second / 20;
  auto job = scheduler->submit(wishes, std::move(*prompt), {});
  ASSERT_TRUE(job) << messageOf(job);
  ASSERT_TRUE(scheduler->setMask({*job, 0, 0, {1 << 7}}));
  Taken taken;
  taken.take(*scheduler, 1);
  EXPECT_EQ(taken.finish[*job], TFC_FINISH_EXPIRED);
  EXPECT_EQ(taken.tokens[*job], Tokens{7});
  EXPECT_LT(scheduler->stats().n_steps, 20U) << "it spins";
  EXPECT_FALSE(scheduler->setMask({*job, 0, 1, {1}}));
}

TEST_F(SchedulerThreads, DrainingLetsJobsEnd) {
  auto scheduler = make();
  for (uint32_t number = 0; number < 8; ++number) {
    ASSERT_TRUE(submit(*scheduler, ask(number)));
  }
  scheduler->drain(0);
  auto late = submit(*scheduler, ask(9));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::Cancelled);
  Taken taken;
  taken.take(*scheduler, 8);
  for (const auto &[job, finish] : taken.finish) {
    EXPECT_EQ(finish, TFC_FINISH_LENGTH) << job;
  }
}

TEST_F(SchedulerThreads, TextsOfManyThreadsAreThoseOfEachAlone) {
  auto encoder =
      std::shared_ptr<const Model>(loadFake("encoder", FakeWeights(5), 2));
  auto made = Scheduler::create(encoder, {});
  ASSERT_TRUE(made) << messageOf(made);
  Scheduler &scheduler = **made;
  std::vector<std::thread> threads;
  auto batchOf = [](uint32_t number) {
    TextBatch batch;
    batch.texts = {{1 + number % 9, 2}, {3, 4, 5 + number % 4}};
    return batch;
  };
  std::map<uint64_t, uint32_t> numbers;
  std::mutex mutex;
  for (uint32_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < 20; ++i) {
        std::lock_guard<std::mutex> lock(mutex);
        auto job = scheduler.submit({}, batchOf(t * 20 + i));
        ASSERT_TRUE(job) << messageOf(job);
        numbers[*job] = t * 20 + i;
      }
    });
  }
  Taken taken;
  taken.take(scheduler, 60);
  for (std::thread &thread : threads) {
    thread.join();
  }
  for (const auto &[job, number] : numbers) {
    auto got = scheduler.takeOutputs(job);
    ASSERT_TRUE(got) << messageOf(got);
    EXPECT_FALSE(scheduler.takeOutputs(job)) << "taken twice";
    EncodeJob alone;
    alone.batch = batchOf(number);
    ASSERT_TRUE(encodeNext(*encoder, {&alone}, 1000, {}));
    ASSERT_EQ(got->size(), alone.results.size());
    for (size_t i = 0; i < got->size(); ++i) {
      EXPECT_EQ((*got)[i].floats, alone.results[i].floats);
    }
  }
}

} // namespace
} // namespace tfc::rt::test
