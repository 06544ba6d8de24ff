// Callbacks that do not return: what C++ throws is an error of the caller, and
// the thread may end; nothing of the session is lost.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/FakeModel.h"

#include <pthread.h>

namespace tfc::rt::test {
namespace {

enum class Leaves { Not, ByException, ByNumber, ByEndOfThread, ByCancellation };

class CallerFaults : public ::testing::Test {
protected:
  void SetUp() override {
    writeTensors(folder / "model.safetensors", FakeWeights(5).stored());
    weights = folder.path.string();
    library = fakeLibrary("tapped_decoder");
    load.struct_size = sizeof(load);
    load.library_path = library.c_str();
    load.weights_path = weights.c_str();
    load.threads = 2;
    load.tap_user = load.progress_user = load.parallel_user = this;
    load.tap = [](void *user, const char *, int64_t, int64_t, int64_t,
                  const float *) { at(user, "tap"); };
    load.progress = [](void *user, uint64_t, uint64_t) {
      at(user, "progress");
      return 0;
    };
    load.parallel_for = [](void *user, int64_t n, tfc_loop_fn body, void *arg) {
      at(user, "parallel_for");
      body(arg, 0, n, 0);
    };
    ASSERT_EQ(text(tfc_model_load(&load, &model)), "");
    tfc_session_options options{};
    options.struct_size = sizeof(options);
    options.stop_user = options.logits_user = this;
    options.should_stop = [](void *user) {
      at(user, "should_stop");
      return 0;
    };
    options.on_logits = [](void *user, uint64_t, float *, int64_t) {
      at(user, "on_logits");
    };
    ASSERT_EQ(text(tfc_session_create(model, &options, &session)), "");
    generate.struct_size = sizeof(generate);
    generate.inputs = &input;
    generate.n_inputs = 1;
    generate.max_new_tokens = 4;
    generate.own_eos = 1;
    generate.should_stop = options.should_stop;
    generate.stop_user = this;
  }
  void TearDown() override {
    tfc_session_free(session);
    tfc_model_free(model);
  }

  static std::string text(tfc_error *error) {
    std::string message = tfc_error_message(error);
    EXPECT_TRUE(!error || tfc_error_code(error) == TFC_INVALID_ARGUMENT)
        << tfc_error_code(error) << " " << message;
    tfc_error_free(error);
    return message;
  }

  static void at(void *user, const std::string &callback) {
    auto &self = *static_cast<CallerFaults *>(user);
    // Not the first time: in the middle of the call.
    if (self.leaver != callback || self.numUntil-- > 0) {
      return;
    }
    switch (self.way) {
    case Leaves::ByException:
      throw std::runtime_error("no reason");
    case Leaves::ByNumber:
      throw 7;
    case Leaves::ByEndOfThread:
      pthread_exit(nullptr);
    case Leaves::ByCancellation:
      pthread_cancel(pthread_self());
      pthread_testcancel();
      return;
    case Leaves::Not:
      return;
    }
  }

  void leave(const std::string &callback, Leaves how, int after = 1) {
    leaver = callback;
    way = how;
    numUntil = after;
  }

  tfc_error *add() {
    tfc_request request{};
    request.struct_size = sizeof(request);
    request.tokens = prompt;
    request.n_tokens = 5;
    request.max_new_tokens = 4;
    request.own_eos = 1;
    tfc_sequence_id id = 0;
    return tfc_session_add(session, &request, &id);
  }

  /// A step's error; its tokens are kept.
  std::string step() {
    tfc_step_result result{};
    result.struct_size = sizeof(result);
    std::string error = text(tfc_session_step(session, &result));
    for (uint64_t i = 0; i < result.n_tokens; ++i) {
      tokens.push_back(result.tokens[i].token);
    }
    return error;
  }

  std::string runGenerate() {
    return text(tfc_generate(
        model, &generate,
        [](void *user, int64_t, int64_t, int) {
          at(user, "on_token");
          return 0;
        },
        this, nullptr));
  }

