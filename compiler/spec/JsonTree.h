// JSON with places: a small tree in which every value knows its file, line,
// column and pointer. The one JSON reader of the compiler's input files.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_JSONTREE_H
#define TFC_COMPILER_SPEC_JSONTREE_H

#include "compiler/spec/Diagnostics.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tfc::spec {

/// A step of a JSON pointer; shared by the values below it. The first step has
/// no parent, and its text is the name of the file.
struct Path {
  std::shared_ptr<const Path> parent;
  std::string step;
};

/// Where a value was written.
struct Place {
  std::shared_ptr<const Path> path;
  int line = 0, column = 0;

  std::string file() const;
  /// "/dims/hidden"; "/" for the whole file.
  std::string pointer() const;
  /// The place of a member that is missing: the object's, with its pointer.
  Place child(std::string_view step) const;
};

class Json;
struct Member;

/// A JSON value. Objects keep the order of the file. A value made by a program
/// has an empty place.
class Json {
public:
  enum class Type { Null, Boolean, Integer, Real, String, Array, Object };

  Type type = Type::Null;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0; // Integer too: its value
  std::string text;
  std::vector<Json> items;
  std::vector<Member> members;
  Place place;

  Json() = default;
  Json(bool value);
  Json(int value) : Json(static_cast<int64_t>(value)) {}
  Json(int64_t value);
  Json(double value);
  Json(std::string value);
  Json(const char *value) : Json(std::string(value)) {}
  static Json array(std::vector<Json> items = {});
  static Json object();

  bool isNull() const { return type == Type::Null; }
  bool isBoolean() const { return type == Type::Boolean; }
  bool isInteger() const { return type == Type::Integer; }
  bool isNumber() const { return isInteger() || type == Type::Real; }
  bool isString() const { return type == Type::String; }
  bool isString(std::string_view word) const {
    return isString() && text == word;
  }
  bool isArray() const { return type == Type::Array; }
  bool isObject() const { return type == Type::Object; }

  /// The member `key` of an object; null when there is none, or when this is
  /// no object. Linear in the number of members.
  const Json *find(std::string_view key) const;
  Json *find(std::string_view key);
  /// The value at a path of keys: at({"dims", "hidden"}).
  const Json *at(std::initializer_list<std::string_view> keys) const;
  /// Sets a member of an object: replaces it where it stands, or appends it.
  Json &set(std::string_view key, Json value);
  void remove(std::string_view key);

  /// Equal values; places and the order of members do not matter, and 1 is
  /// equal to 1.0.
  friend bool operator==(const Json &a, const Json &b);
};

struct Member {
  std::string key;
  Place keyPlace;
  Json value;
};

/// How many values a tree has, itself included.
size_t countValues(const Json &value);

/// "12", "\"text\"", "true", "null", "an array", "an object": the end of
/// "expected X, got Y".
std::string describe(const Json &value);

/// How many diagnostics report() takes: a file of a million faults must not
/// cost a million messages.
constexpr size_t maxReported = 1000;

/// An error at a place, dropped when there are maxReported already. `message`
/// has the form "expected X (why), got Y".
void report(Diagnostics &diagnostics, const Place &place, int code,
            std::string message, Severity severity = Severity::Error);

/// Parses a whole text. Null and at least one error (code 1) for text that is
/// not JSON, invalid UTF-8, more after the value, a key twice, numbers outside
/// int64 and double, U+0000 in a string, more than 64 levels, more than a
/// million values. `file` is the name used in places. Never throws.
std::optional<Json> parseJson(const std::string &file, std::string_view text,
                              Diagnostics &diagnostics);

/// Reads and parses a file of at most `maxBytes`; a file that cannot be read is
/// an error too.
std::optional<Json> readJsonFile(const std::string &path,
                                 Diagnostics &diagnostics,
                                 size_t maxBytes = size_t(64) << 20);

/// A file's bytes, under the same limit.
std::optional<std::string> readTextFile(const std::string &path,
                                        Diagnostics &diagnostics,
                                        size_t maxBytes = size_t(64) << 20);

/// Typed members of `object`. Nothing when the key is missing or null (a
/// config.json's None); a value of another type is an error (code 4) and
/// nothing.
std::optional<int64_t> getInteger(const Json &object, std::string_view key,
                                  Diagnostics &diagnostics);
std::optional<double> getReal(const Json &object, std::string_view key,
                              Diagnostics &diagnostics);
std::optional<bool> getBoolean(const Json &object, std::string_view key,
                               Diagnostics &diagnostics);
std::optional<std::string> getString(const Json &object, std::string_view key,
                                     Diagnostics &diagnostics);
/// Owned by `object`; null as above.
const Json *getArray(const Json &object, std::string_view key,
                     Diagnostics &diagnostics);
const Json *getObject(const Json &object, std::string_view key,
                      Diagnostics &diagnostics);

/// The text of a value: two spaces a level; an array or object that fits into
/// 80 columns stays on its line. Numbers in the shortest form that reads back
/// to the same bits. Ends with a newline.
std::string writeJson(const Json &value);

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_JSONTREE_H
