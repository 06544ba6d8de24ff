// Option structs of other versions of the header, older and newer ones.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/FakeModel.h"

#include <cstddef>
#include <cstring>

namespace tfc::rt::test {
namespace {

std::string text(tfc_error *error) {
  std::string message = tfc_error_message(error);
  EXPECT_TRUE(!error || tfc_error_code(error) == TFC_INVALID_ARGUMENT)
      << message;
  tfc_error_free(error);
  return message;
}

class OptionStructs : public ::testing::Test {
protected:
  void SetUp() override {
    writeTensors(folder / "model.safetensors", FakeWeights(5).stored());
    library = fakeLibrary("decoder");
    weights = folder.path.string();
    load.library_path = library.c_str();
    load.weights_path = weights.c_str();
    load.struct_size = sizeof(load);
    ASSERT_EQ(text(tfc_model_load(&load, &model)), "");
    decoding.struct_size = sizeof(decoding);
    ASSERT_EQ(text(tfc_decoding_init(model, &decoding)), "");
    ASSERT_EQ(text(tfc_session_create(model, nullptr, &session)), "");
    generate.struct_size = sizeof(generate);
    generate.inputs = &input;
    generate.n_inputs = 1;
    generate.max_new_tokens = 1;
    request.struct_size = sizeof(request);
    request.tokens = ids;
    request.n_tokens = 3;
    request.max_new_tokens = 1;
  }
  void TearDown() override {
    tfc_session_free(session);
    tfc_model_free(model);
  }

  /// Gives `call` the struct in all sizes from its first version's on, which
  /// are good, whatever lies behind an older one, and in sizes that are not.
  template <typename T, typename Call>
  void tryAllSizes(const char *name, T options, uint64_t firstSize, Call call,
                   bool mayBeNull = false) {
    SCOPED_TRACE(name);
    union {
      T options;
      unsigned char bytes[4104];
    } room;
    auto callWith = [&](uint64_t size, unsigned char beyond) {
      uint64_t known = std::min<uint64_t>(size, sizeof(T));
      std::memset(room.bytes, 0, sizeof(room.bytes));
      std::memcpy(room.bytes, &options, known);
      std::memset(room.bytes + known, beyond, sizeof(room.bytes) - known);
      std::memcpy(room.bytes, &size, sizeof(size));
      return text(call(&room.options));
    };
    std::string expected = concat("expected struct_size of ", name, " from ",
                                  firstSize, " to 4096 (sizeof the struct), ");
    for (uint64_t size = firstSize; size <= sizeof(T); size += 8) {
      EXPECT_EQ(callWith(size, 0xff), "") << size;
    }
    for (uint64_t size : {sizeof(T) + 8, size_t(4096)}) {
      EXPECT_EQ(callWith(size, 0), "") << size;
      EXPECT_EQ(callWith(size, 0xff),
                concat("expected zeros beyond the ", sizeof(T), " bytes of ",
                       name, " that this runtime knows (an option of a newer ",
                       "one), got 255 at byte ", sizeof(T)))
          << size;
    }
    for (uint64_t size :
         {uint64_t(0), firstSize - 8, uint64_t(4104), ~uint64_t(0)}) {
      EXPECT_EQ(callWith(size, 0), expected + concat("got ", size));
    }
    EXPECT_EQ(text(call(nullptr)),
              mayBeNull ? "" : concat("expected ", name, ", got null"));
  }

