// vocab.txt; vocab.json and merges.txt; merges that no file has.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/VocabularyFiles.h"

#include "runtime/text/CharacterSet.h"
#include "runtime/text/Utf8.h"

#include <algorithm>

namespace tfc::text {

namespace {

/// Calls with every line, without its end; the error of the first call that
/// has one, or of what is no text.
template <typename Call>
rt::Status forEachLine(std::string_view text, Call call) {
  auto chars = decodeUtf8(text);
  if (!chars) {
    return std::move(chars.error());
  }
  for (size_t number = 1; !text.empty(); ++number) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') {
      line.remove_suffix(1);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
    if (number > maxTokens) {
      return rt::makeError(rt::Code::InvalidArgument, "expected at most ",
                           maxTokens, " lines, got more");
    }
    rt::Status status = call(line, number);
    if (!status) {
      return status;
    }
  }
  return {};
}

std::string withoutSpacesBehind(std::string_view line) {
  static const CharacterSet &space = namedSet("white_space");
  std::u32string chars = decodeChecked(line);
  while (!chars.empty() && space.has(chars.back())) {
    chars.pop_back();
  }
  return encodeUtf8(chars);
}

rt::Error inFile(const char *name, rt::Error error) {
  error.message = std::string(name) + ": " + error.message;
  return error;
}

} // namespace

rt::Result<TokenizerFile> readVocabularyLines(std::string_view text) {
  std::vector<Vocabulary::Entry> lines;
  rt::Status status = forEachLine(text, [&](std::string_view line, size_t) {
    lines.push_back(
        {withoutSpacesBehind(line), static_cast<uint32_t>(lines.size()), 0});
    return rt::Status();
  });
  if (!status) {
    return inFile("vocab.txt", std::move(status.error()));
  }
  std::unordered_map<std::string_view, uint32_t> last;
  for (const Vocabulary::Entry &entry : lines) {
    last[entry.text] = entry.id;
  }
  TokenizerFile file;
  file.hasVocabulary = true;
  for (const Vocabulary::Entry &entry : lines) {
    if (last[entry.text] == entry.id) {
      file.vocabulary.push_back(entry);
    }
  }
  return file;
}

rt::Result<TokenizerFile> readVocabularyAndMerges(std::string_view vocabulary,
                                                  std::string_view merges) {
  auto file = parseVocabulary(vocabulary);
  if (!file) {
    return inFile("vocab.json", std::move(file.error()));
  }
  file->hasMerges = true;
  rt::Status status = forEachLine(merges, [&](std::string_view line,
                                              size_t number) {
    if (line.substr(0, 8) == "#version") {
      return rt::Status();
    }
    size_t space = line.find(' ');
    bool isPair = space != line.npos && space != 0 &&
                  space + 1 != line.size() &&
                  line.find(' ', space + 1) == line.npos;
    if (!isPair) {
      return rt::Status(
          rt::makeError(rt::Code::InvalidArgument, "line ", number,
                        ": expected two tokens with a space between them, got ",
                        rt::quoteName(line)));
    }
    file->merges.emplace_back(line.substr(0, space), line.substr(space + 1));
    return rt::Status();
  });
  if (!status) {
    return inFile("merges.txt", std::move(status.error()));
  }
  return file;
}

std::vector<Merge> makeMerges(const std::vector<Vocabulary::Entry> &entries) {
  std::unordered_map<std::string_view, uint32_t> ids;
  for (const Vocabulary::Entry &entry : entries) {
    ids[entry.text] = entry.id;
  }
  std::vector<Merge> merges;
  for (const Vocabulary::Entry &entry : entries) {
    std::string_view text = entry.text;
    if (ids[text] != entry.id) {
      continue;
    }
    // The shorter the left one the sooner.
    for (size_t at = 1; at < text.size(); ++at) {
      bool isCharacter = (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;
      if (isCharacter && ids.count(text.substr(0, at)) &&
          ids.count(text.substr(at))) {
        merges.emplace_back(text.substr(0, at), text.substr(at));
      }
    }
  }
  return merges;
}

} // namespace tfc::text
