// Words that a key joins with |, or has a list of.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/family/Rules.h"

#include <algorithm>

using namespace tfc;
using namespace tfc::family;
using spec::Json;

/// As Python's strip and lower make them.
static std::string normalize(std::string_view word) {
  constexpr std::string_view spaces = " \t\n\r\f\v";
  size_t first = word.find_first_not_of(spaces);
  if (first == std::string_view::npos) {
    return "";
  }
  word = word.substr(first, word.find_last_not_of(spaces) + 1 - first);
  std::string lower(word);
  for (char &c : lower) {
    c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  }
  return lower;
}

/// A list's words stand as they are.
static std::vector<std::string> readWords(Config &config,
                                          const std::string &key) {
  std::vector<std::string> words;
  const Json *given = config.value(key);
  if (!given || given->isNull()) {
    return words;
  }
  if (given->isArray()) {
    for (const Json &item : given->items) {
      if (!item.isString()) {
        config.faultAt(item, "expected a word, got " + spec::describe(item));
        return {};
      }
      words.push_back(item.text);
    }
    return words;
  }
  if (!given->isString()) {
    config.fault(key, "expected words with | between them, or a list of words, "
                      "got " +
                          spec::describe(*given));
    return words;
  }
  std::string_view rest = given->text;
  while (true) {
    size_t end = rest.find('|');
    words.push_back(normalize(rest.substr(0, end)));
    if (end == std::string_view::npos) {
      return words;
    }
    rest.remove_prefix(end + 1);
  }
}

std::optional<Json> family::wordsRule(Instantiator &made, const Json &hole) {
  const std::string &key = hole.find("key")->text;
  std::vector<std::string> words = readWords(made.config, key);
  auto has = [&](const Json &word) {
    return std::find(words.begin(), words.end(), word.text) != words.end();
  };
  Json value(int64_t(words.size()));
  if (const Json *word = hole.find("has")) {
    value = Json(has(*word));
  } else if (const Json *among = hole.find("count")) {
    value = Json(
        int64_t(std::count_if(among->items.begin(), among->items.end(), has)));
  }
  value.place = made.config.placeOf(key);
  return value;
}
