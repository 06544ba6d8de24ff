// Libraries that are none, or not for this host or machine, and the C API as a
// C program sees it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Module.h"

#include "test/runtime/FakeModel.h"

#include <fstream>

namespace tfc::rt::test {
namespace {

std::string loadMessage(const std::string &variant) {
  Folder folder;
  writeTensors(folder / "model.safetensors", FakeWeights().stored());
  return messageOf(loadFake(variant, folder.path.string()));
}

TEST(Module, RefusesLibrariesOfOtherVersions) {
  EXPECT_EQ(loadMessage("other_version"),
            fakeLibrary("other_version") +
                ": expected ABI version 1 (this runtime's), got 2; compile the "
                "model again");
  EXPECT_EQ(loadMessage("newer"),
            fakeLibrary("newer") +
                ": expected ABI version 1 (this runtime's), got a newer one; "
                "compile the model again");
}

TEST(Module, RefusesWhatIsNoModel) {
  EXPECT_EQ(loadMessage("missing"),
            fakeLibrary("missing") +
                ": cannot be opened: No such file or directory");
  EXPECT_EQ(loadMessage("no_programs"),
            fakeLibrary("no_programs") +
                ": malformed library: expected at least one program");
  Folder folder;
  std::ofstream(folder / "text.so") << "not a library";
  std::string message = messageOf(Module::open(folder / "text.so"));
  EXPECT_EQ(message.find(folder / "text.so" + ": expected a compiled model for "
                                              "this machine, got: "),
            0U)
      << message;
  EXPECT_EQ(messageOf(Module::open(folder.path.string())),
            folder.path.string() +
                ": expected a compiled model, got no regular file");
  EXPECT_EQ(messageOf(Module::open(OTHER_LIBRARY)),
            std::string(OTHER_LIBRARY) +
                ": expected a compiled model (symbol tfc_module_query), got "
                "another library");
}

TEST(Module, ChoosesTheBestProgramThatRuns) {
  auto module = Module::open(fakeLibrary("encoder"));
  ASSERT_TRUE(module) << messageOf(module);
  auto name = [&](const std::string &wanted, uint64_t features) {
    auto program = (*module)->choose(wanted, features);
    return program ? std::string((*program)->name) : messageOf(program);
  };
  EXPECT_EQ(name("", 0), "plain");
  EXPECT_EQ(name("", TFC_FEATURE_X86_64_V2), "x86-64-v2");
  EXPECT_EQ(name("plain", TFC_FEATURE_X86_64_V2), "plain");
  EXPECT_EQ(name("", ~uint64_t(0)), "future");
  EXPECT_EQ(name("fast", 0),
            fakeLibrary("encoder") +
                ": expected program \"fast\", got plain, x86-64-v2, future");
  EXPECT_EQ(name("future", 0)
                .find(fakeLibrary("encoder") +
                      ": expected a program that this machine "
                      "runs, got future; the machine lacks "),
            0U);
  EXPECT_NE(loadMessage("future").find("the machine lacks an unknown "
                                       "instruction set"),
            std::string::npos);
}

TEST(Module, RefusesMalformedTables) {
  auto module = Module::open(fakeLibrary("decoder"));
  ASSERT_TRUE(module) << messageOf(module);
  const tfc_module_v0 good = (*module)->table();
  EXPECT_TRUE(checkModule(good));
  auto broken = [&](auto change) {
    tfc_module_v0 table = good;
    std::vector<tfc_program_v0> programs(good.programs, good.programs + 1);
    std::vector<tfc_entry_v0> entries(programs[0].entries,
                                      programs[0].entries + 1);
    std::vector<tfc_port_v0> ports(entries[0].inputs, entries[0].inputs + 3);
    std::vector<tfc_weight_v0> weights(good.weights, good.weights + 1);
    table.n_programs = table.n_weights = 1;
    table.programs = programs.data();
    programs[0].entries = entries.data();
    entries[0].inputs = ports.data();
    table.weights = weights.data();
    change(table, programs[0], entries[0], ports[0], weights[0]);
    return messageOf(checkModule(table));
  };
  using M = tfc_module_v0;
  using P = tfc_program_v0;
  using E = tfc_entry_v0;
  using I = tfc_port_v0;
  using W = tfc_weight_v0;
  EXPECT_EQ(broken([](M &, P &, E &, I &, W &) {}), "");
  std::string start = "malformed library: expected ";
  EXPECT_EQ(broken([](M &m, P &, E &, I &, W &) { m.programs = nullptr; }),
            start + "at least one program");
  EXPECT_EQ(broken([](M &m, P &, E &, I &, W &) { m.spec_json = nullptr; }),
            start + "a model with a name, a producer and a spec");
  EXPECT_EQ(broken([](M &m, P &, E &, I &, W &) { m.eos = nullptr; }),
            start + "tables of the lengths it states");
  EXPECT_EQ(broken([](M &, P &p, E &, I &, W &) { p.pack = nullptr; }),
            start + "programs with a name, entries and a pack function");
  EXPECT_EQ(broken([](M &, P &, E &e, I &, W &) { e.query_rows = 0; }),
            start + "entries with functions, inputs and outputs");
  EXPECT_EQ(broken([](M &, P &, E &e, I &, W &) { e.self.block_bytes = 0; }),
            start + "cache blocks that hold something");
  EXPECT_EQ(broken([](M &, P &, E &, I &i, W &) { i.name = nullptr; }),
            start + "a port with a name and a width");
  EXPECT_EQ(broken([](M &, P &, E &, I &i, W &) { i.dtype = 0; }),
            start + "inputs of dtype i32");
  EXPECT_EQ(broken([](M &, P &, E &, I &i, W &) { i.fill = 9; }),
            start + "known kinds of rows");
  EXPECT_EQ(broken([](M &, P &, E &, I &i, W &) { i.width = 2; }),
            start + "one value a token");
  EXPECT_EQ(broken([](M &, P &, E &, I &, W &w) { w.layers = 0; }),
            start + "weights with a name, patterns and layers");
  EXPECT_EQ(broken([](M &, P &, E &, I &, W &w) { w.first_row = 1; }),
            start + "weight embed within its stored tensor");
  EXPECT_EQ(broken([](M &, P &, E &, I &, W &w) {
              w.flags = TFC_WEIGHT_TIED;
              w.tied_to = 1;
            }),
            start + "weight embed to be tied to a weight");
}

TEST(Module, KnowsThisMachine) {
  uint64_t features = machineFeatures();
  EXPECT_EQ(features & (features + 1), 0U) << "levels are cumulative";
  EXPECT_EQ(missingFeatures(features), "an unknown instruction set");
}

class CApi : public ::testing::Test {
protected:
  void SetUp() override {
    writeTensors(folder / "model.safetensors", FakeWeights().stored());
    weightsPath = folder.path.string();
    options.struct_size = sizeof(options);
    options.weights_path = weightsPath.c_str();
  }
  void TearDown() override { tfc_model_free(model); }

