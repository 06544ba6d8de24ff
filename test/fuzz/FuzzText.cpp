// Fuzzes tokenizers. The first byte of an input says what the rest is: 'f', the
// number of a small tokenizer and a text for it; 'v', the number of a class and
// its vocabulary; anything else, a tokenizer.json, a null byte and a text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/DecodeStream.h"
#include "runtime/text/ReadTokenizer.h"
#include "runtime/text/TokenizerClasses.h"
#include "runtime/text/Utf8.h"
#include "runtime/text/WriteTokenizer.h"
#include "test/fuzz/Fuzz.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace tfc::fuzz {
namespace {

using namespace tfc::text;

using TokenizerPtr = std::unique_ptr<Tokenizer>;

std::vector<TokenizerPtr> readSmallTokenizers() {
  std::vector<TokenizerPtr> tokenizers;
  std::ifstream file(GOLDEN_TOKENIZERS);
  for (std::string line; std::getline(file, line);) {
    auto tokenizer = parseTokenizer(nlohmann::json::parse(line)["tokenizer"]
                                        .get_ref<const std::string &>());
    expect(static_cast<bool>(tokenizer), "a small tokenizer");
    tokenizers.push_back(std::move(*tokenizer));
  }
  expect(!tokenizers.empty(), "small tokenizers");
  return tokenizers;
}

/// What a stream shows of tokens, as far as it comes.
std::string showAll(const Tokenizer &tokenizer,
                    const std::vector<uint32_t> &ids, bool skips) {
  DecodeStream stream(tokenizer, skips);
  std::string shown;
  auto show = [&](const tfc::rt::Result<std::string> &more) {
    if (!more) {
      expectMessage(more.error().message);
    }
    shown += more ? *more : "";
    return static_cast<bool>(more);
  };
  for (uint32_t id : ids) {
    if (!show(stream.push(id))) {
      return shown;
    }
  }
  show(stream.finish());
  return shown;
}

/// `isGood`: the tokenizer has a token for every byte or an unknown one, and
/// its decoder shows a text's tokens as they come.
void encode(const Tokenizer &tokenizer, std::string_view text, bool isGood) {
  auto tokens = tokenizer.encode(text, text, {});
  if (!tokens) {
    expectMessage(tokens.error().message);
    bool isText = static_cast<bool>(decodeUtf8(text));
    expect(!isGood || !isText, "tokens", tokens.error().message);
    return;
  }
  size_t length = decodeUtf8(text)->size();
  std::vector<uint32_t> ids;
  for (const Token &token : *tokens) {
    expect(token.origin.begin <= token.origin.end && token.origin.end <= length,
           "a place in the text", text);
    expect(token.id < tokenizer.limit() || token.sequence < 0,
           "an id below the limit");
    ids.push_back(token.id);
  }
  for (bool skips : {false, true}) {
    auto whole = tokenizer.decode(ids, skips);
    if (!whole) {
      expectMessage(whole.error().message);
      expect(!isGood, "a text", whole.error().message);
      continue;
    }
    expect(static_cast<bool>(decodeUtf8(*whole)), "UTF-8", *whole);
    expect(!isGood || showAll(tokenizer, ids, skips) == *whole,
           "a stream as the whole", *whole);
  }
}

/// Two files have a byte 0xff between them, which is none of theirs.
void readVocabulary(uint8_t number, std::string_view bytes) {
  static const struct {
    const char *name, *first, *second;
  } classes[] = {{"BertTokenizer", "vocab.txt", "tokenizer_config.json"},
                 {"GPT2Tokenizer", "vocab.json", "merges.txt"},
                 {"T5Tokenizer", "spiece.model", nullptr},
                 {"LlamaTokenizer", "tokenizer.model", nullptr},
                 {"MBartTokenizer", "spiece.model", nullptr},
                 {"MarianTokenizer", "vocab.json", "source.spm"},
                 {"M2M100Tokenizer", "vocab.json", "sentencepiece.bpe.model"}};
  const auto &of = classes[number % std::size(classes)];
  size_t split = of.second ? bytes.find('\xff') : bytes.npos;
  FolderFiles files = {
      {"tokenizer_config.json", std::string("{\"tokenizer_class\": \"") +
                                    of.name + "\", \"extra_ids\": 2}"}};
  files[of.first] = bytes.substr(0, split);
  if (of.second && split != bytes.npos) {
    files[of.second] = bytes.substr(split + 1);
  }
  auto tokenizer = makeTokenizer(files);
  if (!tokenizer) {
    expectMessage(tokenizer.error().message);
    return;
  }
  // What it stands for can be written, and read again.
  auto made = makeTokenizerFile(files);
  if (made->pieces.empty()) {
    auto again = parseTokenizer(printTokenizerFile(*made));
    expect(static_cast<bool>(again), "a tokenizer.json",
           again ? "" : again.error().message);
  }
  encode(**tokenizer, "time flies  like\n\u00e9\u4e2d</s><extra_id_0>", false);
}

} // namespace
} // namespace tfc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace tfc::fuzz;
  static const std::vector<TokenizerPtr> small = readSmallTokenizers();
  if (size < 2) {
    return 0;
  }
  std::string_view input(reinterpret_cast<const char *>(data) + 1, size - 1);
  if (data[0] == 'f') {
    encode(*small[data[1] % small.size()], input.substr(1), true);
    return 0;
  }
  if (data[0] == 'v') {
    readVocabulary(data[1], input.substr(1));
    return 0;
  }
  size_t end = std::min(input.find('\0'), input.size());
  auto tokenizer = tfc::text::parseTokenizer(input.substr(0, end));
  if (!tokenizer) {
    expectMessage(tokenizer.error().message);
    return 0;
  }
  encode(**tokenizer, input.substr(std::min(end + 1, input.size())), false);
  return 0;
}
