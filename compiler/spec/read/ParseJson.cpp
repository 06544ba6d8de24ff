// nlohmann's SAX parser over an iterator that counts lines and columns, because
// the parser itself tells no places; builds the tree of JsonTree.h.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/JsonTree.h"

#include <nlohmann/json.hpp>

#include <iterator>
#include <limits>
#include <unordered_set>

namespace tfc::spec {
namespace {

constexpr size_t maxDepth = 64;
constexpr size_t maxValues = 1000000;

struct Position {
  int line = 1, column = 0;
};

/// Follows the characters that the lexer takes: just enough of a lexer to know
/// where the token began that a SAX event is about.
struct Cursor {
  Position here;       // the last character taken
  Position scalar;     // start of the last string, number or literal
  Position structural; // the last of {}[],:
  size_t taken = 0, scalarBegin = 0; // bytes
  bool inString = false, escaped = false, inScalar = false, newline = false;

  void take(char c) {
    ++taken;
    if (newline) {
      here = {here.line + 1, 0};
      newline = false;
    }
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) {
      return; // inside a character
    }
    ++here.column;
    newline = c == '\n';
    if (inString) {
      inString = escaped || c != '"';
      escaped = !escaped && c == '\\';
    } else if (c == '"') {
      beginScalar();
      inString = true;
      inScalar = false;
    } else if (std::string_view("{}[],:").find(c) != std::string_view::npos) {
      structural = here;
      inScalar = false;
    } else if (std::string_view(" \t\r\n").find(c) != std::string_view::npos) {
      inScalar = false;
    } else if (!inScalar) {
      beginScalar();
      inScalar = true;
    }
  }

private:
  void beginScalar() {
    scalar = here;
    scalarBegin = taken - 1;
  }
};

/// A character iterator that tells a Cursor of every step.
class CountingIterator {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  CountingIterator(const char *at, Cursor *cursor) : at(at), cursor(cursor) {}
  reference operator*() const { return *at; }
  CountingIterator &operator++() {
    cursor->take(*at++);
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator &other) const {
    return at == other.at;
  }
  bool operator!=(const CountingIterator &other) const {
    return at != other.at;
  }

private:
  const char *at;
  Cursor *cursor;
};

/// An object or array that is being read.
struct Level {
  Json value;
  std::unordered_set<std::string> keys;
  Member next; // key and place of the member whose value comes
};

class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
  TreeBuilder(const std::string &file, std::string_view text, Cursor &cursor,
              Diagnostics &diagnostics)
      : text(text), cursor(cursor), diagnostics(diagnostics),
        file(std::make_shared<const Path>(Path{nullptr, file})) {}

  Json root;
  bool hasDuplicates = false;

  bool null() override { return add(Json(), cursor.scalar); }
  bool boolean(bool value) override { return add(value, cursor.scalar); }
  bool number_integer(number_integer_t value) override {
    return add(int64_t(value), cursor.scalar);
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > uint64_t(std::numeric_limits<int64_t>::max())) {
      return integerTooLarge(std::to_string(value));
    }
    return add(int64_t(value), cursor.scalar);
  }
  bool number_float(number_float_t value, const string_t &text) override {
    // An integer beyond 64 bits arrives here too, already rounded.
    if (text.find_first_of(".eE") == std::string::npos) {
      return integerTooLarge(text);
    }
    return add(double(value), cursor.scalar);
  }
  bool string(string_t &value) override {
    // Texts end up as C strings.
    if (value.find('\0') != std::string::npos) {
      report(diagnostics, nextPlace(cursor.scalar), 1,
             "expected a string without U+0000, got " + inQuotes(value));
      return false;
    }
    return add(std::move(value), cursor.scalar);
  }
  bool binary(binary_t &) override { return false; } // not in JSON text
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t &value) override {
    Level &level = levels.back();
    Place keyPlace = placeOf(value, cursor.scalar);
    if (!level.keys.insert(value).second) {
      hasDuplicates = true;
      report(diagnostics, keyPlace, 1,
             "expected every key once, got " + inQuotes(value) + " again");
    }
    level.next = {std::move(value), std::move(keyPlace), Json()};
    return true;
  }

  bool parse_error(std::size_t, const std::string &,
                   const nlohmann::detail::exception &error) override;