  void load(const std::string &variant) {
    std::string path = fakeLibrary(variant);
    options.library_path = path.c_str();
    tfc_error *error = tfc_model_load(&options, &model);
    ASSERT_EQ(error, nullptr) << tfc_error_message(error);
  }

  /// Frees the error.
  static std::string text(tfc_error *error) {
    std::string message = tfc_error_message(error);
    tfc_error_free(error);
    return message;
  }

  Folder folder;
  std::string weightsPath;
  tfc_model_options options{};
  tfc_model *model = nullptr;
};

TEST_F(CApi, DescribesTheModel) {
  load("encoder");
  tfc_model_info info{};
  info.struct_size = sizeof(info);
  EXPECT_EQ(text(tfc_model_get_info(model, &info)), "");
  EXPECT_STREQ(info.name, "fake");
  EXPECT_STREQ(info.kind, "encoder");
  EXPECT_EQ(info.max_positions, 16);
  EXPECT_EQ(info.spec_hash, 1234U);
  EXPECT_EQ(info.can_generate, 0);
  ASSERT_EQ(info.n_inputs, 3U);
  EXPECT_STREQ(info.inputs[0].name, "input_ids");
  EXPECT_EQ(info.inputs[0].required, 1);
  EXPECT_EQ(info.inputs[0].limit, 32);
  ASSERT_EQ(info.n_outputs, 3U);
  EXPECT_EQ(info.outputs[0].rank, 3U);
  EXPECT_EQ(info.outputs[1].rank, 2U);
  EXPECT_EQ(info.outputs[2].rank, 2U);
  EXPECT_EQ(info.cache_bytes_per_token, 16U);
  EXPECT_GT(info.weight_bytes, 0U);
  EXPECT_GE(info.threads, 1U);
  // A caller of an older version, whose struct ended after the name.
  tfc_model_info old{};
  old.struct_size = offsetof(tfc_model_info, kind);
  EXPECT_EQ(text(tfc_model_get_info(model, &old)), "");
  EXPECT_STREQ(old.name, "fake");
  EXPECT_EQ(old.kind, nullptr);
  old.struct_size = 0;
  EXPECT_EQ(text(tfc_model_get_info(model, &old)),
            "expected struct_size to be set, got 0");
}

TEST_F(CApi, RefusesNull) {
  load("decoder");
  tfc_outputs *outputs = nullptr;
  tfc_session *session = nullptr;
  tfc_encode_options encode{};
  tfc_generate_options generate{};
  std::string null = "expected arguments, got null";
  std::string unset = "expected options with struct_size set, got none";
  EXPECT_EQ(text(tfc_model_load(nullptr, &model)), unset);
  EXPECT_EQ(text(tfc_encode(model, nullptr, &outputs)), unset);
  EXPECT_EQ(text(tfc_encode(model, &encode, &outputs)), unset);
  EXPECT_EQ(text(tfc_generate(model, &generate, nullptr, nullptr, &outputs)),
            unset);
  encode.struct_size = sizeof(encode);
  EXPECT_EQ(text(tfc_encode(nullptr, &encode, &outputs)), null);
  EXPECT_EQ(text(tfc_encode(model, &encode, nullptr)), null);
  encode.n_inputs = 1;
  EXPECT_EQ(text(tfc_encode(model, &encode, &outputs)),
            "expected inputs, got null");
  EXPECT_EQ(text(tfc_session_create(nullptr, nullptr, &session)), null);
  EXPECT_EQ(text(tfc_session_step(nullptr, nullptr)), null);
  EXPECT_EQ(text(tfc_session_remove(nullptr, 1)), null);
  EXPECT_EQ(tfc_error_code(nullptr), 0);
  EXPECT_STREQ(tfc_error_message(nullptr), "");
  EXPECT_EQ(tfc_outputs_count(nullptr), 0U);
  EXPECT_EQ(tfc_outputs_get(nullptr, 0), nullptr);
  tfc_error_free(nullptr);
  tfc_session_free(nullptr);
  tfc_outputs_free(nullptr);
}

TEST_F(CApi, CodesAndVersions) {
  std::string missing = folder / "missing.so";
  options.library_path = missing.c_str();
  tfc_error *error = tfc_model_load(&options, &model);
  EXPECT_EQ(tfc_error_code(error), TFC_NOT_FOUND);
  tfc_error_free(error);
  options.threads = 5000;
  error = tfc_model_load(&options, &model);
  EXPECT_EQ(tfc_error_code(error), TFC_INVALID_ARGUMENT);
  tfc_error_free(error);
  EXPECT_EQ(tfc_abi_version(), TFC_ABI_VERSION);
  EXPECT_STRNE(tfc_version(), "");
}

TEST_F(CApi, SessionsStep) {
  load("decoder");
  tfc_session *session = nullptr;
  EXPECT_EQ(text(tfc_session_create(model, nullptr, &session)), "");
  int64_t tokens[] = {7, 8, 9};
  tfc_request request{};
  request.struct_size = sizeof(request);
  request.tokens = tokens;
  request.n_tokens = 3;
  request.max_new_tokens = 2;
  request.own_eos = 1;
  tfc_sequence_id id = 0;
  EXPECT_EQ(text(tfc_session_add(session, &request, &id)), "");
  EXPECT_NE(id, 0U);
  tfc_step_result result{};
  result.struct_size = sizeof(result);
  for (int step = 0; step < 2; ++step) {
    EXPECT_EQ(text(tfc_session_step(session, &result)), "");
    ASSERT_EQ(result.n_tokens, 1U);
    EXPECT_EQ(result.tokens[0].sequence, id);
  }
  EXPECT_EQ(result.tokens[0].state, TFC_LENGTH_REACHED);
  EXPECT_EQ(text(tfc_session_step(session, &result)), "");
  EXPECT_EQ(result.n_tokens, 0U);
  EXPECT_EQ(text(tfc_session_remove(session, id)),
            concat("expected a sequence of the session, got ", id));
  tfc_session_free(session);
}

TEST_F(CApi, ReportsTaps) {
  std::vector<std::pair<int64_t, std::vector<float>>> taps;
  options.tap = [](void *user, const char *id, int64_t layer, int64_t rows,
                   int64_t width, const float *data) {
    EXPECT_STREQ(id, "layers.out");
    static_cast<std::vector<std::pair<int64_t, std::vector<float>>> *>(user)
        ->push_back({layer, std::vector<float>(data, data + rows * width)});
  };
  options.tap_user = &taps;
  load("taps");
  int64_t ids[] = {7, 8};
  tfc_tensor input{"input_ids", TFC_I64, 2, {1, 2, 0}, ids};
  tfc_encode_options encode{};
  encode.struct_size = sizeof(encode);
  encode.inputs = &input;
  encode.n_inputs = 1;
  tfc_outputs *outputs = nullptr;
  EXPECT_EQ(text(tfc_encode(model, &encode, &outputs)), "");
  ASSERT_EQ(taps.size(), 2U);
  EXPECT_EQ(taps[1].first, 1);
  const tfc_tensor *hidden = tfc_outputs_find(outputs, "last_hidden_state");
  ASSERT_NE(hidden, nullptr);
  const float *values = static_cast<const float *>(hidden->data);
  EXPECT_EQ(taps[1].second, std::vector<float>(values, values + 8));
  EXPECT_EQ(tfc_outputs_find(outputs, "none"), nullptr);
  EXPECT_EQ(tfc_outputs_get(outputs, 3), nullptr);
  tfc_outputs_free(outputs);
}

} // namespace
} // namespace tfc::rt::test
