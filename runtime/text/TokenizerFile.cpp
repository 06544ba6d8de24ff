// Reads tokenizer.json as a stream of events. Neither a deep tree nor a large
// one is built, whatever the file has.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/TokenizerFile.h"

#include "runtime/src/QuoteText.h"
#include "runtime/text/ParseScore.h"

#include <cmath>

namespace tfc::text {

using nlohmann::json;

std::string joinPointer(std::string_view pointer, std::string_view key) {
  constexpr size_t longest = 80;
  std::string out(pointer);
  out += '/';
  // Pointers are for messages: a key may be anything.
  std::string quoted = quoteText(key, longest);
  for (char c : std::string_view(quoted).substr(1, quoted.size() - 2)) {
    out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return out;
}

namespace {

constexpr size_t maxDepth = 40;
constexpr size_t maxValues = 1 << 22; // beside vocabulary and merges

class Reader : public nlohmann::json_sax<json> {
public:
  /// `isVocabulary`: the text is that of "vocab" alone.
  explicit Reader(bool isVocabulary) : isVocabulary(isVocabulary) {}

  TokenizerFile file;
  std::string fault;

  bool null() override { return value(nullptr, "null"); }
  bool boolean(bool is) override { return value(is, is ? "true" : "false"); }
  bool number_integer(number_integer_t number) override {
    return isScore() ? score(static_cast<double>(number))
                     : value(number, std::to_string(number));
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (list == List::Ids) {
      return number < maxTokens
                 ? entry(static_cast<uint32_t>(number))
                 : unexpected(rt::concat("an id below ", maxTokens),
                              std::to_string(number));
    }
    return isScore() ? score(static_cast<double>(number))
                     : value(number, std::to_string(number));
  }
  bool number_float(number_float_t number, const string_t &text) override {
    return isScore() ? score(parseScore(text))
                     : value(number, text.substr(0, 40));
  }
  bool string(string_t &text) override {
    switch (list) {
    case List::Scores:
      if (inside == 1 && parts.empty()) {
        parts.push_back(std::move(text));
        return true;
      }
      return unexpected("a token and its score", rt::quoteName(text));
    case List::Merges:
      return inside == 1 ? part(text) : mergeOf(text);
    default:
      return value(text, rt::quoteName(text));
    }
  }
  bool binary(binary_t &) override { return fail("got binary data"); }

  bool start_object(size_t) override {
    if (isAt("vocab")) {
      file.hasVocabulary = true;
      list = List::Ids;
      return true;
    }
    return open(json::object(), "an object");
  }
  bool end_object() override {
    if (list == List::Ids) {
      list = List::None;
      return true;
    }
    return close();
  }
  bool key(string_t &name) override {
    if (list == List::Ids) {
      lastKey = std::move(name);
      return true;
    }
    lastKey = std::move(name);
    bool isTwice = stack.back()->contains(lastKey) ||
                   (isAt("vocab") && file.hasVocabulary) ||
                   (isAt("merges") && file.hasMerges);
    return !isTwice || fail(pointer(), ": expected one value, got two");
  }
  bool start_array(size_t) override {
    if (isAt("vocab") && !isVocabulary) {
      file.hasVocabulary = file.isScored = true;
      list = List::Scores;
      return true;
    }
    if (isAt("merges")) {
      file.hasMerges = true;
      list = List::Merges;
      return true;
    }
    if (list == List::Scores || list == List::Merges) {
      parts.clear();
      return ++inside == 1 || unexpected("two values", "an array");
    }
    return open(json::array(), "an array");
  }
  bool end_array() override {
    if (list == List::None) {
      return close();
    }
    if (inside == 0) {
      list = List::None;
      return true;
    }
    inside = 0;
    if (list == List::Merges) {
      return parts.size() == 2
                 ? merge(std::move(parts[0]), std::move(parts[1]))
                 : unexpected("two tokens", rt::concat(parts.size()));
    }
    return parts.empty() || unexpected("a token and its score", "one");
  }
  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    return fail("expected JSON, got a syntax error at byte ", position);
  }

private:
  enum class List { None, Ids, Scores, Merges };

  template <typename... Ts> bool fail(const Ts &...parts) {
    fault = fault.empty() ? rt::concat(parts...) : fault;
    return false;
  }
  bool unexpected(const std::string &wanted, const std::string &got) {
    return fail(pointer(), ": expected ", wanted, ", got ", got);
  }

  /// Whether the next value is this one of the model.
  bool isAt(const char *name) const {
    if (isVocabulary) {
      return list == List::None && stack.empty() &&
             std::string_view(name) == "vocab";
    }
    return list == List::None && stack.size() == 2 && keys.size() == 2 &&
           keys[1] == "model" && stack[1]->is_object() && lastKey == name;
  }
  bool isScore() const { return list == List::Scores; }

  std::string pointer() const {
    switch (list) {
    case List::Ids:
      return joinPointer(isVocabulary ? "" : "/model/vocab", lastKey);
    case List::Scores:
      return rt::concat("/model/vocab/", file.vocabulary.size());
    case List::Merges:
      return rt::concat("/model/merges/", file.merges.size());
    case List::None:
      break;
    }
    std::string out;
    for (size_t i = 1; i < stack.size(); ++i) {
      out = joinPointer(out, keys[i]);
    }
    if (!stack.empty()) {
      bool isArray = stack.back()->is_array();
      out = joinPointer(out, isArray ? std::to_string(stack.back()->size())
                                     : lastKey);
    }
    return out;
  }

  bool entry(uint32_t id) {
    file.vocabulary.push_back({std::move(lastKey), id, 0});
    return true;
  }
  bool score(double number) {
    if (inside != 1 || parts.size() != 1 || !std::isfinite(number)) {
      return unexpected("a token and its score", "a number");
    }
    if (file.vocabulary.size() >= maxTokens) {
      return unexpected(rt::concat("at most ", maxTokens, " tokens"), "more");
    }
    auto id = static_cast<uint32_t>(file.vocabulary.size());
    file.vocabulary.push_back({std::move(parts[0]), id, number});
    parts.clear();
    return true;
  }
  bool part(std::string &text) {
    parts.push_back(std::move(text));
    return parts.size() <= 2 || unexpected("two tokens", "more");
  }
  bool merge(std::string left, std::string right) {
    if (file.merges.size() >= maxTokens) {
      return unexpected(rt::concat("at most ", maxTokens, " merges"), "more");
    }
    file.merges.emplace_back(std::move(left), std::move(right));
    return true;
  }
  /// "a b", as older files have it.
  bool mergeOf(const std::string &text) {
    size_t space = text.find(' ');
    if (space == std::string::npos ||
        text.find(' ', space + 1) != std::string::npos) {
      return unexpected("two tokens with a space between them",
                        rt::quoteName(text));
    }
    return merge(text.substr(0, space), text.substr(space + 1));
  }

  /// Puts a value to where it belongs.
  json *put(json made) {
    if (stack.empty()) {
      file.rest = std::move(made);
      return &file.rest;
    }
    json &parent = *stack.back();
    if (parent.is_array()) {
      parent.push_back(std::move(made));
      return &parent.back();
    }
    return &(parent[lastKey] = std::move(made));
  }
  bool value(json made, const std::string &got) {
    if (list != List::None) {
      return unexpected(list == List::Ids ? "an id" : "tokens", got);
    }
    if (++numValues > maxValues) {
      return fail(pointer(), ": expected at most ", maxValues,
                  " values, got more");
    }
    put(std::move(made));
    return true;
  }
  bool open(json made, const std::string &got) {
    if (stack.size() >= maxDepth) {
      return fail(pointer(), ": expected at most ", maxDepth,
                  " levels, got more");
    }
    std::string name = stack.empty() || !stack.back()->is_array()
                           ? lastKey
                           : std::to_string(stack.back()->size());
    if (list != List::None || ++numValues > maxValues) {
      return unexpected(list == List::Ids ? "an id" : "fewer values", got);
    }
    stack.push_back(put(std::move(made)));
    keys.push_back(std::move(name));
    return true;
  }
  bool close() {
    stack.pop_back();
    keys.pop_back();
    return true;
  }

  const bool isVocabulary;
  // Containers that are open. A parent grows only at its end while a child is
  // open, so that pointers stay: no child of an array is open when it grows.
  std::vector<json *> stack;
  std::vector<std::string> keys; // of those in stack
  std::string lastKey;
  size_t numValues = 0;
  List list = List::None;
  int inside = 0; // 1: in an entry of a list
  std::vector<std::string> parts;
};

} // namespace

static rt::Result<TokenizerFile> parse(std::string_view text,
                                       bool isVocabulary) {
  Reader reader(isVocabulary);
  if (!json::sax_parse(text.begin(), text.end(), &reader)) {
    return rt::Error{rt::Code::InvalidArgument, reader.fault};
  }
  return std::move(reader.file);
}

rt::Result<TokenizerFile> parseTokenizerFile(std::string_view text) {
  return parse(text, /*isVocabulary=*/false);
}

rt::Result<TokenizerFile> parseVocabulary(std::string_view text) {
  auto file = parse(text, /*isVocabulary=*/true);
  if (file && !file->hasVocabulary) {
    return rt::makeError(rt::Code::InvalidArgument,
                         "/: expected an object of tokens and ids, got "
                         "another value");
  }
  return file;
}

} // namespace tfc::text
