// Reads the parts of tokenizer.json and puts them together; finds a folder's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/ReadTokenizer.h"

#include "runtime/src/files/OpenFile.h"
#include "runtime/src/files/gguf/GgufFile.h"
#include "runtime/text/GgufTokenizer.h"
#include "runtime/text/ReadParts.h"
#include "runtime/text/TokenizerClasses.h"

#include <filesystem>

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
  bool isOfPieces = !file.pieces.empty();
  parts.normalizer = readNormalizer(root.at("normalizer"), isOfPieces);
  parts.preTokenizer = readPreTokenizer(root.at("pre_tokenizer"));
  readPostProcessor(root.at("post_processor"), parts.postProcessor);
  if (root.has("decoder")) {
    readDecoder(root.at("decoder"), parts.decoders);
    parts.hasDecoder = true;
  }
  parts.model = readModel(root.at("model"), file);
  FileNode added = root.at("added_tokens");
  std::vector<AddedToken> tokens =
      readAddedTokens(added, parts.model->vocabulary());
  for (AddedToken &token : tokens) {
    // The language of a translation is said in front.
    token.onlyFirst = isOfPieces && token.text.compare(0, 2, ">>") == 0;
  }
  parts.added = unwrap(
      added, AddedTokens::make(std::move(tokens), parts.normalizer.get()));
  return parts;
}

static rt::Result<std::unique_ptr<Tokenizer>>
readParts(rt::Result<TokenizerFile> file) {
  if (!file) {
    return std::move(file.error());
  }
  try {
    return std::make_unique<Tokenizer>(readAll(*file));
  } catch (const FileFault &fault) {
    return fault.error;
  }
}

rt::Result<std::unique_ptr<Tokenizer>> parseTokenizer(std::string_view text) {
  return readParts(parseTokenizerFile(text));
}

rt::Result<std::unique_ptr<Tokenizer>> makeTokenizer(const FolderFiles &files) {
  auto file = makeTokenizerFile(files);
  if (!file) {
    return std::move(file.error());
  }
  auto tokenizer = readParts(std::move(file));
  if (!tokenizer) {
    tokenizer.error().message =
        "as a tokenizer.json: " + tokenizer.error().message;
  }
  return tokenizer;
}

rt::Result<std::string> readTokenizerBytes(const std::string &path) {
  auto file = rt::OpenFile::open(path);
  if (!file) {
    return std::move(file.error());
  }
  if (!file->isRegular() || file->size() > maxFileBytes) {
    return rt::makeError(rt::Code::InvalidArgument, path,
                         ": expected a file of at most ", maxFileBytes,
                         " bytes, got something else");
  }
  std::string bytes(file->size(), '\0');
  rt::Status status = file->read(bytes.data(), bytes.size(), 0);
  if (!status) {
    return std::move(status.error());
  }
  return bytes;
}

rt::Result<FolderFiles> readFolderFiles(const std::string &folder) {
  FolderFiles files;
  for (const char *name : tokenizerFileNames) {
    std::string path = folder + "/" + name;
    if (!std::filesystem::exists(path)) {
      continue;
    }
    auto bytes = readTokenizerBytes(path);
    if (!bytes) {
      return std::move(bytes.error());
    }
    files[name] = std::move(*bytes);
  }
  return files;
}

static rt::Result<std::unique_ptr<Tokenizer>>
readFolder(const std::string &folder) {
  auto files = readFolderFiles(folder);
  if (!files) {
    return std::move(files.error());
  }
  auto tokenizer = makeTokenizer(*files);
  if (!tokenizer) {
    tokenizer.error().message = folder + ": " + tokenizer.error().message;
  }
  return tokenizer;
}

bool isGgufAlone(const std::string &path) {
  return rt::isGguf(path) && !std::filesystem::exists(path + "/tokenizer.json");
}

rt::Result<std::unique_ptr<Tokenizer>> readTokenizer(const std::string &path) {
  std::string name = path;
  if (isGgufAlone(path)) {
    auto tokenizer = readParts(makeGgufTokenizer(path));
    if (!tokenizer) {
      tokenizer.error().message = path + ": " + tokenizer.error().message;
    }
    return tokenizer;
  }
  if (std::filesystem::is_directory(path)) {
    name += "/tokenizer.json";
    if (!std::filesystem::exists(name)) {
      return readFolder(path);
    }
  }
  auto text = readTokenizerBytes(name);
  if (!text) {
    return std::move(text.error());
  }
  auto tokenizer = parseTokenizer(*text);
  if (!tokenizer) {
    tokenizer.error().message = name + ": " + tokenizer.error().message;
  }
  return tokenizer;
}

} // namespace tfc::text
