// The C API as a C program sees it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/FakeModel.h"

#include <cstddef>
#include <fstream>

namespace tfc::rt::test {
namespace {

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
  EXPECT_EQ(info.packed_fault, nullptr);
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
            "expected struct_size from 8 to 4096 (sizeof the struct), got 0");
}

TEST_F(CApi, RefusesNull) {
  load("decoder");
  tfc_outputs *outputs = nullptr;
  tfc_session *session = nullptr;
  tfc_encode_options encode{};
  tfc_generate_options generate{};
  std::string null = "expected arguments, got null";
  EXPECT_EQ(text(tfc_model_load(nullptr, &model)),
            "expected tfc_model_options, got null");
  EXPECT_EQ(text(tfc_encode(model, nullptr, &outputs)),
            "expected tfc_encode_options, got null");
  EXPECT_EQ(text(tfc_encode(model, &encode, &outputs)),
            "expected struct_size of tfc_encode_options from 32 to 4096 "
            "(sizeof the struct), got 0");
  EXPECT_EQ(text(tfc_generate(model, &generate, nullptr, nullptr, &outputs)),
            "expected struct_size of tfc_generate_options from 56 to 4096 "
            "(sizeof the struct), got 0");
  encode.struct_size = sizeof(encode);
  EXPECT_EQ(text(tfc_encode(nullptr, &encode, &outputs)), null);
  EXPECT_EQ(text(tfc_encode(model, &encode, nullptr)), null);
  encode.n_inputs = 1;
  EXPECT_EQ(text(tfc_encode(model, &encode, &outputs)),
            "expected inputs, got null");
  EXPECT_EQ(text(tfc_session_create(nullptr, nullptr, &session)), null);
  EXPECT_EQ(text(tfc_session_step(nullptr, nullptr)), null);
  EXPECT_EQ(text(tfc_decoding_init(nullptr, nullptr)), null);
  EXPECT_EQ(text(tfc_session_remove(nullptr, 1)), null);
  EXPECT_EQ(tfc_error_code(nullptr), 0);
  EXPECT_STREQ(tfc_error_message(nullptr), "");
  EXPECT_EQ(tfc_outputs_count(nullptr), 0U);
  EXPECT_EQ(tfc_outputs_get(nullptr, 0), nullptr);
  tfc_error_free(nullptr);
  tfc_session_free(nullptr);
  tfc_outputs_free(nullptr);
  tfc_model_trim(nullptr);
}

/// Memory of the process that lies in no file.
uint64_t residentBytes() {
  uint64_t all = 0, resident = 0, shared = 0;
  std::ifstream("/proc/self/statm") >> all >> resident >> shared;
  return (resident - shared) * 4096;
}

