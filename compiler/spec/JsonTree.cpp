// The tree of JSON values: making, searching, typed reading.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/JsonTree.h"

#include <algorithm>

namespace tfc::spec {

std::string Place::file() const {
  const Path *step = path.get();
  while (step && step->parent) {
    step = step->parent.get();
  }
  return step ? step->step : "";
}

std::string Place::pointer() const {
  std::vector<const Path *> steps;
  for (const Path *step = path.get(); step && step->parent;
       step = step->parent.get()) {
    steps.push_back(step);
  }
  std::string pointer;
  for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
    pointer += '/';
    for (char c : (*it)->step) {
      pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    }
  }
  return pointer.empty() ? "/" : pointer;
}

Place Place::child(std::string_view step) const {
  Place place = *this;
  place.path = std::make_shared<const Path>(Path{path, std::string(step)});
  return place;
}

Json::Json(bool value) : type(Type::Boolean), boolean(value) {}
Json::Json(int64_t value)
    : type(Type::Integer), integer(value), real(double(value)) {}
Json::Json(double value) : type(Type::Real), real(value) {}
Json::Json(std::string value) : type(Type::String), text(std::move(value)) {}

Json Json::array(std::vector<Json> items) {
  Json json;
  json.type = Type::Array;
  json.items = std::move(items);
  return json;
}

Json Json::object() {
  Json json;
  json.type = Type::Object;
  return json;
}

const Json *Json::find(std::string_view key) const {
  for (const Member &member : members) {
    if (member.key == key) {
      return &member.value;
    }
  }
  return nullptr;
}

Json *Json::find(std::string_view key) {
  return const_cast<Json *>(std::as_const(*this).find(key));
}

const Json *Json::at(std::initializer_list<std::string_view> keys) const {
  const Json *value = this;
  for (std::string_view key : keys) {
    value = value ? value->find(key) : nullptr;
  }
  return value;
}

Json &Json::set(std::string_view key, Json value) {
  if (Json *old = find(key)) {
    *old = std::move(value);
    return *old;
  }
  Place keyPlace = value.place;
  members.push_back({std::string(key), std::move(keyPlace), std::move(value)});
  return members.back().value;
}

void Json::remove(std::string_view key) {
  members.erase(std::remove_if(members.begin(), members.end(),
                               [&](const Member &m) { return m.key == key; }),
                members.end());
}

bool operator==(const Json &a, const Json &b) {
  if (a.isNumber() && b.isNumber()) {
    return a.isInteger() && b.isInteger() ? a.integer == b.integer
                                          : a.real == b.real;
  }
  if (a.type != b.type || a.boolean != b.boolean || a.text != b.text ||
      !(a.items == b.items) || a.members.size() != b.members.size()) {
    return false;
  }
  return std::all_of(a.members.begin(), a.members.end(), [&](const Member &m) {
    const Json *other = b.find(m.key);
    return other && *other == m.value;
  });
}

size_t countValues(const Json &value) {
  size_t count = 1;
  for (const Json &item : value.items) {
    count += countValues(item);
  }
  for (const Member &member : value.members) {
    count += countValues(member.value);
  }
  return count;
}

std::string describe(const Json &value) {
  switch (value.type) {
  case Json::Type::Array:
    return "an array";
  case Json::Type::Object:
    return "an object";
  case Json::Type::String:
    return inQuotes(value.text);
  default: {
    std::string text = writeJson(value);
    text.pop_back();
    return text;
  }
  }
}

void report(Diagnostics &diagnostics, const Place &place, int code,
            std::string message, Severity severity) {
  if (diagnostics.size() >= maxReported) {
    return;
  }
  diagnostics.push_back({severity, place.file(), place.line, place.column,
                         place.pointer(), std::move(message), code});
}

std::optional<Json> readJsonFile(const std::string &path,
                                 Diagnostics &diagnostics, size_t maxBytes) {
  std::optional<std::string> text = readTextFile(path, diagnostics, maxBytes);
  return text ? parseJson(path, *text, diagnostics) : std::nullopt;
}

/// The member, when it is there and `fits`; a wrong type is reported.
template <typename Fits>
static const Json *getMember(const Json &object, std::string_view key,
                             const char *expected, Diagnostics &diagnostics,
                             Fits fits) {
  const Json *value = object.find(key);
  if (!value || value->isNull()) {
    return nullptr;
  }
  if (!fits(*value)) {
    report(diagnostics, value->place, 4,
           std::string("expected ") + expected + ", got " + describe(*value));
    return nullptr;
  }
  return value;
}

std::optional<int64_t> getInteger(const Json &object, std::string_view key,
                                  Diagnostics &diagnostics) {
  const Json *value = getMember(object, key, "an integer", diagnostics,
                                [](auto &v) { return v.isInteger(); });
  return value ? std::optional(value->integer) : std::nullopt;
}

std::optional<double> getReal(const Json &object, std::string_view key,
                              Diagnostics &diagnostics) {
  const Json *value = getMember(object, key, "a number", diagnostics,
                                [](auto &v) { return v.isNumber(); });
  return value ? std::optional(value->real) : std::nullopt;
}

std::optional<bool> getBoolean(const Json &object, std::string_view key,
                               Diagnostics &diagnostics) {
  const Json *value = getMember(object, key, "true or false", diagnostics,
                                [](auto &v) { return v.isBoolean(); });
  return value ? std::optional(value->boolean) : std::nullopt;
}

std::optional<std::string> getString(const Json &object, std::string_view key,
                                     Diagnostics &diagnostics) {
  const Json *value = getMember(object, key, "a string", diagnostics,
                                [](auto &v) { return v.isString(); });
  return value ? std::optional(value->text) : std::nullopt;
}

const Json *getArray(const Json &object, std::string_view key,
                     Diagnostics &diagnostics) {
  return getMember(object, key, "an array", diagnostics,
                   [](auto &v) { return v.isArray(); });
}

const Json *getObject(const Json &object, std::string_view key,
                      Diagnostics &diagnostics) {
  return getMember(object, key, "an object", diagnostics,
                   [](auto &v) { return v.isObject(); });
}

} // namespace tfc::spec
