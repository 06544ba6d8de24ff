// Every allocation of a call fails once, and so do all from it on: the call is
// an error of memory or does what it does otherwise, and the next one is well.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/memory/Cache.h"
#include "test/runtime/FakeModel.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

// Allocations until one fails, below 0 when none does; of all threads.
std::atomic<int64_t> untilFailure{-1};
std::atomic<bool> failsFromThenOn{false};

void *allocate(std::size_t bytes) {
  if (untilFailure.load(std::memory_order_relaxed) >= 0) {
    int64_t left = untilFailure.fetch_sub(1);
    if (left == 0 || (left < 0 && failsFromThenOn)) {
      if (failsFromThenOn) {
        untilFailure = 0;
      }
      throw std::bad_alloc();
    }
  }
  if (void *memory = std::malloc(bytes ? bytes : 1)) {
    return memory;
  }
  throw std::bad_alloc();
}

} // namespace

void *operator new(std::size_t bytes) { return allocate(bytes); }
void *operator new[](std::size_t bytes) { return allocate(bytes); }
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, std::size_t) noexcept {
  std::free(memory);
}

namespace tfc::rt::test {
namespace {

/// Calls `call`, which returns an error or null, with the n-th allocation
/// failing, for all n until none fails; `check` sees whether there was an
/// error, each time.
template <typename Call, typename Check>
void failEachAllocation(Call call, Check check) {
  for (bool fromThenOn : {false, true}) {
    for (int64_t n = 0;; ++n) {
      failsFromThenOn = fromThenOn;
      untilFailure = n;
      tfc_error *error = call();
      bool hasFailed = untilFailure.exchange(-1) <= 0;
      SCOPED_TRACE(concat("allocation ", n));
      if (error) {
        EXPECT_TRUE(hasFailed) << tfc_error_message(error);
        EXPECT_EQ(tfc_error_code(error), TFC_EXHAUSTED)
            << tfc_error_message(error);
      }
      check(error != nullptr);
      tfc_error_free(error);
      if (::testing::Test::HasFailure()) {
        return;
      }
      if (!hasFailed) {
        EXPECT_GT(n, 5); // the allocations were counted
        break;
      }
    }
  }
}

class Allocation : public ::testing::Test {
protected:
  void SetUp() override {
    writeTensors(folder / "model.safetensors", FakeWeights(5).stored());
    weightsPath = folder.path.string();
    options.struct_size = sizeof(options);
    options.weights_path = weightsPath.c_str();
    options.threads = 2;
  }
  void TearDown() override { tfc_model_free(model); }

  void load(const std::string &variant) {
    std::string path = fakeLibrary(variant);
    options.library_path = path.c_str();
    ASSERT_EQ(tfc_model_load(&options, &model), nullptr);
    tfc_model_info info{};
    info.struct_size = sizeof(info);
    ASSERT_EQ(tfc_model_get_info(model, &info), nullptr);
    decoding = *info.decoding;
  }

  /// The first tensor's data.
  static std::vector<uint8_t> contents(const tfc_outputs *outputs) {
    const tfc_tensor *tensor = tfc_outputs_get(outputs, 0);
    size_t bytes = tensor->dtype == TFC_I64 ? 8 : 4;
    for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
      bytes *= static_cast<size_t>(tensor->shape[axis]);
    }
    const auto *data = static_cast<const uint8_t *>(tensor->data);
    return std::vector<uint8_t>(data, data + bytes);
  }

  /// The first outputs of `call` are those that it gives with each allocation
  /// failing, unless it gives an error.
  template <typename Call> void giveTheSameOrAnError(Call call) {
    tfc_outputs *outputs = nullptr;
    ASSERT_EQ(call(&outputs), nullptr);
    std::vector<uint8_t> expected = contents(outputs);
    tfc_outputs_free(outputs);
    outputs = nullptr;
    failEachAllocation([&] { return call(&outputs); },
                       [&](bool hasError) {
                         ASSERT_EQ(outputs == nullptr, hasError);
                         if (outputs) {
                           EXPECT_EQ(contents(outputs), expected);
                           tfc_outputs_free(outputs);
                           outputs = nullptr;
                         }
                       });
  }

