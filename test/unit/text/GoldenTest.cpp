// Small tokenizers of every kind of pipeline against what Hugging Face's
// `tokenizers` made of the same texts (make_golden.py).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/DecodeStream.h"
#include "runtime/text/ReadTokenizer.h"
#include "runtime/text/WriteTokenizer.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tfc::text::test {
namespace {

using nlohmann::json;

void expectCase(const Tokenizer &tokenizer, const json &one) {
  std::string text = one["text"];
  std::optional<std::string> pair;
  if (one["pair"].is_string()) {
    pair = one["pair"].get<std::string>();
  }
  EncodeOptions options;
  options.truncation.maxTokens = one["cut"];
  auto tokens = tokenizer.encode(text, pair, options);
  ASSERT_TRUE(tokens) << tokens.error().message;
  std::vector<uint32_t> ids, types, offsets;
  for (const Token &token : *tokens) {
    ids.push_back(token.id);
    types.push_back(token.type);
    offsets.push_back(token.origin.begin);
    offsets.push_back(token.origin.end);
  }
  EXPECT_EQ(ids, one["ids"].get<std::vector<uint32_t>>());
  EXPECT_EQ(types, one["types"].get<std::vector<uint32_t>>());
  EXPECT_EQ(offsets, one["offsets"].get<std::vector<uint32_t>>());
  for (bool skips : {true, false}) {
    std::string wanted = one[skips ? "decoded" : "whole"];
    EXPECT_EQ(*tokenizer.decode(ids, skips), wanted);
    // A cut may leave parts of characters, of which a stream shows the whole.
    if (options.truncation.maxTokens != 0) {
      continue;
    }
    DecodeStream stream(tokenizer, skips);
    std::string shown;
    for (uint32_t id : ids) {
      shown += *stream.push(id);
    }
    EXPECT_EQ(shown + *stream.finish(), wanted);
  }
}

TEST(Golden, PipelinesGiveWhatTokenizersGives) {
  std::ifstream file(GOLDEN);
  int numPipelines = 0;
  for (std::string line; std::getline(file, line); ++numPipelines) {
    json pipeline = json::parse(line);
    SCOPED_TRACE(pipeline["name"]);
    auto tokenizer = parseTokenizer(pipeline["tokenizer"].get<std::string>());
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    // As it is printed it is the same, and stays so.
    auto parsed = parseTokenizerFile(pipeline["tokenizer"].get<std::string>());
    ASSERT_TRUE(parsed);
    std::string printed = printTokenizerFile(*parsed);
    auto again = parseTokenizer(printed);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(printTokenizerFile(*parseTokenizerFile(printed)), printed);
    for (const json &one : pipeline["cases"]) {
      SCOPED_TRACE(one["text"].dump());
      expectCase(**tokenizer, one);
      expectCase(**again, one);
    }
  }
  EXPECT_EQ(numPipelines, 11);
}

} // namespace
} // namespace tfc::text::test
