// Short words for building the types of SpecFields.h; for the table only.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_TYPEBUILDERS_H
#define TFC_COMPILER_SPEC_TYPEBUILDERS_H

#include "compiler/spec/SpecFields.h"

namespace tfc::spec::build {

using Kind = Type::Kind;
using Fields = std::vector<Field>;

inline TypeRef make(Type type) {
  return std::make_shared<const Type>(std::move(type));
}

inline TypeRef simple(Kind kind) {
  Type type;
  type.kind = kind;
  return make(std::move(type));
}

inline TypeRef any() { return simple(Kind::Any); }
inline TypeRef flag() { return simple(Kind::Boolean); }
inline TypeRef number() { return simple(Kind::Number); }
inline TypeRef text() { return simple(Kind::String); }

inline TypeRef integer(int64_t min, int64_t max) {
  Type type;
  type.kind = Kind::Integer;
  type.min = min;
  type.max = max;
  return make(std::move(type));
}

inline TypeRef width() { return integer(1, maxWidth); }
inline TypeRef rows() { return integer(1, maxRows); }
inline TypeRef index() { return integer(0, maxRows); }

inline TypeRef words(std::vector<std::string> supported,
                     std::vector<std::string> unsupported = {}, int code = 4) {
  Type type;
  type.kind = Kind::Word;
  type.code = code;
  for (std::string &word : supported) {
    type.choices.push_back({std::move(word), true, nullptr});
  }
  for (std::string &word : unsupported) {
    type.choices.push_back({std::move(word), false, nullptr});
  }
  return make(std::move(type));
}

inline TypeRef list(TypeRef element, int64_t min = 0, int64_t max = 4096) {
  Type type;
  type.kind = Kind::Array;
  type.element = std::move(element);
  type.min = min;
  type.max = max;
  return make(std::move(type));
}

inline TypeRef mapOf(TypeRef element, int64_t max) {
  Type type;
  type.kind = Kind::Map;
  type.element = std::move(element);
  type.max = max;
  return make(std::move(type));
}

inline TypeRef object(Fields fields, std::string name = "") {
  Type type;
  type.kind = Kind::Object;
  type.name = std::move(name);
  type.fields = std::move(fields);
  return make(std::move(type));
}

inline TypeRef oneOf(std::vector<TypeRef> alternatives, std::string name = "") {
  Type type;
  type.kind = Kind::OneOf;
  type.name = std::move(name);
  type.alternatives = std::move(alternatives);
  return make(std::move(type));
}

inline Field key(std::string name, TypeRef type) {
  return {
      std::move(name), std::move(type), false, Field::Support::Yes, {}, false};
}

inline Field needed(std::string name, TypeRef type) {
  Field field = key(std::move(name), std::move(type));
  field.required = true;
  return field;
}

/// Known, but not compiled yet.
inline Field unsupported(std::string name, TypeRef type,
                         std::optional<Json> neutral = {}) {
  Field field = key(std::move(name), std::move(type));
  field.support = Field::Support::No;
  field.neutral = std::move(neutral);
  return field;
}

inline Field deferred(Field field) {
  field.deferred = true;
  return field;
}

/// A value that may be switched off by the word "none".
inline TypeRef orNone(TypeRef type, std::string name = "") {
  return oneOf({words({"none"}), std::move(type)}, std::move(name));
}

} // namespace tfc::spec::build

#endif // TFC_COMPILER_SPEC_TYPEBUILDERS_H