  /// Generates with the member options: the same tokens, or an error.
  void generateAll(const char *name) {
    SCOPED_TRACE(name);
    tfc_generate_options how{};
    how.struct_size = sizeof(how);
    how.inputs = &input;
    how.n_inputs = 1;
    how.max_new_tokens = 4;
    how.own_eos = 1;
    how.decoding = &decoding;
    giveTheSameOrAnError([&](tfc_outputs **outputs) {
      return tfc_generate(model, &how, nullptr, nullptr, outputs);
    });
  }

  Folder folder;
  std::string weightsPath;
  tfc_model_options options{};
  tfc_model *model = nullptr;
  tfc_decoding_options decoding{};
  std::vector<int64_t> ids = {7, 8, 9, 9, 4, 6, 2, 1, 1, 7, 8, 2};
  tfc_tensor input{"input_ids", TFC_I64, 2, {4, 3, 0}, ids.data()};
};

TEST_F(Allocation, FailsWhileLoading) {
  std::string path = fakeLibrary("decoder");
  options.library_path = path.c_str();
  failEachAllocation([&] { return tfc_model_load(&options, &model); },
                     [&](bool hasError) {
                       EXPECT_EQ(model == nullptr, hasError);
                       tfc_model_free(model);
                       model = nullptr;
                     });
}

TEST_F(Allocation, FailsWhileEncoding) {
  load("shifting");
  tfc_encode_options how{};
  how.struct_size = sizeof(how);
  how.inputs = &input;
  how.n_inputs = 1;
  const char *wanted[] = {"last_hidden_state"};
  how.outputs = wanted;
  how.n_outputs = 1;
  giveTheSameOrAnError(
      [&](tfc_outputs **outputs) { return tfc_encode(model, &how, outputs); });
}

TEST_F(Allocation, FailsWhileGenerating) {
  load("translator");
  generateAll("the likeliest");
  decoding.do_sample = 1;
  decoding.temperature = 0.5;
  decoding.repetition_penalty = 1.5;
  decoding.top_p = 0.9;
  generateAll("draws");
  decoding.num_beams = 3;
  generateAll("beams");
}

TEST_F(Allocation, AStepThatFailsHasNotHappened) {
  load("decoder");
  decoding.do_sample = 1;
  decoding.repetition_penalty = 1.5;
  failsFromThenOn = false;
  // A session for every n: all sequences must go on from where they were.
  std::vector<int64_t> expected;
  for (int64_t n = -1;; ++n) {
    SCOPED_TRACE(concat("allocation ", n));
    tfc_session *session = nullptr;
    ASSERT_EQ(tfc_session_create(model, nullptr, &session), nullptr);
    for (int row = 0; row < 4; ++row) {
      tfc_request request{};
      request.struct_size = sizeof(request);
      request.tokens = ids.data() + 3 * row;
      request.n_tokens = 3;
      request.max_new_tokens = 2 + row;
      request.own_eos = 1;
      request.decoding = &decoding;
      // Each of them goes in on a way of its own.
      request.n = row == 1 ? 3 : 0;
      request.echo = row == 2;
      request.keep = row % 2;
      tfc_sequence_id id = 0;
      ASSERT_EQ(tfc_session_add(session, &request, &id), nullptr);
    }
    std::vector<int64_t> tokens;
    tfc_step_result result{};
    result.struct_size = sizeof(result);
    int64_t numFailures = 0;
    do {
      untilFailure = n;
      tfc_error *error = tfc_session_step(session, &result);
      bool hasFailed = untilFailure.exchange(-1) < 0 && n >= 0;
      if (error) {
        EXPECT_EQ(tfc_error_code(error), TFC_EXHAUSTED);
        tfc_error_free(error);
        error = tfc_session_step(session, &result);
      }
      ASSERT_EQ(error, nullptr) << tfc_error_message(error);
      numFailures += hasFailed;
      for (uint64_t i = 0; i < result.n_tokens; ++i) {
        tokens.push_back(static_cast<int64_t>(result.tokens[i].sequence));
        tokens.push_back(result.tokens[i].token);
      }
    } while (result.n_tokens != 0);
    tfc_session_free(session);
    expected = n < 0 ? tokens : expected;
    ASSERT_EQ(tokens, expected);
    if (n >= 0 && numFailures == 0) {
      EXPECT_GT(n, 5);
      break;
    }
  }
}

/// A sequence that is to leave or pause at the end of a step has its place by
/// then: behind the step nothing may fail.
TEST_F(Allocation, WhoPausesDuringAStepFindsAPlaceBehindIt) {
  load("decoder");
  struct Sleeper {
    tfc_session *session = nullptr;
    tfc_error *error = nullptr;
    int64_t until = -1;
    bool isAsked = false;
  } sleeper;
  tfc_session_options how{};
  how.struct_size = sizeof(how);
  how.logits_user = &sleeper;
  how.on_logits = [](void *user, tfc_sequence_id id, float *, int64_t) {
    auto &self = *static_cast<Sleeper *>(user);
    failsFromThenOn = true;
    untilFailure = self.isAsked ? -1 : self.until;
    self.error = self.isAsked ? nullptr : tfc_session_pause(self.session, id);
    self.isAsked = true;
    // From here on there is no memory, if there was for the pause.
    untilFailure = self.error ? -1 : 0;
  };
  for (int64_t n = 0;; ++n) {
    SCOPED_TRACE(n);
    sleeper = {};
    sleeper.until = n;
    ASSERT_EQ(tfc_session_create(model, &how, &sleeper.session), nullptr);
    tfc_request request{};
    request.struct_size = sizeof(request);
    request.tokens = ids.data();
    request.n_tokens = 3;
    request.max_new_tokens = 4;
    request.own_eos = 1;
    tfc_sequence_id id = 0;
    ASSERT_EQ(tfc_session_add(sleeper.session, &request, &id), nullptr);
    tfc_step_result result{};
    result.struct_size = sizeof(result);
    // The step that needs no memory any more, with what it has grown.
    sleeper.isAsked = true;
    how.on_logits(&sleeper, id, nullptr, 0);
    untilFailure = -1;
    sleeper.isAsked = false;
    tfc_error *error = tfc_session_step(sleeper.session, &result);
    untilFailure = -1;
    bool hasPaused = !sleeper.error;
    EXPECT_EQ(tfc_error_code(sleeper.error),
              hasPaused ? 0 : int(TFC_EXHAUSTED));
    tfc_session_info info{};
    info.struct_size = sizeof(info);
    ASSERT_EQ(tfc_session_get_info(sleeper.session, &info), nullptr);
    EXPECT_EQ(info.n_paused, hasPaused ? 1U : 0U);
    EXPECT_EQ(info.n_sequences, 1U);
    tfc_error_free(error);
    tfc_error_free(sleeper.error);
    tfc_session_free(sleeper.session);
    if (hasPaused) {
      EXPECT_GT(n, 0);
      break;
    }
  }
}

/// Blocks go back on paths that report an error already, one of memory too.
TEST_F(Allocation, BlocksOfACacheGoBackWithoutMemory) {
  constexpr int64_t blocks = 1000;
  auto cache = BlockCache::create(makeCache(4, 1, 8), 8 * blocks);
  ASSERT_TRUE(cache) << messageOf(cache);
  BlockTable table;
  ASSERT_TRUE(cache->grow(table, 4 * blocks));
  failsFromThenOn = true;
  untilFailure = 0;
  bool hasFailed = false;
  try {
    cache->release(table);
  } catch (const std::bad_alloc &) {
    hasFailed = true;
  }
  untilFailure = -1;
  EXPECT_FALSE(hasFailed);
  EXPECT_EQ(cache->used(), 0);
}

} // namespace
} // namespace tfc::rt::test
