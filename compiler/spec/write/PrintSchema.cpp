// The table of SpecFields.h as a JSON schema.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/read/ReadSpec.h"

namespace tfc::spec {
namespace {

class Printer {
public:
  Json definitions = Json::object();

  /// A reference, for a type with a name; else the type itself.
  Json use(const Type &type) {
    if (type.name.empty()) {
      return schemaOf(type);
    }
    if (!definitions.find(type.name)) {
      // Its place first, so that definitions stand in order of use.
      definitions.set(type.name, Json::object());
      Json schema = schemaOf(type);
      definitions.set(type.name, std::move(schema));
    }
    Json reference = Json::object();
    reference.set("$ref", "#/$defs/" + type.name);
    return reference;
  }

private:
  static Json ofType(const char *name) {
    Json schema = Json::object();
    schema.set("type", name);
    return schema;
  }

  Json schemaOf(const Type &type) {
    switch (type.kind) {
    case Type::Kind::Any:
      return Json::object();
    case Type::Kind::Boolean:
      return ofType("boolean");
    case Type::Kind::Integer:
      return integer(type);
    case Type::Kind::Number:
      return ofType("number");
    case Type::Kind::String:
      return ofType("string");
    case Type::Kind::Word:
      return words(type);
    case Type::Kind::Array:
    case Type::Kind::Map:
      return elements(type);
    case Type::Kind::Object:
      return object(type.fields);
    case Type::Kind::OneOf:
    case Type::Kind::Tagged:
      return alternatives(type);
    }
    return Json();
  }

  static Json integer(const Type &type) {
    Json schema = ofType("integer");
    schema.set("minimum", type.min);
    schema.set("maximum", type.max);
    return schema;
  }

  static Json words(const Type &type) {
    Json list = Json::array();
    std::string unsupported;
    for (const Choice &choice : type.choices) {
      list.items.push_back(choice.word);
      if (!choice.supported) {
        unsupported += (unsupported.empty() ? "" : ", ") + choice.word;
      }
    }
    Json schema = Json::object();
    schema.set("enum", std::move(list));
    if (!unsupported.empty()) {
      schema.set("description", "not supported by this tfc: " + unsupported);
    }
    return schema;
  }

  Json elements(const Type &type) {
    bool list = type.kind == Type::Kind::Array;
    Json schema = ofType(list ? "array" : "object");
    schema.set(list ? "items" : "additionalProperties", use(*type.element));
    if (type.min > 0) {
      schema.set(list ? "minItems" : "minProperties", type.min);
    }
    schema.set(list ? "maxItems" : "maxProperties", type.max);
    return schema;
  }

  Json object(const std::vector<Field> &fields) {
    Json properties = Json::object(), required = Json::array();
    for (const Field &field : fields) {
      Json schema = use(*field.type);
      if (field.support == Field::Support::No) {
        schema.set("description", "not supported by this tfc");
      }
      properties.set(field.key, std::move(schema));
      if (field.required) {
        required.items.push_back(field.key);
      }
    }
    Json schema = ofType("object");
    schema.set("properties", std::move(properties));
    if (!required.items.empty()) {
      schema.set("required", std::move(required));
    }
    schema.set("additionalProperties", false);
    return schema;
  }

  Json alternatives(const Type &type) {
    Json list = Json::array();
    for (const TypeRef &alternative : type.alternatives) {
      list.items.push_back(use(*alternative));
    }
    for (const Choice &choice : type.choices) {
      std::vector<Field> fields = choice.object->fields;
      Field tag;
      tag.key = type.tag;
      Type word;
      word.kind = Type::Kind::Word;
      word.choices.push_back({choice.word, choice.supported, nullptr});
      tag.type = std::make_shared<const Type>(std::move(word));
      tag.required = true;
      fields.insert(fields.begin(), std::move(tag));
      list.items.push_back(object(fields));
    }
    Json schema = Json::object();
    schema.set("oneOf", std::move(list));
    return schema;
  }
};

} // namespace

std::string printSchema() {
  Printer printer;
  Json root = printer.use(specType());
  Json schema = Json::object();
  schema.set("$schema", "https://json-schema.org/draft/2020-12/schema");
  schema.set("$id", "tfc-spec-v1");
  schema.set("title", "A model for tfc, after extends, $def and overrides");
  for (Member &member : root.members) {
    schema.set(member.key, std::move(member.value));
  }
  schema.set("$defs", std::move(printer.definitions));
  return writeJson(schema);
}

} // namespace tfc::spec
