// The C API of tfc/text.h: options that are refused, lifetimes, units of
// offsets, null bytes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/text/SmallTokenizer.h"
#include "tfc/text.h"

#include <fstream>
#include <gtest/gtest.h>

namespace tfc::text::test {
namespace {

std::string messageOf(tfc_error *error) {
  std::string message = tfc_error_message(error);
  tfc_error_free(error);
  return message;
}

class TextApi : public ::testing::Test {
protected:
  void SetUp() override {
    std::string path = ::testing::TempDir() + "tfc-small-tokenizer.json";
    std::ofstream(path) << smallTokenizer();
    ASSERT_EQ(messageOf(tfc_tokenizer_load(path.c_str(), &tokenizer)), "");
    options.struct_size = sizeof(options);
    info.struct_size = sizeof(info);
  }
  void TearDown() override {
    tfc_tokens_free(tokens);
    tfc_tokenizer_free(tokenizer);
  }

  std::string encode(const std::string &text) {
    tfc_tokens_free(tokens);
    tokens = nullptr;
    options.text = text.data();
    options.text_bytes = text.size();
    std::string message =
        messageOf(tfc_tokenizer_encode(tokenizer, &options, &tokens));
    return message.empty() ? messageOf(tfc_tokens_get_info(tokens, &info))
                           : message;
  }

  tfc_tokenizer *tokenizer = nullptr;
  tfc_tokens *tokens = nullptr;
  tfc_tokenize_options options{};
  tfc_tokens_info info{};
};

TEST_F(TextApi, CountsCharactersOrBytes) {
  ASSERT_EQ(encode("\u00e9 time"), "");
  ASSERT_EQ(info.n_tokens, 4U);
  EXPECT_EQ(info.ids[1], 11);
  EXPECT_EQ(info.begins[2], 2);
  EXPECT_EQ(info.ends[2], 6);
  EXPECT_EQ(info.sequences[0], -1);
  options.offsets = TFC_BYTES;
  ASSERT_EQ(encode("\u00e9 time"), "");
  EXPECT_EQ(info.begins[2], 3);
  EXPECT_EQ(info.ends[2], 7);
  EXPECT_EQ(info.begins[0], 0);
}

TEST_F(TextApi, TakesPairsAndNullBytes) {
  options.pair = "an";
  options.pair_bytes = 2;
  ASSERT_EQ(encode(std::string("time\0an", 7)), "");
  ASSERT_EQ(info.n_tokens, 5U);
  EXPECT_EQ(info.type_ids[3], 1);
  EXPECT_EQ(info.ids[1], 0);
}

TEST_F(TextApi, RefusesOptionsThatMeanNothing) {
  options.truncate = 3;
  options.reserved = 1;
  EXPECT_EQ(encode("time"), "truncate: expected at most 2, got 3\n"
                            "reserved: expected at most 0, got 1");
  options = {};
  options.struct_size = 8;
  EXPECT_NE(encode("time"), "");
  EXPECT_EQ(messageOf(tfc_tokenizer_encode(tokenizer, nullptr, &tokens)),
            "expected tfc_tokenize_options, got null");
  options.struct_size = sizeof(options);
  options.text = nullptr;
  options.text_bytes = 3;
  EXPECT_EQ(messageOf(tfc_tokenizer_encode(tokenizer, &options, &tokens)),
            "expected arguments, got null");
  EXPECT_EQ(messageOf(tfc_tokenizer_load(nullptr, &tokenizer)),
            "expected arguments, got null");
}

TEST_F(TextApi, AsksWhetherToStop) {
  options.should_stop = [](void *user) { return ++*static_cast<int *>(user); };
  int asked = 0;
  options.stop_user = &asked;
  EXPECT_EQ(encode(std::string(1 << 20, ' ') + "time"),
            "stopped by the caller (should_stop)");
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(encode("time"), "");
  // A caller that does not know of it.
  options.struct_size = offsetof(tfc_tokenize_options, should_stop);
  EXPECT_EQ(encode(std::string(1 << 20, ' ') + "time"), "");
  EXPECT_EQ(asked, 1);
}

TEST_F(TextApi, KnowsItsTokens) {
  EXPECT_EQ(tfc_tokenizer_limit(tokenizer), 13);
  EXPECT_STREQ(tfc_tokenizer_token(tokenizer, 5), "##ies");
  EXPECT_EQ(tfc_tokenizer_token(tokenizer, -1), nullptr);
  EXPECT_EQ(tfc_tokenizer_token(tokenizer, INT64_MAX), nullptr);
  EXPECT_EQ(tfc_tokenizer_find(tokenizer, "like"), 6);
  EXPECT_EQ(tfc_tokenizer_find(tokenizer, "nothing"), -1);
}

TEST_F(TextApi, DecodesWholeAndAsAStream) {
  int64_t ids[] = {1, 3, 4, -7, 5, 9, 2};
  tfc_text *text = nullptr;
  ASSERT_EQ(messageOf(tfc_tokenizer_decode(tokenizer, ids, 7, 1, &text)), "");
  uint64_t count = 0;
  EXPECT_STREQ(tfc_text_get(text, &count), "time flies.");
  EXPECT_EQ(count, 11U);
  tfc_text_free(text);
  tfc_text_stream *stream = nullptr;
  ASSERT_EQ(messageOf(tfc_text_stream_create(tokenizer, 1, &stream)), "");
  // Twice: a stream that has ended begins anew.
  for (int round = 0; round < 2; ++round) {
    std::string shown;
    const char *part = nullptr;
    for (int64_t id : ids) {
      ASSERT_EQ(messageOf(tfc_text_stream_push(stream, id, &part, &count)), "");
      shown.append(part, count);
    }
    ASSERT_EQ(messageOf(tfc_text_stream_finish(stream, &part, nullptr)), "");
    EXPECT_EQ(shown + part, "time flies.");
  }
  tfc_text_stream_free(stream);
  tfc_text_stream_free(nullptr);
  tfc_text_free(nullptr);
  tfc_tokens_free(nullptr);
  tfc_tokenizer_free(nullptr);
}

} // namespace
} // namespace tfc::text::test
