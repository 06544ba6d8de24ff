// A value of a tokenizer's file, and where it stands: what its readers ask, and
// refuse.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_FILENODE_H
#define TFC_RUNTIME_TEXT_FILENODE_H

#include "runtime/text/TokenizerFile.h"

#include <initializer_list>
#include <optional>

namespace tfc::text {

/// Thrown by readers of parts, caught by readTokenizer.
struct FileFault {
  rt::Error error;
};

class FileNode {
public:
  FileNode(const nlohmann::json &value, std::string pointer)
      : value(&value), place(std::move(pointer)) {}

  const std::string &pointer() const { return place; }
  bool isNull() const { return value->is_null(); }
  bool isString() const { return value->is_string(); }
  bool isZero() const { return value->is_number() && *value == 0; }
  bool isArray() const { return value->is_array(); }

  [[noreturn]] void fail(const std::string &wanted) const;
  [[noreturn]] void fail(rt::Code code, const std::string &message) const;

  /// The values of an object. What is not there is null.
  bool has(const char *key) const;
  FileNode at(const char *key) const;
  /// Refuses all other keys: what is not understood might change results.
  void allow(std::initializer_list<const char *> keys) const;
  /// The "type" of a part; refuses other keys than these and it.
  std::string type() const;

  bool boolean(const char *key, std::optional<bool> otherwise = {}) const;
  uint64_t integer(const char *key, uint64_t most,
                   std::optional<uint64_t> otherwise = {}) const;
  std::string string(const char *key,
                     std::optional<std::string> otherwise = {}) const;
  /// A text of one character.
  char32_t character(const char *key) const;
  /// A value that is one of these words; its place among them.
  size_t word(const char *key, std::initializer_list<const char *> words,
              std::optional<size_t> otherwise = {}) const;

  std::string asString() const;
  bool asBoolean() const;
  uint64_t asInteger(uint64_t most) const;
  /// The keys of an object; none of what is null.
  std::vector<std::string> keys() const;
  /// The values of an array.
  std::vector<FileNode> items() const;

private:
  const nlohmann::json *value;
  std::string place;
};

/// Takes a value out of a result, whose error becomes a fault of the node.
template <typename T> T unwrap(const FileNode &node, rt::Result<T> result) {
  if (!result) {
    node.fail(result.error().code, result.error().message);
  }
  return std::move(*result);
}

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_FILENODE_H
