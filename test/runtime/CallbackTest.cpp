// What may be called while another call runs: the table in runtime.h, line by
// line, from every callback and from another thread.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/FakeModel.h"
#include "tfc/text.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <regex>
#include <thread>

namespace tfc::rt::test {
namespace {

const std::string stepRuns =
    "expected no step of the session to run, got one (called from a callback "
    "of the step, or beside it)";

/// A line of the table: what a call says beside a step of its session, within
/// it, and within other calls.
struct Line {
  std::string function, beside, within, elsewhere;
};

std::vector<Line> readTable() {
  std::vector<Line> lines;
  std::ifstream header(HEADERS "/runtime.h");
  std::regex shape(" \\*      (tfc_\\S+) +(\\w+) +(\\w+) +(\\w+)");
  std::smatch parts;
  for (std::string line; std::getline(header, line);) {
    if (std::regex_match(line, parts, shape)) {
      lines.push_back({parts[1], parts[2], parts[3], parts[4]});
    }
  }
  return lines;
}

/// Whether a line is about a function: "tfc_text_*" of all that begin so.
bool isAbout(const std::string &name, const std::string &function) {
  return name.back() == '*' ? function.compare(0, name.size() - 1, name, 0,
                                               name.size() - 1) == 0
                            : function == name;
}

TEST(CallTable, HasEveryFunction) {
  std::vector<Line> table = readTable();
  std::regex declaration("(tfc_[a-z_]+)\\(");
  int numFunctions = 0;
  for (const char *name : {"runtime.h", "text.h"}) {
    std::string text = readBytes(concat(HEADERS, "/", name));
    std::regex comment("/\\*[^*]*\\*+([^/*][^*]*\\*+)*/");
    text = std::regex_replace(text, comment, "");
    for (std::sregex_iterator at(text.begin(), text.end(), declaration), end;
         at != end; ++at, ++numFunctions) {
      EXPECT_EQ(std::count_if(table.begin(), table.end(),
                              [&](const Line &line) {
                                return isAbout(line.function, (*at)[1].str());
                              }),
                1)
          << (*at)[1];
    }
  }
  EXPECT_GT(numFunctions, 35);
}

class Calls : public ::testing::Test {
protected:
  void SetUp() override {
    writeTensors(folder / "model.safetensors", FakeWeights(5).stored());
    std::ofstream(folder / "tokenizer.json")
        << R"({"version": "1.0", "pre_tokenizer": {"type": "WhitespaceSplit"},
               "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1},
                         "unk_token": "a"}})";
    weights = folder.path.string();
    library = fakeLibrary("tapped_decoder");
    load.struct_size = sizeof(load);
    load.library_path = library.c_str();
    load.weights_path = weights.c_str();
    load.threads = 2;
    load.tap = [](void *user, const char *, int64_t, int64_t, int64_t,
                  const float *) { at(user, "Tap"); };
    load.progress = [](void *user, uint64_t, uint64_t) {
      at(user, "Progress");
      return 0;
    };
    load.parallel_for = [](void *user, int64_t n, tfc_loop_fn body, void *arg) {
      at(user, "Loop");
      body(arg, n / 2, n, 1);
      body(arg, 0, n / 2, 0);
    };
    load.tap_user = load.progress_user = load.parallel_user = this;
    must(tfc_model_load(&load, &model));
    request.struct_size = sizeof(request);
    request.tokens = prompt;
    request.n_tokens = 5;
    request.max_new_tokens = 4;
    request.own_eos = 1;
    encode.struct_size = sizeof(encode);
    generate.struct_size = sizeof(generate);
    encode.inputs = generate.inputs = &input;
    encode.n_inputs = generate.n_inputs = 1;
    generate.max_new_tokens = 4;
    generate.own_eos = 1;
    makeCalls();
  }
  void TearDown() override { tfc_model_free(model); }

  static void must(tfc_error *error) {
    EXPECT_EQ(error, nullptr) << tfc_error_message(error);
    tfc_error_free(error);
  }

  /// A callback of this kind is called; the one that is waited for does what it
  /// is to do, once.
  static void at(void *user, const std::string &callback) {
    auto &self = *static_cast<Calls *>(user);
    if (self.during && self.awaited == callback) {
      std::function<void()> once;
      std::swap(once, self.during);
      once();
    }
  }

  static int onStop(void *user) {
    at(user, "Stop");
    return 0;
  }

  /// What a call says: "yes", or what its error is.
  static std::string said(tfc_error *error) {
    std::string message = tfc_error_message(error);
    bool isRefused =
        message == stepRuns && tfc_error_code(error) == TFC_INVALID_ARGUMENT;
    tfc_error_free(error);
    return isRefused ? "refused" : message.empty() ? "yes" : message;
  }

  tfc_session *makeSession() {
    tfc_session_options options{};
    options.struct_size = sizeof(options);
    options.should_stop = onStop;
    options.stop_user = options.logits_user = this;
    options.on_logits = [](void *user, uint64_t, float *, int64_t) {
      at(user, "Logits");
    };
    tfc_session *made = nullptr;
    must(tfc_session_create(model, &options, &made));
    return made;
  }

  tfc_sequence_id add() {
    tfc_sequence_id id = 0;
    must(tfc_session_add(session, &request, &id));
    return id;
  }

  void makeCalls();
  void makeSessionCalls();
  void makeTextCalls();
  std::string readOutputs();
  std::string pushText();

  /// Steps until all have ended; the tokens of the first sequence.
  std::vector<int64_t> run() {
    std::vector<int64_t> tokens;
    tfc_step_result result{};
    result.struct_size = sizeof(result);
    do {
      must(tfc_session_step(session, &result));
      for (uint64_t i = 0; i < result.n_tokens; ++i) {
        if (result.tokens[i].sequence == first) {
          tokens.push_back(result.tokens[i].token);
        }
      }
    } while (result.n_sequences > result.n_paused);
    return tokens;
  }

  std::vector<uint8_t> runEncode() {
    encode.should_stop = onStop;
    encode.stop_user = this;
    tfc_outputs *out = nullptr;
    must(tfc_encode(model, &encode, &out));
    return contents(out, sizeof(float));
  }

  std::vector<uint8_t> runGenerate() {
    generate.should_stop = onStop;
    generate.stop_user = this;
    tfc_outputs *out = nullptr;
    must(tfc_generate(
        model, &generate,
        [](void *user, int64_t, int64_t, int) {
          at(user, "Token");
          return 0;
        },
        this, &out));
    return contents(out, sizeof(int64_t));
  }

  static std::vector<uint8_t> contents(tfc_outputs *out, size_t bytes) {
    const tfc_tensor *tensor = tfc_outputs_get(out, 0);
    if (!tensor) {
      return {};
    }
    for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
      bytes *= static_cast<size_t>(tensor->shape[axis]);
    }
    const auto *data = static_cast<const uint8_t *>(tensor->data);
    std::vector<uint8_t> copy(data, data + bytes);
    tfc_outputs_free(out);
    return copy;
  }

  /// What `call` says at a callback of a step, and that the step is none the
  /// worse for it.
  std::string sayWithinAStep(const std::string &callback,
                             const std::function<std::string()> &call) {
    session = makeSession();
    first = add();
    second = add();
    awaited = callback;
    std::string got = "not called";
    during = [&] { got = call(); };
    EXPECT_EQ(run(), alone);
    tfc_session_free(session);
    return got;
  }

  Folder folder;
  std::string weights, library, awaited;
  tfc_model_options load{};
  tfc_model *model = nullptr;
  int64_t prompt[5] = {7, 8, 9, 10, 11};
  tfc_tensor input{"input_ids", TFC_I64, 2, {1, 5, 0}, prompt};
  tfc_request request{};
  tfc_encode_options encode{};
  tfc_generate_options generate{};
  std::function<void()> during;
  std::vector<int64_t> alone;

  /// By line of the table. They use `session` and its `second` sequence.
  std::map<std::string, std::function<std::string()>> calls;
  tfc_session *session = nullptr;
  tfc_sequence_id first = 0, second = 0;
};