  Folder folder;
  std::string weights, library, leaver;
  Leaves way = Leaves::Not;
  int numUntil = 0;
  tfc_model_options load{};
  tfc_model *model = nullptr;
  tfc_session *session = nullptr;
  int64_t prompt[5] = {7, 8, 9, 10, 11};
  tfc_tensor input{"input_ids", TFC_I64, 2, {1, 5, 0}, prompt};
  tfc_generate_options generate{};
  std::vector<int64_t> tokens;
};

TEST_F(CallerFaults, ThatAreThrownAreErrorsWithTheirText) {
  // Two: a loop with a single item is not lent.
  auto addBoth = [&] {
    ASSERT_EQ(text(add()), "");
    ASSERT_EQ(text(add()), "");
  };
  addBoth();
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(step(), "");
  }
  std::vector<int64_t> whole = tokens;
  tokens.clear();
  addBoth();
  for (const char *name : {"on_logits", "should_stop", "tap", "parallel_for",
                           "on_token", "progress"}) {
    for (Leaves how : {Leaves::ByException, Leaves::ByNumber}) {
      std::string expected =
          concat(name, ": expected a function that returns, got an exception",
                 how == Leaves::ByNumber ? " that is no std::exception"
                                         : ": no reason");
      leave(name, how);
      if (name == std::string("progress")) {
        tfc_model *other = nullptr;
        EXPECT_EQ(text(tfc_model_load(&load, &other)), expected);
      } else {
        EXPECT_EQ(runGenerate(),
                  name == std::string("on_logits") ? "" : expected);
      }
      if (name != std::string("progress") && name != std::string("on_token")) {
        leave(name, how, 0);
        EXPECT_EQ(step(), expected) << "nothing has happened";
      }
      leave("", Leaves::Not);
    }
    if (tokens.size() < whole.size()) {
      EXPECT_EQ(step(), "");
    }
  }
  EXPECT_EQ(tokens, whole);
}

/// Runs a method on a thread that may end in it.
template <typename F> bool returnsOnItsThread(F function) {
  struct Call {
    F function;
    bool hasReturned = false;
  } call{function};
  pthread_t thread;
  EXPECT_EQ(pthread_create(
                &thread, nullptr,
                [](void *arg) -> void * {
                  auto &self = *static_cast<Call *>(arg);
                  self.function();
                  self.hasReturned = true;
                  return nullptr;
                },
                &call),
            0);
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
  return call.hasReturned;
}

TEST_F(CallerFaults, TheEndOfAThreadIsPassedOn) {
  ASSERT_EQ(text(add()), "");
  leave("on_logits", Leaves::ByEndOfThread, 0);
  EXPECT_FALSE(returnsOnItsThread([&] { step(); }));
  leave("on_token", Leaves::ByEndOfThread);
  EXPECT_FALSE(returnsOnItsThread([&] { runGenerate(); }));
  leave("", Leaves::Not);
  // The session is as it was.
  EXPECT_TRUE(returnsOnItsThread([&] {
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(step(), "");
    }
  }));
  EXPECT_EQ(tokens.size(), 4U);
  EXPECT_EQ(runGenerate(), "");
}

TEST_F(CallerFaults, AThreadThatIsCancelledEndsBehindItsCall) {
  ASSERT_EQ(text(add()), "");
  for (const char *name : {"should_stop", "tap", "parallel_for", "on_logits"}) {
    leave(name, Leaves::ByCancellation);
    size_t before = tokens.size();
    EXPECT_FALSE(returnsOnItsThread([&] {
      while (numUntil >= 0) {
        EXPECT_EQ(step(), "");
      }
      pthread_testcancel();
    }));
    EXPECT_GT(tokens.size(), before);
    leave("", Leaves::Not);
    EXPECT_EQ(text(add()), "");
  }
}

} // namespace
} // namespace tfc::rt::test
