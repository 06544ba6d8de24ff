// Threads that share a model, each with a session of its own and calls beside
// it: everybody gets what one alone gets. ThreadSanitizer watches (preset
// tsan).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/FakeModel.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace tfc::rt::test {
namespace {

constexpr int numThreads = 4, numRounds = 60;
constexpr int64_t numNewTokens = 4;

/// Throws on errors: no assertion of GoogleTest ends a thread.
void must(tfc_error *error) {
  if (error) {
    std::string message = tfc_error_message(error);
    tfc_error_free(error);
    throw std::runtime_error(message);
  }
}

struct FreeOutputs {
  void operator()(tfc_outputs *outputs) const { tfc_outputs_free(outputs); }
};
using Outputs = std::unique_ptr<tfc_outputs, FreeOutputs>;

/// A model that is loaded through the C API.
class LoadedModel {
public:
  LoadedModel(const std::string &variant, const std::string &weights) {
    std::string library = fakeLibrary(variant);
    tfc_model_options options{};
    options.struct_size = sizeof(options);
    options.library_path = library.c_str();
    options.weights_path = weights.c_str();
    options.threads = 3;
    must(tfc_model_load(&options, &model));
  }
  ~LoadedModel() { tfc_model_free(model); }
  LoadedModel(const LoadedModel &) = delete;
  LoadedModel &operator=(const LoadedModel &) = delete;

  tfc_model *model = nullptr;
};

/// Without token 0, which pads.
std::vector<int64_t> promptOf(int number) {
  std::vector<int64_t> prompt(1 + number % 7);
  for (size_t i = 0; i < prompt.size(); ++i) {
    prompt[i] = 1 + (number + 3 * static_cast<int64_t>(i)) % (vocab - 1);
  }
  return prompt;
}

tfc_tensor tensorOf(const char *name, const std::vector<int64_t> &row) {
  return {
      name, TFC_I64, 2, {1, static_cast<int64_t>(row.size()), 0}, row.data()};
}

/// The new tokens that tfc_generate gives for a prompt.
std::vector<int64_t> generated(const LoadedModel &loaded, int number) {
  std::vector<int64_t> prompt = promptOf(number), tokens;
  tfc_tensor input = tensorOf("input_ids", prompt);
  tfc_generate_options options{};
  options.struct_size = sizeof(options);
  options.inputs = &input;
  options.n_inputs = 1;
  options.own_eos = 1;
  options.max_new_tokens = numNewTokens;
  auto onToken = [](void *user, int64_t, int64_t token, int) {
    static_cast<std::vector<int64_t> *>(user)->push_back(token);
    return 0;
  };
  must(tfc_generate(loaded.model, &options, onToken, &tokens, nullptr));
  return tokens;
}

/// The first output of a forward pass over a prompt.
std::vector<float> encoded(const LoadedModel &loaded, bool isPair, int number) {
  std::vector<int64_t> prompt = promptOf(number);
  std::vector<tfc_tensor> inputs = {tensorOf("input_ids", prompt)};
  if (isPair) {
    inputs.push_back(tensorOf("decoder_input_ids", prompt));
  }
  tfc_encode_options options{};
  options.struct_size = sizeof(options);
  options.inputs = inputs.data();
  options.n_inputs = static_cast<uint32_t>(inputs.size());
  tfc_outputs *out = nullptr;
  must(tfc_encode(loaded.model, &options, &out));
  Outputs outputs(out);
  const tfc_tensor *first = tfc_outputs_get(out, 0);
  const float *values = static_cast<const float *>(first->data);
  return {values, values + first->shape[1] * first->shape[2]};
}

/// What every prompt gives when nothing else runs.
struct Expected {
  std::vector<std::vector<int64_t>> tokens;
  std::vector<std::vector<float>> states;

  Expected(const LoadedModel &loaded, bool isPair) {
    for (int number = 0; number < numRounds + numThreads; ++number) {
      tokens.push_back(generated(loaded, number));
      states.push_back(encoded(loaded, isPair, number));
    }
  }
};

/// One thread's session: requests that come in while others run.
class Requests {
public:
  explicit Requests(const LoadedModel &loaded) {
    must(tfc_session_create(loaded.model, nullptr, &session));
  }
  ~Requests() { tfc_session_free(session); }
  Requests(const Requests &) = delete;
  Requests &operator=(const Requests &) = delete;

  void add(int number) {
    std::vector<int64_t> prompt = promptOf(number);
    tfc_request request{};
    request.struct_size = sizeof(request);
    request.tokens = prompt.data();
    request.n_tokens = static_cast<int64_t>(prompt.size());
    request.max_new_tokens = numNewTokens;
    request.own_eos = 1;
    tfc_sequence_id id = 0;
    must(tfc_session_add(session, &request, &id));
    running[id] = {number, {}};
  }