void Calls::makeSessionCalls() {
  calls["tfc_session_step"] = [&] {
    tfc_step_result result{};
    result.struct_size = sizeof(result);
    return said(tfc_session_step(session, &result));
  };
  calls["tfc_session_fork"] = [&] {
    tfc_sequence_id fork = 0;
    return said(tfc_session_fork(session, second, nullptr, &fork));
  };
  calls["tfc_session_add"] = [&] {
    tfc_sequence_id id = 0;
    return said(tfc_session_add(session, &request, &id));
  };
  calls["tfc_session_remove"] = [&] {
    return said(tfc_session_remove(session, second));
  };
  calls["tfc_session_pause"] = [&] {
    return said(tfc_session_pause(session, second));
  };
  calls["tfc_session_hold"] = [&] {
    return said(tfc_session_hold(session, second));
  };
  calls["tfc_session_resume"] = [&] {
    return said(tfc_session_resume(session, second));
  };
  calls["tfc_session_get_info"] = [&] {
    tfc_session_info info{};
    info.struct_size = sizeof(info);
    return said(tfc_session_get_info(session, &info));
  };
  calls["tfc_session_create"] = [&] {
    tfc_session_free(makeSession());
    return "yes";
  };
  // Whether it is there is seen by whoever uses it next.
  calls["tfc_session_free"] = [&] {
    tfc_session_info info{};
    info.struct_size = sizeof(info);
    tfc_session_free(session);
    std::string info_said = said(tfc_session_get_info(session, &info));
    return info_said == "yes" ? "nothing" : info_said;
  };
}

