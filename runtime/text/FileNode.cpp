// Values by their keys, with what was expected where they are others.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/FileNode.h"

#include "runtime/text/Utf8.h"

#include <algorithm>
#include <cstring>

namespace tfc::text {

using nlohmann::json;

static const json &nothing() {
  static const json null;
  return null;
}

/// A value for a message, not longer than a line.
static std::string describe(const json &value) {
  switch (value.type()) {
  case json::value_t::object:
    return "an object";
  case json::value_t::array:
    return "an array";
  case json::value_t::null:
    return "nothing";
  case json::value_t::string:
    return rt::quoteName(value.get_ref<const std::string &>());
  default:
    return value.dump();
  }
}

void FileNode::fail(const std::string &wanted) const {
  throw FileFault{rt::makeError(rt::Code::InvalidArgument,
                                place.empty() ? "/" : place, ": expected ",
                                wanted, ", got ", describe(*value))};
}

void FileNode::fail(rt::Code code, const std::string &message) const {
  throw FileFault{
      rt::makeError(code, place.empty() ? "/" : place, ": ", message)};
}

bool FileNode::has(const char *key) const {
  return value->is_object() && value->contains(key) && !(*value)[key].is_null();
}

FileNode FileNode::at(const char *key) const {
  if (!value->is_object()) {
    fail("an object");
  }
  auto found = value->find(key);
  return {found == value->end() ? nothing() : *found, joinPointer(place, key)};
}

void FileNode::allow(std::initializer_list<const char *> keys) const {
  if (!value->is_object()) {
    fail("an object");
  }
  for (auto item = value->begin(); item != value->end(); ++item) {
    const std::string &key = item.key();
    bool isKnown = key == "type" ||
                   std::any_of(keys.begin(), keys.end(),
                               [&](const char *known) { return key == known; });
    if (!isKnown) {
      FileNode(item.value(), joinPointer(place, key))
          .fail(rt::Code::Unsupported,
                "expected a known key, got " + rt::quoteName(key));
    }
  }
}

std::string FileNode::type() const { return at("type").asString(); }

bool FileNode::boolean(const char *key, std::optional<bool> otherwise) const {
  FileNode node = at(key);
  if (node.isNull() && otherwise) {
    return *otherwise;
  }
  return node.asBoolean();
}

bool FileNode::asBoolean() const {
  if (!value->is_boolean()) {
    fail("true or false");
  }
  return value->get<bool>();
}

uint64_t FileNode::asInteger(uint64_t most) const {
  if (!value->is_number_unsigned() || value->get<uint64_t>() > most) {
    fail(rt::concat("an integer from 0 to ", most));
  }
  return value->get<uint64_t>();
}

std::string FileNode::asString() const {
  if (!value->is_string()) {
    fail("a string");
  }
  return value->get<std::string>();
}

uint64_t FileNode::integer(const char *key, uint64_t most,
                           std::optional<uint64_t> otherwise) const {
  FileNode node = at(key);
  return node.isNull() && otherwise ? *otherwise : node.asInteger(most);
}

std::string FileNode::string(const char *key,
                             std::optional<std::string> otherwise) const {
  FileNode node = at(key);
  return node.isNull() && otherwise ? *otherwise : node.asString();
}

char32_t FileNode::character(const char *key) const {
  std::u32string text = decodeChecked(string(key));
  if (text.size() != 1) {
    at(key).fail("one character");
  }
  return text[0];
}

size_t FileNode::word(const char *key,
                      std::initializer_list<const char *> words,
                      std::optional<size_t> otherwise) const {
  FileNode node = at(key);
  if (node.isNull() && otherwise) {
    return *otherwise;
  }
  std::string list;
  for (const char *const *word = words.begin(); word != words.end(); ++word) {
    if (node.isString() && *node.value == *word) {
      return static_cast<size_t>(word - words.begin());
    }
    list += (list.empty() ? "" : ", ") + std::string(*word);
  }
  node.fail("one of " + list);
}

std::vector<std::string> FileNode::keys() const {
  std::vector<std::string> names;
  if (!value->is_object() && !value->is_null()) {
    fail("an object");
  }
  for (auto item = value->begin(); value->is_object() && item != value->end();
       ++item) {
    names.push_back(item.key());
  }
  return names;
}

std::vector<FileNode> FileNode::items() const {
  if (!value->is_array()) {
    fail("an array");
  }
  std::vector<FileNode> list;
  for (size_t i = 0; i < value->size(); ++i) {
    list.emplace_back((*value)[i], joinPointer(place, std::to_string(i)));
  }
  return list;
}

} // namespace tfc::text