  Folder folder;
  std::string library, weights;
  tfc_model_options load{};
  tfc_model *model = nullptr;
  tfc_session *session = nullptr;
  int64_t ids[3] = {7, 8, 9};
  tfc_tensor input{"input_ids", TFC_I64, 2, {1, 3, 0}, ids};
  tfc_decoding_options decoding{};
  tfc_generate_options generate{};
  tfc_request request{};
  tfc_sequence_id id = 0;
};

TEST_F(OptionStructs, ComeInAllVersions) {
  tryAllSizes("tfc_model_options", load,
              offsetof(tfc_model_options, packed_path),
              [](const tfc_model_options *options) {
                tfc_model *made = nullptr;
                tfc_error *error = tfc_model_load(options, &made);
                tfc_model_free(made);
                return error;
              });
  tfc_encode_options encode{};
  encode.inputs = &input;
  encode.n_inputs = 1;
  tryAllSizes("tfc_encode_options", encode, 32,
              [&](const tfc_encode_options *options) {
                tfc_outputs *outputs = nullptr;
                tfc_error *error = tfc_encode(model, options, &outputs);
                tfc_outputs_free(outputs);
                return error;
              });
  tryAllSizes("tfc_generate_options", generate,
              offsetof(tfc_generate_options, decoding),
              [&](const tfc_generate_options *options) {
                return tfc_generate(model, options, nullptr, nullptr, nullptr);
              });
  tryAllSizes("tfc_request", request, offsetof(tfc_request, decoding),
              [&](const tfc_request *options) {
                return tfc_session_add(session, options, &id);
              });
}

TEST_F(OptionStructs, ThatMayBeNullComeInAllVersions) {
  tfc_session_options room{};
  room.max_cache_bytes = 4096;
  tryAllSizes(
      "tfc_session_options", room, 16,
      [&](const tfc_session_options *options) {
        tfc_session *made = nullptr;
        tfc_error *error = tfc_session_create(model, options, &made);
        tfc_session_free(made);
        return error;
      },
      true);
  tryAllSizes(
      "tfc_decoding_options", decoding, 120,
      [&](const tfc_decoding_options *options) {
        generate.decoding = options;
        return tfc_generate(model, &generate, nullptr, nullptr, nullptr);
      },
      true);
  tryAllSizes(
      "tfc_decoding_options", decoding, 120,
      [&](const tfc_decoding_options *options) {
        request.decoding = options;
        return tfc_session_add(session, &request, &id);
      },
      true);
}

TEST_F(OptionStructs, AreInitialisedInAllVersions) {
  for (uint64_t size : {16, 64, 120, 128, 136, 4096}) {
    std::vector<uint64_t> words(513, ~uint64_t(0));
    auto *made = reinterpret_cast<tfc_decoding_options *>(words.data());
    made->struct_size = size;
    ASSERT_EQ(text(tfc_decoding_init(model, made)), "");
    EXPECT_EQ(made->struct_size, size);
    EXPECT_EQ(made->forced_bos, -1);
    uint64_t known = std::min<uint64_t>(size, sizeof(decoding));
    EXPECT_EQ(std::memcmp(&made->forced_bos, &decoding.forced_bos, known - 8),
              0);
    for (uint64_t at = known / 8; at < words.size(); ++at) {
      EXPECT_EQ(words[at], at < size / 8 ? 0 : ~uint64_t(0)) << at;
    }
    // What comes out goes in.
    generate.decoding = made;
    if (size >= 120) {
      EXPECT_EQ(text(tfc_generate(model, &generate, nullptr, nullptr, nullptr)),
                "");
    }
  }
  for (uint64_t size : {0, 4104}) {
    tfc_decoding_options made{};
    made.struct_size = size;
    EXPECT_EQ(text(tfc_decoding_init(model, &made)),
              concat("expected struct_size from 8 to 4096 (sizeof the struct), "
                     "got ",
                     size));
  }
}

TEST_F(OptionStructs, PassOverNothing) {
  int64_t eos[] = {1, 2};
  std::string forgotten = "expected own_eos to be set (eos replaces the "
                          "model's end tokens), got 0 and 2 end tokens";
  generate.eos = request.eos = eos;
  generate.n_eos = request.n_eos = 2;
  auto generateText = [&] {
    return text(tfc_generate(model, &generate, nullptr, nullptr, nullptr));
  };
  EXPECT_EQ(generateText(), forgotten);
  EXPECT_EQ(text(tfc_session_add(session, &request, &id)), forgotten);
  generate.own_eos = request.own_eos = 1;
  EXPECT_EQ(generateText(), "");
  EXPECT_EQ(text(tfc_session_add(session, &request, &id)), "");
  generate.reserved = 3;
  decoding.reserved = 4;
  generate.decoding = request.decoding = &decoding;
  EXPECT_EQ(generateText(), "reserved: expected 0, got 3\n"
                            "reserved: expected 0, got 4");
  EXPECT_EQ(text(tfc_session_add(session, &request, &id)),
            "reserved: expected 0, got 4");
  // A length without what has it.
  request.decoding = nullptr;
  request.n_decoder_tokens = 1;
  EXPECT_EQ(text(tfc_session_add(session, &request, &id)),
            "expected arguments, got null");
  tfc_encode_options encode{};
  encode.struct_size = sizeof(encode);
  encode.inputs = &input;
  encode.n_inputs = encode.n_outputs = 1;
  tfc_outputs *outputs = nullptr;
  EXPECT_EQ(text(tfc_encode(model, &encode, &outputs)),
            "expected arguments, got null");
  load.reserved = 5;
  tfc_model *made = nullptr;
  EXPECT_EQ(text(tfc_model_load(&load, &made)), "reserved: expected 0, got 5");
}

} // namespace
} // namespace tfc::rt::test
