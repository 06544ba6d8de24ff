// What a server asks of the C API: loads that it follows, threads of its own,
// pauses, and handles that are freed in any order.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/FakeModel.h"

#include <atomic>
#include <cmath>

namespace tfc::rt::test {
namespace {

std::string text(tfc_error *error) {
  std::string message = tfc_error_message(error);
  tfc_error_free(error);
  return message;
}

/// Runs loops as two workers on one thread, and counts them.
struct Lender {
  std::atomic<int> numLoops{0};

  static void run(void *user, int64_t n, tfc_loop_fn body, void *arg) {
    ++static_cast<Lender *>(user)->numLoops;
    body(arg, n / 2, n, 1);
    body(arg, 0, n / 2, 0);
  }
};

class ServeCApi : public ::testing::Test {
protected:
  void SetUp() override {
    std::vector<NamedTensor> tensors = FakeWeights(5).stored();
    writeTensors(folder / "one.safetensors", {tensors[0]});
    writeTensors(folder / "two.safetensors",
                 {tensors.begin() + 1, tensors.end()});
    paths = {folder / "one.safetensors", folder / "two.safetensors"};
    pointers = {paths[0].c_str(), paths[1].c_str()};
    library = fakeLibrary("decoder");
    options.struct_size = sizeof(options);
    options.library_path = library.c_str();
    options.weights_paths = pointers.data();
    options.n_weights_paths = 2;
    request.struct_size = sizeof(request);
    request.tokens = prompt;
    request.n_tokens = 5;
    request.max_new_tokens = 6;
    request.own_eos = 1;
    result.struct_size = sizeof(result);
  }
  void TearDown() override {
    tfc_session_free(session);
    tfc_model_free(model);
  }

  /// The tokens of the next steps.
  std::vector<int64_t> step(int count) {
    std::vector<int64_t> tokens;
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(text(tfc_session_step(session, &result)), "");
      for (uint64_t t = 0; t < result.n_tokens; ++t) {
        tokens.push_back(result.tokens[t].token);
      }
    }
    return tokens;
  }

