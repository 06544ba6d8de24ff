// Reads the parts of tokenizer.json and puts them together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/ReadTokenizer.h"

#include "runtime/src/OpenFile.h"
#include "runtime/text/ReadParts.h"

namespace tfc::text {

// Ten times what the largest ones have.
static constexpr uint64_t maxFileBytes = uint64_t(1) << 28;

static TokenizerParts readAll(TokenizerFile &file) {
  FileNode root(file.rest, "");
  root.allow({"version", "truncation", "padding", "added_tokens", "normalizer",
              "pre_tokenizer", "post_processor", "decoder", "model"});
  root.word("version", {"1.0"}, size_t(0));
  if (!root.has("model")) {
    root.at("model").fail("a model");
  }
  TokenizerParts parts;
  parts.normalizer = readNormalizer(root.at("normalizer"));
  parts.preTokenizer = readPreTokenizer(root.at("pre_tokenizer"));
  readPostProcessor(root.at("post_processor"), parts.postProcessor);
  if (root.has("decoder")) {
    readDecoder(root.at("decoder"), parts.decoders);
    parts.hasDecoder = true;
  }
  parts.model = readModel(root.at("model"), file);
  FileNode added = root.at("added_tokens");
  parts.added = unwrap(
      added,
      AddedTokens::make(readAddedTokens(added, parts.model->vocabulary()),
                        parts.normalizer.get()));
  return parts;
}

rt::Result<std::unique_ptr<Tokenizer>> parseTokenizer(std::string_view text) {
  auto file = parseTokenizerFile(text);
  if (!file) {
    return std::move(file.error());
  }
  try {
    return std::make_unique<Tokenizer>(readAll(*file));
  } catch (const FileFault &fault) {
    return fault.error;
  }
}

rt::Result<std::unique_ptr<Tokenizer>> readTokenizer(const std::string &path) {
  auto file = rt::OpenFile::open(path);
  if (!file) {
    return std::move(file.error());
  }
  if (!file->isRegular() || file->size() > maxFileBytes) {
    return rt::makeError(rt::Code::InvalidArgument, path,
                         ": expected a file of at most ", maxFileBytes,
                         " bytes, got something else");
  }
  std::string text(file->size(), '\0');
  rt::Status status = file->read(text.data(), text.size(), 0);
  if (!status) {
    return std::move(status.error());
  }
  auto tokenizer = parseTokenizer(text);
  if (!tokenizer) {
    tokenizer.error().message = path + ": " + tokenizer.error().message;
  }
  return tokenizer;
}

} // namespace tfc::text