  /// How many sequences got their last token, and not what they get alone.
  int step(const Expected &expected) {
    tfc_step_result result{};
    result.struct_size = sizeof(result);
    must(tfc_session_step(session, &result));
    int numWrong = 0;
    for (uint64_t i = 0; i < result.n_tokens; ++i) {
      auto found = running.find(result.tokens[i].sequence);
      found->second.second.push_back(result.tokens[i].token);
      if (result.tokens[i].state != TFC_RUNNING) {
        numWrong +=
            found->second.second != expected.tokens[found->second.first];
        running.erase(found);
      }
    }
    return numWrong;
  }

  std::map<uint64_t, std::pair<int, std::vector<int64_t>>> running;

private:
  tfc_session *session = nullptr;
};

/// What one thread does. Returns how many results are wrong.
int serve(const LoadedModel &loaded, bool isPair, const Expected &expected,
          int thread) {
  Requests requests(loaded);
  int numWrong = 0;
  for (int round = 0; round < numRounds; ++round) {
    int number = round + thread;
    requests.add(number);
    numWrong += requests.step(expected);
    if (round % 5 == 0) {
      numWrong += encoded(loaded, isPair, number) != expected.states[number];
    }
    if (round % 10 == 0) {
      numWrong += generated(loaded, number) != expected.tokens[number];
      tfc_model_info info{};
      info.struct_size = sizeof(info);
      must(tfc_model_get_info(loaded.model, &info));
      numWrong += info.n_inputs == 0;
    }
  }
  while (!requests.running.empty()) {
    numWrong += requests.step(expected);
  }
  return numWrong;
}

/// Runs body(thread) in several threads; says what each of them threw.
template <typename Body> void inThreads(Body body) {
  std::vector<std::string> faults(numThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < numThreads; ++i) {
    threads.emplace_back([&, i] {
      try {
        body(i);
      } catch (const std::exception &error) {
        faults[i] = error.what();
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(faults, std::vector<std::string>(numThreads));
}

class Threads : public ::testing::Test {
protected:
  void SetUp() override {
    writeTensors(folder / "model.safetensors", FakeWeights(5).stored());
  }
  Folder folder;
};
/// The same with a model.
class ThreadsOf : public Threads,
                  public ::testing::WithParamInterface<const char *> {};

TEST_P(ThreadsOf, ShareAModelAndGetWhatOneAloneGets) {
  bool isPair = std::string(GetParam()) == "translator";
  LoadedModel loaded(GetParam(), folder.path.string());
  Expected expected(loaded, isPair);
  std::vector<int> numWrong(numThreads);
  inThreads([&](int thread) {
    numWrong[thread] = serve(loaded, isPair, expected, thread);
  });
  EXPECT_EQ(numWrong, std::vector<int>(numThreads));
}

TEST_P(ThreadsOf, LoadAndFreeModelsSideBySide) {
  bool isPair = std::string(GetParam()) == "translator";
  LoadedModel first(GetParam(), folder.path.string());
  std::vector<float> expected = encoded(first, isPair, 3);
  std::vector<int> numWrong(numThreads);
  inThreads([&](int thread) {
    for (int round = 0; round < 5; ++round) {
      LoadedModel own(GetParam(), folder.path.string());
      numWrong[thread] += encoded(own, isPair, 3) != expected;
    }
  });
  EXPECT_EQ(numWrong, std::vector<int>(numThreads));
}

/// A session that one thread steps and others fill: some sequences are taken
/// out or paused while a step runs, some go on twice, some end with tokens that
/// the model has no embedding for.
class SharedSession {
public:
  explicit SharedSession(const LoadedModel &loaded) {
    tfc_session_options options{};
    options.struct_size = sizeof(options);
    options.max_step_tokens = 5;
    options.should_stop = [](void *user) {
      auto &self = *static_cast<SharedSession *>(user);
      return int(self.numAsked++ % 23 == 22);
    };
    options.stop_user = this;
    must(tfc_session_create(loaded.model, &options, &session));
  }
  ~SharedSession() { tfc_session_free(session); }
  SharedSession(const SharedSession &) = delete;
  SharedSession &operator=(const SharedSession &) = delete;

  static std::vector<int64_t> promptOf(int number) {
    std::vector<int64_t> prompt = test::promptOf(number);
    for (int64_t &token : prompt) {
      token = 1 + token % 11;
    }
    return prompt;
  }

  tfc_sequence_id add(int number) {
    std::vector<int64_t> prompt = promptOf(number);
    const int64_t stop[] = {4, 4};
    tfc_token_list stops = {stop, 2};
    tfc_request request{};
    request.struct_size = sizeof(request);
    request.tokens = prompt.data();
    request.n_tokens = static_cast<int64_t>(prompt.size());
    request.max_new_tokens = numNewTokens;
    request.own_eos = 1;
    request.stops = &stops;
    request.n_stops = 1;
    request.n_logprobs = number % 2 == 0 ? 2 : 0;
    request.prefix = static_cast<tfc_sequence_id>(number); // maybe
    request.keep = number % 5 == 0;
    tfc_sequence_id id = 0;
    must(tfc_session_add(session, &request, &id));
    return id;
  }

  // It may have ended meanwhile.
  void remove(tfc_sequence_id id) {
    tfc_error_free(tfc_session_remove(session, id));
  }
  void pause(tfc_sequence_id id) {
    tfc_error_free(tfc_session_pause(session, id));
  }
  void hold(tfc_sequence_id id) {
    tfc_error_free(tfc_session_hold(session, id));
  }
  void resume(tfc_sequence_id id) {
    tfc_error_free(tfc_session_resume(session, id));
  }

  /// What a thread that serves metrics asks, whenever it wants.
  void ask() {
    tfc_session_info info{};
    info.struct_size = sizeof(info);
    must(tfc_session_get_info(session, &info));
    if (info.cache_bytes > info.max_cache_bytes ||
        info.n_paused > info.n_sequences) {
      throw std::runtime_error("the numbers do not fit together");
    }
  }

  /// One step; the sequences that fail are gone.
  void step() {
    tfc_step_result result{};
    result.struct_size = sizeof(result);
    tfc_error *error = tfc_session_step(session, &result);
    tfc_code code = tfc_error_code(error);
    numCancelled += code == TFC_CANCELLED;
    if (code == TFC_CANCELLED) {
      tfc_error_free(error);
      return;
    }
    must(error);
    numLeft = result.n_sequences;
    numFailed += static_cast<int>(result.n_faults);
    for (uint64_t i = 0; i < result.n_tokens; ++i) {
      const tfc_new_token &token = result.tokens[i];
      tokens[token.sequence].push_back(token.token);
      if (token.state != TFC_RUNNING) {
        ended.push_back(token.sequence);
      } else if (token.sequence % 7 == 0 && !forkOf.count(token.sequence)) {
        forkOf[token.sequence] = 0;
      }
    }
    for (auto &[id, fork] : forkOf) {
      if (fork == 0) {
        fork = 1; // tried
        tfc_sequence_id made = 0;
        tfc_error *lost = tfc_session_fork(session, id, nullptr, &made);
        if (!lost) {
          tokens[made] = tokens[id];
          fork = made;
        }
        tfc_error_free(lost);
      }
    }
  }

  /// The sequence that this one went on from; itself where it began alone.
  tfc_sequence_id originalOf(tfc_sequence_id id) const {
    for (auto [from, fork] : forkOf) {
      if (fork == id) {
        return from;
      }
    }
    return id;
  }

  /// Whether all that may happen to a sequence has happened to some.
  bool hasSeenAll() const {
    return numCancelled > 0 && numFailed > 0 && ended.size() > 20 &&
           std::any_of(ended.begin(), ended.end(), [&](tfc_sequence_id id) {
             return originalOf(id) != id;
           });
  }

  std::map<tfc_sequence_id, std::vector<int64_t>> tokens;
  std::map<tfc_sequence_id, tfc_sequence_id> forkOf;
  std::vector<tfc_sequence_id> ended;
  uint64_t numLeft = 0;
  int64_t numAsked = 0;
  int numCancelled = 0, numFailed = 0;

private:
  tfc_session *session = nullptr;
};

TEST_F(Threads, FillASessionThatAnotherOneSteps) {
  LoadedModel loaded("embeds_most", folder.path.string());
  SharedSession shared(loaded);
  std::mutex mutex;
  std::map<tfc_sequence_id, int> numbers;
  std::atomic<int> numAdding{numThreads - 1};
  inThreads([&](int thread) {
    if (thread == 0) {
      while (numAdding > 0 || shared.numLeft > 0) {
        shared.step();
      }
      shared.step();
      return;
    }
    tfc_sequence_id sleeper = 0;
    for (int round = 0; round < numRounds; ++round) {
      int number = numThreads * round + thread;
      tfc_sequence_id id = shared.add(number);
      shared.resume(sleeper);
      shared.ask();
      if (round % 6 == 2) {
        shared.pause(id);
        sleeper = id;
      }
      if (round % 6 == 3) {
        shared.hold(id);
        shared.resume(id);
      }
      if (round % 6 == 5) {
        shared.remove(id);
        continue;
      }
      std::lock_guard<std::mutex> lock(mutex);
      numbers[id] = number;
    }
    shared.resume(sleeper);
    --numAdding;
  });
  while (shared.numLeft > 0) {
    shared.step();
  }
  // Which thread came when decides what has happened by now; what has not
  // happens here.
  for (int more = 0; more < 1000 && !shared.hasSeenAll(); ++more) {
    int number = numThreads * numRounds + more;
    numbers[shared.add(number)] = number;
    do {
      shared.step();
    } while (shared.numLeft > 0);
  }
  EXPECT_TRUE(shared.hasSeenAll());
  for (tfc_sequence_id id : shared.ended) {
    tfc_sequence_id original = shared.originalOf(id);
    if (!numbers.count(original)) {
      continue; // taken out, but not before its end
    }
    // What it gets alone.
    SharedSession alone(loaded);
    alone.add(numbers[original]);
    do {
      alone.step();
    } while (alone.numLeft > 0 || alone.tokens.empty());
    EXPECT_EQ(shared.tokens[id], alone.tokens.begin()->second) << id;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ThreadsOf,
                         ::testing::Values("decoder", "translator"));

} // namespace
} // namespace tfc::rt::test