TEST_F(CApi, TrimGivesBackWhatABatchNeeded) {
  load("decoder");
  // Logits of 32 floats a token: 20 MB.
  std::vector<int64_t> ids(size_t(16) * 10000, 7);
  tfc_tensor input{"input_ids", TFC_I64, 2, {10000, 16, 0}, ids.data()};
  tfc_encode_options encode{};
  encode.struct_size = sizeof(encode);
  encode.inputs = &input;
  encode.n_inputs = 1;
  for (int round = 0; round < 2; ++round) {
    tfc_outputs *outputs = nullptr;
    EXPECT_EQ(text(tfc_encode(model, &encode, &outputs)), "");
    tfc_outputs_free(outputs);
    uint64_t before = residentBytes();
    tfc_model_trim(model);
    EXPECT_GE(before, residentBytes() + (uint64_t(16) << 20));
  }
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

TEST_F(CApi, TakesHowTokensAreChosen) {
  load("decoder");
  tfc_model_info info{};
  info.struct_size = sizeof(info);
  EXPECT_EQ(text(tfc_model_get_info(model, &info)), "");
  ASSERT_NE(info.decoding, nullptr);
  EXPECT_EQ(info.decoding->num_beams, 1U);
  EXPECT_EQ(info.decoding->struct_size, sizeof(tfc_decoding_options));
  int64_t tokens[] = {7, 8, 9};
  tfc_tensor input{"input_ids", TFC_I64, 2, {1, 3, 0}, tokens};
  tfc_decoding_options decoding = *info.decoding;
  decoding.num_beams = 3;
  tfc_generate_options options{};
  options.struct_size = sizeof(options);
  options.inputs = &input;
  options.n_inputs = 1;
  options.max_new_tokens = 4;
  options.decoding = &decoding;
  tfc_outputs *outputs = nullptr;
  EXPECT_EQ(text(tfc_generate(model, &options, nullptr, nullptr, &outputs)),
            "");
  EXPECT_NE(tfc_outputs_find(outputs, "sequences_scores"), nullptr);
  tfc_outputs_free(outputs);
  // A caller that was compiled before decoding existed.
  options.struct_size = offsetof(tfc_generate_options, decoding);
  EXPECT_EQ(text(tfc_generate(model, &options, nullptr, nullptr, &outputs)),
            "");
  EXPECT_EQ(tfc_outputs_find(outputs, "sequences_scores"), nullptr);
  tfc_outputs_free(outputs);
  options.struct_size = sizeof(options);

  tfc_session *session = nullptr;
  EXPECT_EQ(text(tfc_session_create(model, nullptr, &session)), "");
  tfc_request request{};
  request.struct_size = sizeof(request);
  request.tokens = tokens;
  request.n_tokens = 3;
  request.max_new_tokens = 2;
  request.decoding = &decoding;
  tfc_sequence_id id = 0;
  tfc_error *error = tfc_session_add(session, &request, &id);
  EXPECT_EQ(tfc_error_code(error), TFC_UNSUPPORTED);
  EXPECT_EQ(text(error), "expected one beam and one returned sequence in a "
                         "session, got 3 and 1");
  decoding = *info.decoding;
  decoding.do_sample = 1;
  EXPECT_EQ(text(tfc_session_add(session, &request, &id)), "");
  decoding.temperature = 0;
  EXPECT_EQ(text(tfc_session_add(session, &request, &id)),
            "temperature: expected a number above 0, got 0");
  decoding.struct_size = 8;
  std::string unset = "expected struct_size of tfc_decoding_options from 120 "
                      "to 4096 (sizeof the struct), got 8";
  EXPECT_EQ(text(tfc_session_add(session, &request, &id)), unset);
  EXPECT_EQ(text(tfc_generate(model, &options, nullptr, nullptr, &outputs)),
            unset);
  tfc_session_free(session);
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

TEST_F(CApi, SessionsTakeWhatARequestAsks) {
  load("decoder");
  tfc_session_options how{};
  how.struct_size = sizeof(how);
  how.max_cache_bytes = 1 << 20;
  how.max_step_tokens = 2;
  tfc_session *session = nullptr;
  ASSERT_EQ(text(tfc_session_create(model, &how, &session)), "");
  // The session keeps what it needs.
  tfc_model_free(model);
  model = nullptr;
  int64_t tokens[] = {7, 8, 9};
  tfc_request request{};
  request.struct_size = sizeof(request);
  request.tokens = tokens;
  request.n_tokens = 3;
  request.max_new_tokens = 5;
  request.own_eos = 1;
  tfc_logit_bias bias{17, 1e6f, 0};
  request.logit_bias = &bias;
  request.n_logit_bias = 1;
  request.n_logprobs = 2;
  const int64_t twice[] = {17, 17};
  tfc_token_list stop{twice, 2};
  request.stops = &stop;
  request.n_stops = 1;
  tfc_sequence_id id = 0, fork = 0;
  ASSERT_EQ(text(tfc_session_add(session, &request, &id)), "");
  tfc_session_info info{};
  info.struct_size = sizeof(info);
  EXPECT_EQ(text(tfc_session_get_info(session, &info)), "");
  EXPECT_EQ(info.n_sequences, 1U);
  EXPECT_EQ(info.cache_bytes, 0U);
  EXPECT_EQ(info.max_cache_bytes, 1U << 20);
  tfc_step_result result{};
  result.struct_size = sizeof(result);
  EXPECT_EQ(text(tfc_session_step(session, &result)), "");
  EXPECT_EQ(result.n_tokens, 0U);
  EXPECT_EQ(result.n_sequences, 1U);
  EXPECT_EQ(text(tfc_session_step(session, &result)), "");
  ASSERT_EQ(result.n_tokens, 1U);
  EXPECT_EQ(result.tokens[0].token, 17);
  ASSERT_TRUE(result.logprobs);
  EXPECT_EQ(result.logprobs[0].n, 2U);
  EXPECT_LE(result.logprobs[0].chosen, result.logprobs[0].values[0]);
  EXPECT_EQ(text(tfc_session_fork(session, id, nullptr, &fork)), "");
  EXPECT_EQ(text(tfc_session_get_info(session, &info)), "");
  EXPECT_EQ(info.n_sequences, 2U);
  EXPECT_EQ(info.cache_bytes, 4 * 32U); // a block of 4 positions, shared
  // One that knows only the first version of the result.
  tfc_step_result older{};
  older.struct_size = offsetof(tfc_step_result, logprobs);
  EXPECT_EQ(text(tfc_session_step(session, &older)), "");
  ASSERT_EQ(older.n_tokens, 2U);
  EXPECT_EQ(older.tokens[0].state, TFC_STOPPED);
  EXPECT_EQ(older.tokens[1].sequence, fork);
  EXPECT_EQ(older.tokens[1].state, TFC_STOPPED);
  EXPECT_EQ(older.n_sequences, 0U);
  tfc_session_free(session);
}

TEST_F(CApi, SessionsSayWhatARequestMayNotAsk) {
  load("decoder");
  tfc_session *session = nullptr;
  ASSERT_EQ(text(tfc_session_create(model, nullptr, &session)), "");
  int64_t tokens[] = {7, 8, 9};
  tfc_request good{};
  good.struct_size = sizeof(good);
  good.tokens = tokens;
  good.n_tokens = 3;
  good.max_new_tokens = 5;
  tfc_sequence_id id = 0;
  auto refused = [&](auto change) {
    tfc_request request = good;
    change(request);
    return text(tfc_session_add(session, &request, &id));
  };
  EXPECT_EQ(refused([](tfc_request &) {}), "");
  std::string null = "expected arguments, got null";
  EXPECT_EQ(refused([](tfc_request &r) { r.n_stops = 1; }), null);
  EXPECT_EQ(refused([](tfc_request &r) { r.n_logit_bias = 1; }), null);
  EXPECT_EQ(refused([](tfc_request &r) { r.n_head_rows = 1; }), null);
  EXPECT_EQ(refused([&](tfc_request &r) {
              r.head_rows = tokens;
              r.n_head_rows = 2;
              r.echo = 1;
            }),
            "head_rows: expected none with echo (which is of all tokens), got "
            "2");
  tfc_token_list empty{tokens, 0};
  EXPECT_EQ(refused([&](tfc_request &r) {
              r.stops = &empty;
              r.n_stops = 1;
              r.n_logprobs = 1025;
            }),
            "stops: expected at least 1 token in number 0, got 0\n"
            "n_logprobs: expected at most 1024, got 1025");
  tfc_logit_bias bias{3, 1, 1};
  EXPECT_EQ(refused([&](tfc_request &r) {
              r.logit_bias = &bias;
              r.n_logit_bias = 1;
            }),
            "reserved: expected 0, got 1");
  tfc_fork_options how{};
  EXPECT_EQ(text(tfc_session_fork(session, id, &how, &id)),
            "expected struct_size of tfc_fork_options from 16 to 4096 (sizeof "
            "the struct), got 0");
  EXPECT_EQ(text(tfc_session_fork(session, 77, nullptr, &id)),
            "expected a sequence of the session, got 77");
  EXPECT_EQ(text(tfc_session_fork(session, id, nullptr, nullptr)), null);
  EXPECT_EQ(text(tfc_session_get_info(session, nullptr)), null);
  tfc_session_free(session);
}

TEST_F(CApi, CallsStopWhenTheCallerSays) {
  load("decoder");
  int64_t ids[] = {7, 8, 9};
  tfc_tensor input{"input_ids", TFC_I64, 2, {1, 3, 0}, ids};
  auto stopAtOnce = [](void *) { return 1; };
  tfc_encode_options encode{};
  encode.struct_size = sizeof(encode);
  encode.inputs = &input;
  encode.n_inputs = 1;
  encode.should_stop = stopAtOnce;
  tfc_outputs *outputs = nullptr;
  tfc_error *error = tfc_encode(model, &encode, &outputs);
  EXPECT_EQ(tfc_error_code(error), TFC_CANCELLED);
  EXPECT_EQ(text(error), "stopped by the caller (should_stop)");
  EXPECT_FALSE(outputs);
  for (uint32_t beams : {1, 2}) {
    tfc_decoding_options decoding{};
    decoding.struct_size = sizeof(decoding);
    ASSERT_EQ(text(tfc_decoding_init(model, &decoding)), "");
    decoding.num_beams = beams;
    tfc_generate_options generate{};
    generate.struct_size = sizeof(generate);
    generate.inputs = &input;
    generate.n_inputs = 1;
    generate.max_new_tokens = 4;
    generate.decoding = &decoding;
    generate.should_stop = stopAtOnce;
    error = tfc_generate(model, &generate, nullptr, nullptr, &outputs);
    EXPECT_EQ(tfc_error_code(error), TFC_CANCELLED);
    tfc_error_free(error);
    generate.should_stop = nullptr;
    EXPECT_EQ(text(tfc_generate(model, &generate, nullptr, nullptr, &outputs)),
              "");
    tfc_outputs_free(outputs);
    outputs = nullptr;
  }
}

TEST_F(CApi, DescribesAnEncoderDecoder) {
  load("shifting");
  tfc_model_info info{};
  info.struct_size = sizeof(info);
  EXPECT_EQ(text(tfc_model_get_info(model, &info)), "");
  EXPECT_STREQ(info.kind, "encoder-decoder");
  std::vector<std::string> inputs, outputs;
  for (uint32_t i = 0; i < info.n_inputs; ++i) {
    inputs.push_back(info.inputs[i].name);
    EXPECT_EQ(info.inputs[i].required, i == 0) << inputs.back();
  }
  for (uint32_t i = 0; i < info.n_outputs; ++i) {
    outputs.push_back(info.outputs[i].name);
  }
  EXPECT_EQ(inputs, (std::vector<std::string>{"input_ids", "position_ids",
                                              "decoder_input_ids",
                                              "decoder_position_ids"}));
  EXPECT_EQ(outputs, (std::vector<std::string>{"last_hidden_state", "logits",
                                               "start_logits",
                                               "encoder_last_hidden_state"}));
  EXPECT_EQ(info.can_generate, 0);
  // Two layers of four floats, of the decoder and of its source.
  EXPECT_EQ(info.cache_bytes_per_token, 32U);
  EXPECT_EQ(info.cross_bytes_per_token, 32U);
}

TEST_F(CApi, SessionsReadSources) {
  load("translator");
  tfc_session *session = nullptr;
  ASSERT_EQ(text(tfc_session_create(model, nullptr, &session)), "");
  int64_t tokens[] = {7, 8, 9}, begin[] = {2, 4};
  tfc_request request{};
  request.struct_size = sizeof(request);
  request.tokens = tokens;
  request.n_tokens = 3;
  request.max_new_tokens = 1;
  request.own_eos = 1;
  tfc_sequence_id id = 0;
  EXPECT_EQ(text(tfc_session_add(session, &request, &id)), "");
  request.decoder_tokens = begin;
  request.n_decoder_tokens = 2;
  EXPECT_EQ(text(tfc_session_add(session, &request, &id)), "");
  // An older caller does not know the decoder's tokens.
  request.struct_size = offsetof(tfc_request, decoder_tokens);
  EXPECT_EQ(text(tfc_session_add(session, &request, &id)), "");
  tfc_step_result result{};
  result.struct_size = sizeof(result);
  EXPECT_EQ(text(tfc_session_step(session, &result)), "");
  ASSERT_EQ(result.n_tokens, 3U);
  EXPECT_EQ(result.tokens[0].token, result.tokens[2].token);
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