  Folder folder;
  std::string library;
  std::vector<std::string> paths;
  std::vector<const char *> pointers;
  int64_t prompt[5] = {7, 8, 9, 10, 11};
  tfc_model_options options{};
  tfc_request request{};
  tfc_step_result result{};
  tfc_model *model = nullptr;
  tfc_session *session = nullptr;
};

TEST_F(ServeCApi, LoadsAreFollowedAndEnded) {
  struct Ear {
    uint64_t done = 0, total = 0;
    int stops = 0;
  } ear;
  options.progress_user = &ear;
  options.progress = [](void *user, uint64_t done, uint64_t total) {
    auto &heard = *static_cast<Ear *>(user);
    heard.done = done;
    heard.total = total;
    return heard.stops;
  };
  EXPECT_EQ(text(tfc_model_load(&options, &model)), "");
  EXPECT_EQ(ear.done, ear.total);
  EXPECT_GT(ear.total, 0U);
  ear.stops = 1;
  tfc_model *other = nullptr;
  tfc_error *error = tfc_model_load(&options, &other);
  EXPECT_EQ(tfc_error_code(error), TFC_CANCELLED);
  EXPECT_EQ(text(error), "stopped by the caller (progress)");
  EXPECT_EQ(other, nullptr);
}

TEST_F(ServeCApi, LoadsRefuseWhatIsNotThere) {
  options.weights_paths = nullptr;
  EXPECT_EQ(text(tfc_model_load(&options, &model)),
            "expected arguments, got null");
  options.n_weights_paths = 0;
  EXPECT_EQ(text(tfc_model_load(&options, &model)),
            "expected arguments, got null");
  pointers[1] = nullptr;
  options.weights_paths = pointers.data();
  options.n_weights_paths = 2;
  EXPECT_EQ(text(tfc_model_load(&options, &model)),
            "expected arguments, got null");
  pointers[1] = paths[1].c_str();
  options.next = &options;
  EXPECT_EQ(text(tfc_model_load(&options, &model)),
            "next: expected null, got options of a newer runtime");
  options.next = nullptr;
  options.reserved3 = 1;
  EXPECT_EQ(text(tfc_model_load(&options, &model)),
            "reserved: expected 0, got 1");
  options.reserved3 = 0;
  options.parallel_for = Lender::run;
  EXPECT_EQ(text(tfc_model_load(&options, &model)),
            "expected threads beside parallel_for (how many workers it has), "
            "got 0");
}

TEST_F(ServeCApi, LoopsRunOnTheCallersThreads) {
  Lender lender;
  options.parallel_for = Lender::run;
  options.parallel_user = &lender;
  options.threads = 2;
  ASSERT_EQ(text(tfc_model_load(&options, &model)), "");
  tfc_model_info info{};
  info.struct_size = sizeof(info);
  EXPECT_EQ(text(tfc_model_get_info(model, &info)), "");
  EXPECT_EQ(info.threads, 2U);
  lender.numLoops = 0;
  ASSERT_EQ(text(tfc_session_create(model, nullptr, &session)), "");
  tfc_sequence_id id = 0;
  ASSERT_EQ(text(tfc_session_add(session, &request, &id)), "");
  EXPECT_EQ(step(6).size(), 6U);
  EXPECT_GT(lender.numLoops, 0);
  // A loop that is not run is no result, and the session goes on.
  ASSERT_EQ(text(tfc_session_add(session, &request, &id)), "");
  tfc_model *broken = nullptr;
  options.parallel_for = [](void *, int64_t, tfc_loop_fn, void *) {};
  tfc_error *error = tfc_model_load(&options, &broken);
  EXPECT_EQ(tfc_error_code(error), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(text(error).find("parallel_for: expected each of "), 0U);
}

TEST_F(ServeCApi, PausedSequencesGiveBackWhatTheyHave) {
  ASSERT_EQ(text(tfc_model_load(&options, &model)), "");
  tfc_session_options how{};
  how.struct_size = sizeof(how);
  how.next = &how;
  EXPECT_EQ(text(tfc_session_create(model, &how, &session)),
            "next: expected null, got options of a newer runtime");
  ASSERT_EQ(text(tfc_session_create(model, nullptr, &session)), "");
  tfc_sequence_id id = 0;
  ASSERT_EQ(text(tfc_session_add(session, &request, &id)), "");
  std::vector<int64_t> whole = step(6);
  ASSERT_EQ(text(tfc_session_add(session, &request, &id)), "");
  std::vector<int64_t> tokens = step(2);
  tfc_session_info info{};
  info.struct_size = sizeof(info);
  EXPECT_EQ(text(tfc_session_get_info(session, &info)), "");
  EXPECT_GT(info.cache_bytes, 0U);
  EXPECT_EQ(text(tfc_session_pause(session, id)), "");
  EXPECT_EQ(text(tfc_session_get_info(session, &info)), "");
  EXPECT_EQ(info.cache_bytes, 0U);
  EXPECT_EQ(info.n_sequences, 1U);
  EXPECT_EQ(info.n_paused, 1U);
  EXPECT_TRUE(step(2).empty());
  EXPECT_EQ(result.n_sequences, 1U);
  EXPECT_EQ(result.n_paused, 1U);
  EXPECT_EQ(text(tfc_session_resume(session, id)), "");
  std::vector<int64_t> rest = step(4);
  tokens.insert(tokens.end(), rest.begin(), rest.end());
  EXPECT_EQ(tokens, whole);
  EXPECT_EQ(result.n_paused, 0U);
  std::string unknown = concat("expected a sequence of the session, got ", id);
  EXPECT_EQ(text(tfc_session_pause(session, id)), unknown);
  EXPECT_EQ(text(tfc_session_resume(session, id)), unknown);
  EXPECT_EQ(text(tfc_session_pause(nullptr, id)),
            "expected arguments, got null");
  EXPECT_EQ(text(tfc_session_resume(nullptr, id)),
            "expected arguments, got null");
}

TEST_F(ServeCApi, RequestsShareWhatTheyHaveInCommon) {
  ASSERT_EQ(text(tfc_model_load(&options, &model)), "");
  ASSERT_EQ(text(tfc_session_create(model, nullptr, &session)), "");
  tfc_sequence_id id = 0, next = 0;
  request.n = 1025;
  EXPECT_EQ(text(tfc_session_add(session, &request, &id)),
            "n: expected at most 1024, got 1025");
  request.n = 2;
  request.keep = request.echo = 1;
  request.n_logprobs = 2;
  ASSERT_EQ(text(tfc_session_add(session, &request, &id)), "");
  EXPECT_EQ(step(1).size(), 2U);
  EXPECT_EQ(result.tokens[1].sequence, id + 1);
  EXPECT_EQ(result.n_sequences, 2U);
  ASSERT_EQ(result.n_prompts, 1U);
  EXPECT_EQ(result.prompts[0].sequence, id);
  EXPECT_EQ(result.prompts[0].first, 1);
  ASSERT_EQ(result.prompts[0].n, 4U);
  EXPECT_EQ(result.prompts[0].logprobs[3].n, 2U);
  EXPECT_LT(result.prompts[0].logprobs[3].chosen, 0);
  EXPECT_EQ(text(tfc_session_hold(session, id)), "");
  EXPECT_EQ(text(tfc_session_hold(nullptr, id)),
            "expected arguments, got null");
  EXPECT_EQ(step(1).size(), 1U);
  EXPECT_EQ(result.n_prompts, 0U);
  EXPECT_EQ(result.n_held, 1U);
  EXPECT_EQ(result.n_paused, 1U);
  tfc_session_info info{};
  info.struct_size = sizeof(info);
  EXPECT_EQ(text(tfc_session_get_info(session, &info)), "");
  EXPECT_EQ(info.n_held, 1U);
  EXPECT_EQ(text(tfc_session_resume(session, id)), "");
  step(6);
  EXPECT_EQ(text(tfc_session_get_info(session, &info)), "");
  EXPECT_EQ(info.n_sequences, 0U);
  EXPECT_EQ(info.n_kept, 2U);
  request.n = request.keep = request.echo = 0;
  request.prefix = id;
  ASSERT_EQ(text(tfc_session_add(session, &request, &next)), "");
  EXPECT_EQ(next, id + 2);
  EXPECT_EQ(step(6).size(), 6U);
  EXPECT_EQ(text(tfc_session_remove(session, id)), "");
  EXPECT_EQ(text(tfc_session_remove(session, id + 1)), "");
  EXPECT_EQ(text(tfc_session_get_info(session, &info)), "");
  EXPECT_EQ(info.cache_bytes, 0U);
}

TEST_F(ServeCApi, StepsSayWhoWaitsAndWhoFails) {
  ASSERT_EQ(text(tfc_model_load(&options, &model)), "");
  tfc_model_info of{};
  of.struct_size = sizeof(of);
  ASSERT_EQ(text(tfc_model_get_info(model, &of)), "");
  tfc_session_options how{};
  how.struct_size = sizeof(how);
  how.max_cache_bytes = 4 * 3 * of.cache_bytes_per_token;
  ASSERT_EQ(text(tfc_session_create(model, &how, &session)), "");
  tfc_sequence_id first = 0, second = 0;
  ASSERT_EQ(text(tfc_session_add(session, &request, &first)), "");
  ASSERT_EQ(text(tfc_session_add(session, &request, &second)), "");
  EXPECT_EQ(step(1).size(), 1U);
  ASSERT_EQ(result.n_waiting, 1U);
  EXPECT_EQ(result.waiting[0], second);
  EXPECT_EQ(result.n_sequences, 2U);
  std::vector<tfc_logit_bias> never;
  for (int64_t token = 0; token < vocab; ++token) {
    never.push_back({token, -INFINITY, 0});
  }
  request.logit_bias = never.data();
  request.n_logit_bias = never.size();
  ASSERT_EQ(text(tfc_session_remove(session, second)), "");
  ASSERT_EQ(text(tfc_session_remove(session, first)), "");
  ASSERT_EQ(text(tfc_session_add(session, &request, &first)), "");
  EXPECT_EQ(text(tfc_session_step(session, &result)), "");
  ASSERT_EQ(result.n_tokens, 1U);
  EXPECT_EQ(result.tokens[0].token, -1);
  EXPECT_EQ(result.tokens[0].state, TFC_FAILED);
  ASSERT_EQ(result.n_faults, 1U);
  EXPECT_EQ(result.faults[0].sequence, first);
  EXPECT_EQ(result.faults[0].reason, TFC_FAULT_NONE_ALLOWED);
  EXPECT_EQ(result.faults[0].code, TFC_INVALID_ARGUMENT);
  EXPECT_EQ(result.n_sequences, 0U);
}

TEST_F(ServeCApi, HandlesAreFreedInAnyOrder) {
  for (bool modelFirst : {true, false}) {
    ASSERT_EQ(text(tfc_model_load(&options, &model)), "");
    tfc_session *other = nullptr;
    ASSERT_EQ(text(tfc_session_create(model, nullptr, &session)), "");
    ASSERT_EQ(text(tfc_session_create(model, nullptr, &other)), "");
    tfc_sequence_id id = 0;
    ASSERT_EQ(text(tfc_session_add(session, &request, &id)), "");
    tfc_session_free(modelFirst ? nullptr : other);
    if (modelFirst) {
      tfc_model_free(model);
      model = nullptr;
    }
    EXPECT_EQ(step(6).size(), 6U);
    tfc_session_free(session);
    session = nullptr;
    tfc_session_free(modelFirst ? other : nullptr);
    tfc_model_free(model);
    model = nullptr;
  }
}

} // namespace
} // namespace tfc::rt::test
