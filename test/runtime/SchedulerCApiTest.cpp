// The scheduler's C API: what it refuses by name, and a loop of the caller's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/FakeModel.h"
#include "tfc/scheduler.h"

namespace tfc::rt::test {
namespace {

class SchedulerCApi : public ::testing::Test {
protected:
  void SetUp() override {
    writeTensors(folder / "model.safetensors", FakeWeights(5).stored());
    library = fakeLibrary("decoder");
    weights = folder.path.string();
    tfc_model_options load{};
    load.struct_size = sizeof(load);
    load.library_path = library.c_str();
    load.weights_path = weights.c_str();
    ASSERT_EQ(tfc_model_load(&load, &model), nullptr);
    options.struct_size = sizeof(options);
    options.no_thread = 1;
    request.struct_size = sizeof(request);
    request.tokens = prompt;
    request.n_tokens = 3;
    request.max_new_tokens = 4;
    request.own_eos = 1;
    job.struct_size = sizeof(job);
    job.request = &request;
    texts.struct_size = sizeof(texts);
    texts.texts = &text;
    texts.n_texts = 1;
    events.struct_size = sizeof(events);
  }
  void TearDown() override {
    tfc_scheduler_free(scheduler);
    tfc_model_free(model);
  }
  void create() {
    ASSERT_EQ(tfc_scheduler_create(model, &options, &scheduler), nullptr);
    tfc_model_free(model); // it lives as long as the scheduler
    model = nullptr;
  }

  /// What is wrong, and that it is the caller's fault.
  static std::string fault(tfc_error *error,
                           tfc_code code = TFC_INVALID_ARGUMENT) {
    std::string message = tfc_error_message(error);
    EXPECT_EQ(error ? tfc_error_code(error) : 0, code) << message;
    tfc_error_free(error);
    return message;
  }
  static void expectPart(const std::string &message, const char *part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }

