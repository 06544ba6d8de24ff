// Prints tokenizer.json by hand where it is long: a tree of a hundred thousand
// tokens in the order of their ids would be slow to make.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/WriteTokenizer.h"

#include "runtime/src/files/gguf/GgufFile.h"
#include "runtime/text/GgufTokenizer.h"
#include "runtime/text/ReadTokenizer.h"
#include "runtime/text/TokenizerClasses.h"

#include <algorithm>
#include <filesystem>

namespace tfc::text {

using nlohmann::json;

namespace {

/// A list's or an object's values, a line each.
template <typename Values, typename Print>
std::string printLines(const char *brackets, const Values &values,
                       Print print) {
  std::string out(1, brackets[0]);
  const char *between = "\n      ";
  for (const auto &value : values) {
    out += between + print(value);
    between = ",\n      ";
  }
  return out + "\n    " + brackets[1];
}

std::string printVocabulary(const TokenizerFile &file) {
  using Entry = Vocabulary::Entry;
  if (file.isScored) {
    return printLines("[]", file.vocabulary, [](const Entry &entry) {
      return json::array({entry.text, entry.score}).dump();
    });
  }
  std::vector<Entry> entries = file.vocabulary;
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return a.id < b.id; });
  return printLines("{}", entries, [](const Entry &entry) {
    return json(entry.text).dump() + ": " + std::to_string(entry.id);
  });
}

std::string printModel(const TokenizerFile &file) {
  std::string out = "{\n";
  for (const auto &[key, value] : file.rest.at("model").items()) {
    out += "    " + json(key).dump() + ": " + value.dump() + ",\n";
  }
  out += "    \"vocab\": " + printVocabulary(file);
  if (file.hasMerges) {
    out += ",\n    \"merges\": " +
           printLines("[]", file.merges, [](const Merge &merge) {
             return json::array({merge.first, merge.second}).dump();
           });
  }
  return out + "\n  }";
}

} // namespace

std::string printTokenizerFile(const TokenizerFile &file) {
  std::string out = "{\n";
  for (const char *key :
       {"version", "truncation", "padding", "added_tokens", "normalizer",
        "pre_tokenizer", "post_processor", "decoder"}) {
    json value = file.rest.value(key, json());
    out += "  \"" + std::string(key) + "\": ";
    out += value.is_array()
               ? printLines("[]", value,
                            [](const json &item) { return item.dump(); })
               : value.dump();
    out += ",\n";
  }
  return out + "  \"model\": " + printModel(file) + "\n}\n";
}

rt::Result<std::string> makeTokenizerText(const std::string &folder) {
  // Whatever is wrong with it is wrong here, too.
  auto tokenizer = readTokenizer(folder);
  if (!tokenizer) {
    return std::move(tokenizer.error());
  }
  if (isGgufAlone(folder)) {
    auto made = makeGgufTokenizer(folder);
    return made ? rt::Result<std::string>(printTokenizerFile(*made))
                : rt::Result<std::string>(std::move(made.error()));
  }
  std::string own = folder + "/tokenizer.json";
  if (std::filesystem::exists(own)) {
    return readTokenizerBytes(own);
  }
  auto files = readFolderFiles(folder);
  if (!files) {
    return std::move(files.error());
  }
  auto made = makeTokenizerFile(*files);
  if (!made) {
    return std::move(made.error());
  }
  if (!made->pieces.empty()) {
    return rt::makeError(
        rt::Code::Unsupported, folder,
        ": expected a vocabulary that a tokenizer.json can have, got pieces ",
        "of sentencepiece with the ids of a vocab.json (the folder itself is ",
        "read)");
  }
  return printTokenizerFile(*made);
}

std::vector<std::string> listTokenizerInputs(const std::string &folder) {
  if (isGgufAlone(folder)) {
    auto file = rt::GgufFile::open(folder);
    return file ? (*file)->paths() : std::vector<std::string>{folder};
  }
  std::vector<std::string> paths = {folder + "/tokenizer.json"};
  for (const char *name : tokenizerFileNames) {
    paths.push_back(folder + "/" + name);
  }
  return paths;
}

} // namespace tfc::text