private:
  std::string_view text;
  Cursor &cursor;
  Diagnostics &diagnostics;
  std::shared_ptr<const Path> file;
  std::vector<Level> levels;
  size_t values = 0;

  Place placeOf(std::string_view step, Position at) {
    const Place &parent = levels.back().value.place;
    return {std::make_shared<const Path>(Path{parent.path, std::string(step)}),
            at.line, at.column};
  }

  /// The place of a value that starts at `at`; a member has its key's pointer.
  Place nextPlace(Position at) {
    if (levels.empty()) {
      return {file, at.line, at.column};
    }
    Level &level = levels.back();
    if (level.value.isObject()) {
      return {level.next.keyPlace.path, at.line, at.column};
    }
    return placeOf(std::to_string(level.value.items.size()), at);
  }

  bool integerTooLarge(const std::string &text) {
    report(diagnostics, nextPlace(cursor.scalar), 1,
           "expected an integer of 64 bits, got " + inQuotes(text));
    return false;
  }

  bool count(Position at) {
    if (++values > maxValues) {
      report(diagnostics, nextPlace(at), 1,
             "expected at most " + std::to_string(maxValues) +
                 " values, got more");
      return false;
    }
    return true;
  }

  bool add(Json value, Position at) {
    if (!count(at)) {
      return false;
    }
    value.place = nextPlace(at);
    put(std::move(value));
    return true;
  }

  void put(Json value) {
    if (levels.empty()) {
      root = std::move(value);
      return;
    }
    Level &level = levels.back();
    if (level.value.isArray()) {
      level.value.items.push_back(std::move(value));
      return;
    }
    level.next.value = std::move(value);
    level.value.members.push_back(std::move(level.next));
  }

  bool open(Json value) {
    Position at = cursor.structural;
    if (levels.size() == maxDepth) {
      report(diagnostics, nextPlace(at), 1,
             "expected at most " + std::to_string(maxDepth) +
                 " levels of nesting, got more");
      return false;
    }
    if (!count(at)) {
      return false;
    }
    value.place = nextPlace(at);
    levels.push_back({std::move(value), {}, {}});
    return true;
  }

  bool close() {
    Json value = std::move(levels.back().value);
    levels.pop_back();
    put(std::move(value));
    return true;
  }
};

/// The part of `text` between two marks; up to the end without the second.
std::string between(const std::string &text, const std::string &from,
                    const std::string &to) {
  size_t begin = text.find(from);
  if (begin == std::string::npos) {
    return "";
  }
  begin += from.size();
  size_t end = text.find(to, begin);
  return text.substr(begin, end == std::string::npos ? end : end - begin);
}

bool TreeBuilder::parse_error(std::size_t, const std::string &,
                              const nlohmann::detail::exception &error) {
  // What was read last is the user's, and may spell the parser's own words.
  std::string what = between(error.what(), "", "; last read: '");
  std::string found = between(what, " - unexpected ", "; expected ");
  // The parser's own record of the last token begins too early for literals;
  // ours may have the character after it.
  std::string_view last =
      text.substr(cursor.scalarBegin, cursor.taken - cursor.scalarBegin);
  if (!cursor.inString) {
    last = last.substr(0, last.find_last_not_of("{}[],: \t\r\n") + 1);
  }
  std::string token = inQuotes(last);
  Position at = cursor.scalar;
  std::string message;
  if (error.id == 406) {
    message = "expected a number that a double can hold, got " + token;
  } else if (!found.empty()) {
    std::string expected = between(what, "; expected ", "\n");
    if (expected.empty() || expected.find("or a literal") != expected.npos) {
      expected = "a value";
    }
    std::string context = between(what, "syntax error while parsing ", " - ");
    message =
        "expected " + expected + " (in a JSON " + context + "), got " + found;
    if (found == "end of input") {
      at = cursor.here;
    } else if (found[0] == '\'') {
      at = cursor.structural;
    }
  } else {
    message =
        "expected JSON (" + between(what, " - ", "\n") + "), got " + token;
    if (cursor.inString) {
      at = cursor.here;
    }
  }
  Place place{levels.empty() ? file : levels.back().value.place.path, at.line,
              std::max(at.column, 1)};
  report(diagnostics, place, 1, message);
  return false;
}

} // namespace

std::optional<Json> parseJson(const std::string &file, std::string_view text,
                              Diagnostics &diagnostics) {
  // A byte order mark is not a character of the file.
  if (text.substr(0, 3) == "\xEF\xBB\xBF") {
    text.remove_prefix(3);
  }
  Cursor cursor;
  TreeBuilder builder(file, text, cursor, diagnostics);
  CountingIterator begin(text.data(), &cursor);
  CountingIterator end(text.data() + text.size(), &cursor);
  bool good = nlohmann::json::sax_parse(begin, end, &builder);
  if (!good || builder.hasDuplicates) {
    return std::nullopt;
  }
  return std::move(builder.root);
}

} // namespace tfc::spec