std::string Calls::readOutputs() {
  tfc_outputs *out = nullptr;
  std::string got = said(tfc_encode(model, &encode, &out));
  bool isRight = tfc_outputs_count(out) > 0 &&
                 tfc_outputs_find(out, tfc_outputs_get(out, 0)->name);
  tfc_outputs_free(out);
  return isRight ? got : "no outputs";
}

std::string Calls::pushText() {
  tfc_tokenizer *tokenizer = nullptr;
  must(tfc_tokenizer_load(weights.c_str(), &tokenizer));
  tfc_tokenize_options options{};
  options.struct_size = sizeof(options);
  options.text = "a b";
  options.text_bytes = 3;
  tfc_tokens *tokens = nullptr;
  must(tfc_tokenizer_encode(tokenizer, &options, &tokens));
  tfc_tokens_info info{};
  info.struct_size = sizeof(info);
  must(tfc_tokens_get_info(tokens, &info));
  tfc_text_stream *stream = nullptr;
  must(tfc_text_stream_create(tokenizer, 0, &stream));
  const char *piece = "";
  std::string got =
      said(tfc_text_stream_push(stream, info.ids[0], &piece, nullptr));
  tfc_text_stream_free(stream);
  tfc_tokens_free(tokens);
  tfc_tokenizer_free(tokenizer);
  return got;
}

void Calls::makeTextCalls() {
  for (const char *name : {"tfc_tokenizer_*", "tfc_tokens_*", "tfc_text_*"}) {
    calls[name] = [&] { return pushText(); };
  }
}

void Calls::makeCalls() {
  makeSessionCalls();
  makeTextCalls();
  calls["tfc_encode"] = calls["tfc_outputs_*"] = [&] { return readOutputs(); };
  calls["tfc_generate"] = [&] {
    return said(tfc_generate(model, &generate, nullptr, nullptr, nullptr));
  };
  calls["tfc_model_load"] = calls["tfc_model_free"] = [&] {
    tfc_model *other = nullptr;
    std::string got = said(tfc_model_load(&load, &other));
    tfc_model_free(other);
    return got;
  };
  calls["tfc_model_trim"] = [&] {
    tfc_model_trim(model);
    return "yes";
  };
  calls["tfc_model_get_info"] = [&] {
    tfc_model_info info{};
    info.struct_size = sizeof(info);
    return said(tfc_model_get_info(model, &info));
  };
  calls["tfc_decoding_init"] = [&] {
    tfc_decoding_options decoding{};
    decoding.struct_size = sizeof(decoding);
    return said(tfc_decoding_init(model, &decoding));
  };
  calls["tfc_error_*"] = [&] {
    return said(tfc_session_remove(nullptr, 1)) ==
                   "expected arguments, got null"
               ? "yes"
               : "another message";
  };
  calls["tfc_version"] = [] { return *tfc_version() ? "yes" : "no"; };
  calls["tfc_abi_version"] = [] { return tfc_abi_version() ? "yes" : "no"; };
}