  Folder folder;
  std::string library, weights;
  int64_t prompt[3] = {7, 8, 9};
  tfc_token_list text{prompt, 3};
  tfc_model *model = nullptr;
  tfc_scheduler_options options{};
  tfc_request request{};
  tfc_job_options job{};
  tfc_encode_job texts{};
  tfc_job_events events{};
  tfc_scheduler *scheduler = nullptr;
  tfc_job number = 0;
};

TEST_F(SchedulerCApi, CountsGuessesOfCallersWhoKnowThem) {
  tfc_decoding_options decoding{};
  decoding.struct_size = sizeof(decoding);
  ASSERT_EQ(tfc_decoding_init(model, &decoding), nullptr);
  decoding.frequency_penalty = -8; // the same again and again
  request.decoding = &decoding;
  request.max_new_tokens = 12;
  options.max_drafts = 5;
  tfc_scheduler_options older = options;
  older.struct_size = offsetof(tfc_scheduler_options, max_drafts);
  for (const tfc_scheduler_options &given : {options, older}) {
    tfc_scheduler *made = nullptr;
    ASSERT_EQ(tfc_scheduler_create(model, &given, &made), nullptr);
    ASSERT_EQ(tfc_scheduler_submit(made, &job, &number), nullptr);
    tfc_scheduler_stats stats{};
    stats.struct_size = sizeof(stats);
    for (uint64_t now = 0; now < 20; ++now) {
      ASSERT_EQ(tfc_scheduler_run(made, now, &events), nullptr);
    }
    EXPECT_EQ(tfc_scheduler_get_stats(made, &stats), nullptr);
    EXPECT_EQ(stats.new_tokens, 12U);
    bool isAsked = given.struct_size == sizeof(options);
    EXPECT_EQ(stats.accepted_tokens != 0, isAsked);
    EXPECT_EQ(stats.n_steps < 12, isAsked);
    EXPECT_GE(stats.drafted_tokens, stats.accepted_tokens);
    tfc_scheduler_free(made);
  }
}

TEST_F(SchedulerCApi, RunsInALoopOfTheCallers) {
  create();
  ASSERT_EQ(tfc_scheduler_submit(scheduler, &job, &number), nullptr);
  std::vector<int64_t> tokens;
  bool isDone = false;
  for (uint64_t now = 0; !isDone && now < 100; ++now) {
    ASSERT_EQ(tfc_scheduler_run(scheduler, now, &events), nullptr);
    for (uint64_t i = 0; i < events.n_events; ++i) {
      EXPECT_EQ(events.events[i].job, number);
      isDone = events.events[i].kind == TFC_JOB_DONE;
    }
    tokens.insert(tokens.end(), events.tokens, events.tokens + events.n_tokens);
  }
  EXPECT_TRUE(isDone);
  EXPECT_EQ(tokens.size(), 4U);
  tfc_scheduler_stats stats{};
  stats.struct_size = sizeof(stats);
  ASSERT_EQ(tfc_scheduler_get_stats(scheduler, &stats), nullptr);
  EXPECT_EQ(stats.n_finished[TFC_FINISH_LENGTH], 1U);
  EXPECT_EQ(stats.new_tokens, 4U);
  expectPart(fault(tfc_scheduler_cancel(scheduler, number), TFC_NOT_FOUND),
             "has not ended");
  expectPart(fault(tfc_scheduler_wait(scheduler, 0, &events)), "thread");
}

TEST_F(SchedulerCApi, RefusesOptionsByName) {
  options.no_thread = 2;
  expectPart(fault(tfc_scheduler_create(model, &options, &scheduler)),
             "no_thread");
  options.no_thread = 0;
  options.no_prefix_cache = 7;
  expectPart(fault(tfc_scheduler_create(model, &options, &scheduler)),
             "no_prefix_cache");
  options.no_prefix_cache = 0;
  options.struct_size = 1;
  expectPart(fault(tfc_scheduler_create(model, &options, &scheduler)),
             "tfc_scheduler_options");
  fault(tfc_scheduler_create(nullptr, nullptr, &scheduler));
  fault(tfc_scheduler_create(model, nullptr, nullptr));
  tfc_scheduler_free(nullptr);
}

TEST_F(SchedulerCApi, RefusesJobsByName) {
  create();
  fault(tfc_scheduler_submit(nullptr, &job, &number));
  fault(tfc_scheduler_submit(scheduler, &job, nullptr));
  job.priority = 1001;
  expectPart(fault(tfc_scheduler_submit(scheduler, &job, &number)), "priority");
  job.priority = 0;
  job.needs_mask = 2;
  expectPart(fault(tfc_scheduler_submit(scheduler, &job, &number)),
             "needs_mask");
  job.needs_mask = 0;
  request.keep = 1;
  expectPart(fault(tfc_scheduler_submit(scheduler, &job, &number)), "keep");
  request.keep = 0;
  request.n_tokens = -1;
  fault(tfc_scheduler_submit(scheduler, &job, &number));
  job.request = nullptr;
  fault(tfc_scheduler_submit(scheduler, &job, &number));
}

TEST_F(SchedulerCApi, TakesMasksOfItsJobs) {
  create();
  job.needs_mask = 1;
  ASSERT_EQ(tfc_scheduler_submit(scheduler, &job, &number), nullptr);
  uint32_t bits[9999] = {1 << 5}; // more than there are tokens
  std::vector<int64_t> tokens;
  for (uint64_t now = 0; now < 40; ++now) {
    ASSERT_EQ(tfc_scheduler_run(scheduler, now, &events), nullptr);
    for (uint64_t i = 0; i < events.n_tokens; ++i) {
      tokens.push_back(events.tokens[i]);
    }
    if (tokens.size() == static_cast<uint64_t>(request.max_new_tokens)) {
      break;
    }
    ASSERT_EQ(
        tfc_scheduler_set_mask(scheduler, number, 0, tokens.size(), bits, 9999),
        nullptr);
  }
  EXPECT_EQ(tokens, (std::vector<int64_t>{5, 5, 5, 5}));
  fault(tfc_scheduler_set_mask(scheduler, number, 0, 4, bits, 1),
        TFC_NOT_FOUND);
  expectPart(fault(tfc_scheduler_set_mask(scheduler, number, 0, 0, bits, 0)),
             "n_words");
  fault(tfc_scheduler_set_mask(scheduler, number, 0, 0, nullptr, 1));
  fault(tfc_scheduler_set_mask(nullptr, number, 0, 0, bits, 1));
}

TEST_F(SchedulerCApi, RefusesTextsByName) {
  create();
  const char *wrong = "no_such";
  texts.outputs = &wrong;
  texts.n_outputs = 1;
  expectPart(fault(tfc_scheduler_submit_encode(scheduler, &texts, &number)),
             "no_such");
  wrong = nullptr;
  fault(tfc_scheduler_submit_encode(scheduler, &texts, &number));
  texts.n_outputs = 0;
  text.n_tokens = 0;
  expectPart(fault(tfc_scheduler_submit_encode(scheduler, &texts, &number)),
             "at least 1 token");
  text = {prompt, 3};
  prompt[1] = vocab;
  expectPart(fault(tfc_scheduler_submit_encode(scheduler, &texts, &number)),
             "input_ids");
  texts.n_texts = 0;
  expectPart(fault(tfc_scheduler_submit_encode(scheduler, &texts, &number)),
             "at least 1");
  tfc_outputs *outputs = nullptr;
  fault(tfc_scheduler_take_outputs(scheduler, 5, &outputs), TFC_NOT_FOUND);
}

} // namespace
} // namespace tfc::rt::test
