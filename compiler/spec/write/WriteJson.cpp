// JSON values as text, in one form only: equal trees give equal bytes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/JsonTree.h"

#include <charconv>
#include <cstdio>

namespace tfc::spec {

static void writeString(const std::string &value, std::string &out) {
  out += '"';
  for (char c : value) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", c);
      out += escape;
    } else {
      out += c;
    }
  }
  out += '"';
}

static void writeNumber(const Json &value, std::string &out) {
  char buffer[40];
  char *end = buffer + sizeof(buffer);
  std::to_chars_result result = value.isInteger()
                                    ? std::to_chars(buffer, end, value.integer)
                                    : std::to_chars(buffer, end, value.real);
  out.append(buffer, result.ptr);
}

static void writeFlat(const Json &value, std::string &out) {
  switch (value.type) {
  case Json::Type::Null:
    out += "null";
    return;
  case Json::Type::Boolean:
    out += value.boolean ? "true" : "false";
    return;
  case Json::Type::Integer:
  case Json::Type::Real:
    writeNumber(value, out);
    return;
  case Json::Type::String:
    writeString(value.text, out);
    return;
  case Json::Type::Array:
    out += '[';
    for (const Json &item : value.items) {
      out += &item == &value.items.front() ? "" : ", ";
      writeFlat(item, out);
    }
    out += ']';
    return;
  case Json::Type::Object:
    out += '{';
    for (const Member &member : value.members) {
      out += &member == &value.members.front() ? "" : ", ";
      writeString(member.key, out);
      out += ": ";
      writeFlat(member.value, out);
    }
    out += '}';
    return;
  }
}

/// Writes `value` after `used` columns of its line, which `tail` more bytes
/// (a comma) will follow.
static void writeBroken(const Json &value, int level, size_t used, size_t tail,
                        std::string &out) {
  constexpr size_t maxColumns = 80;
  std::string flat;
  writeFlat(value, flat);
  bool container = value.isArray() || value.isObject();
  if (!container || used + flat.size() + tail <= maxColumns) {
    out += flat;
    return;
  }
  std::string indent(2 * size_t(level + 1), ' ');
  size_t count = value.items.size() + value.members.size();
  out += value.isArray() ? "[\n" : "{\n";
  for (size_t i = 0; i < count; ++i) {
    std::string head = indent;
    if (value.isObject()) {
      writeString(value.members[i].key, head);
      head += ": ";
    }
    out += head;
    bool last = i + 1 == count;
    writeBroken(value.isArray() ? value.items[i] : value.members[i].value,
                level + 1, head.size(), last ? 0 : 1, out);
    out += last ? "\n" : ",\n";
  }
  out += std::string(2 * size_t(level), ' ') + (value.isArray() ? "]" : "}");
}

std::string writeJson(const Json &value) {
  std::string out;
  writeBroken(value, 0, 0, 0, out);
  out += '\n';
  return out;
}

} // namespace tfc::spec