TEST_F(Calls, BehaveAsTheTableSays) {
  std::vector<Line> table = readTable();
  ASSERT_EQ(table.size(), calls.size());
  session = makeSession();
  first = add();
  alone = run();
  ASSERT_EQ(alone.size(), 4U);
  tfc_session_free(session);
  std::vector<uint8_t> states = runEncode(), tokens = runGenerate();
  for (const Line &line : table) {
    SCOPED_TRACE(line.function);
    ASSERT_EQ(calls.count(line.function), 1U);
    auto call = calls[line.function];
    for (const char *callback : {"Logits", "Stop", "Tap", "Loop"}) {
      SCOPED_TRACE(callback);
      EXPECT_EQ(sayWithinAStep(callback, call), line.within);
    }
    EXPECT_EQ(sayWithinAStep("Logits",
                             [&] {
                               std::string got;
                               std::thread([&] { got = call(); }).join();
                               return got;
                             }),
              line.beside);
    // Other calls: the session is there, with sequences of its own.
    for (const char *callback : {"Stop", "Tap", "Loop", "Token", "Progress"}) {
      SCOPED_TRACE(callback);
      bool isLoad = callback == std::string("Progress");
      std::string got = "not called";
      session = makeSession();
      first = add();
      second = add();
      // It is gone then.
      bool frees = line.function == "tfc_session_free";
      auto callElsewhere = [&] {
        if (frees) {
          tfc_session_free(session);
          session = nullptr;
        }
        got = frees ? "yes" : call();
      };
      awaited = callback;
      during = callElsewhere;
      if (isLoad) {
        tfc_model *other = nullptr;
        must(tfc_model_load(&load, &other));
        tfc_model_free(other);
      } else {
        EXPECT_EQ(runGenerate(), tokens);
      }
      EXPECT_EQ(got, line.elsewhere);
      tfc_session_free(session);
    }
  }
  for (const char *callback : {"Stop", "Tap", "Loop"}) {
    awaited = callback;
    during = [&] { tfc_model_trim(model); };
    EXPECT_EQ(runEncode(), states);
    EXPECT_FALSE(during);
  }
}

/// A fork moves the sequences that the step works on, a second step uses the
/// same memory.
TEST_F(Calls, AreRefusedForEverySequenceOfAStep) {
  session = makeSession();
  first = add();
  alone = run();
  tfc_session_free(session);
  session = makeSession();
  for (int i = 0; i < 9; ++i) {
    second = add();
    first = i ? first : second;
  }
  int numRefused = 0;
  awaited = "Logits";
  std::function<void()> again = [&] {
    for (const char *name : {"tfc_session_fork", "tfc_session_step"}) {
      numRefused += calls[name]() == "refused";
    }
    during = again;
  };
  during = again;
  EXPECT_EQ(run(), alone);
  EXPECT_EQ(numRefused, 2 * 9 * 4);
  during = nullptr;
  tfc_session_free(session);
}

TEST_F(Calls, KeepTheModelThatIsGivenUp) {
  session = makeSession();
  first = add();
  alone = run();
  tfc_session_free(session);
  std::vector<uint8_t> states = runEncode(), tokens = runGenerate();
  for (const char *callback : {"Stop", "Tap", "Loop", "Token", "Logits"}) {
    SCOPED_TRACE(callback);
    auto giveUp = [&] {
      tfc_model_free(model);
      model = nullptr;
    };
    awaited = callback;
    during = giveUp;
    if (awaited == "Logits") {
      session = makeSession();
      first = add();
      EXPECT_EQ(run(), alone);
      tfc_session_free(session);
    } else {
      EXPECT_EQ(runGenerate(), tokens);
    }
    EXPECT_EQ(model, nullptr);
    must(tfc_model_load(&load, &model));
    if (awaited != "Token" && awaited != "Logits") {
      during = giveUp;
      EXPECT_EQ(runEncode(), states);
      EXPECT_EQ(model, nullptr);
      must(tfc_model_load(&load, &model));
    }
  }
}

} // namespace
} // namespace tfc::rt::test
