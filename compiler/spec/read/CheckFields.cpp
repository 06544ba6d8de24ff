// Checks a tree against the table of SpecFields.h.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"

#include <algorithm>

namespace tfc::spec {
namespace {

constexpr int unknownKey = 2, wrongType = 4, notSupported = 90;

std::string join(const std::vector<std::string> &words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  }
  return text;
}

std::vector<std::string> wordsOf(const Type &type, bool onlySupported) {
  std::vector<std::string> words;
  for (const Choice &choice : type.choices) {
    if (choice.supported || !onlySupported) {
      words.push_back(choice.word);
    }
  }
  return words;
}

/// "an integer from 1 to 4096": what a message says is expected.
std::string expectation(const Type &type) {
  switch (type.kind) {
  case Type::Kind::Any:
    return "a value";
  case Type::Kind::Boolean:
    return "true or false";
  case Type::Kind::Integer:
    if (type.min == type.max) {
      return "the number " + std::to_string(type.min);
    }
    return "an integer from " + std::to_string(type.min) + " to " +
           std::to_string(type.max);
  case Type::Kind::Number:
    return "a number";
  case Type::Kind::String:
    return "a string";
  case Type::Kind::Word:
    return join(wordsOf(type, true));
  case Type::Kind::Array:
    return "an array";
  case Type::Kind::Object:
  case Type::Kind::Map:
  case Type::Kind::Tagged:
    return "an object";
  case Type::Kind::OneOf: {
    std::vector<std::string> all;
    for (const TypeRef &alternative : type.alternatives) {
      all.push_back(expectation(*alternative));
    }
    return join(all);
  }
  }
  return "";
}

/// Whether the value is of the JSON type that `type` is about.
bool fits(const Json &value, const Type &type) {
  switch (type.kind) {
  case Type::Kind::Any:
    return !value.isNull();
  case Type::Kind::Boolean:
    return value.isBoolean();
  case Type::Kind::Integer:
    return value.isInteger();
  case Type::Kind::Number:
    return value.isNumber();
  case Type::Kind::String:
  case Type::Kind::Word:
    return value.isString();
  case Type::Kind::Array:
    return value.isArray();
  case Type::Kind::Object:
  case Type::Kind::Map:
  case Type::Kind::Tagged:
    return value.isObject();
  case Type::Kind::OneOf:
    return std::any_of(
        type.alternatives.begin(), type.alternatives.end(),
        [&](const TypeRef &alternative) { return fits(value, *alternative); });
  }
  return false;
}

class Checker {
public:
  explicit Checker(Diagnostics &diagnostics) : diagnostics(diagnostics) {}

  void check(const Json &value, const Type &type) {
    if (!fits(value, type)) {
      mismatch(value, type);
      return;
    }
    switch (type.kind) {
    case Type::Kind::Integer:
      if (value.integer < type.min || value.integer > type.max) {
        mismatch(value, type);
      }
      return;
    case Type::Kind::Word:
      checkWord(value, type);
      return;
    case Type::Kind::Array:
    case Type::Kind::Map:
      checkElements(value, type);
      return;
    case Type::Kind::Object:
      checkObject(value, type.fields, "");
      return;
    case Type::Kind::Tagged:
      checkTagged(value, type);
      return;
    case Type::Kind::OneOf:
      check(value,
            **std::find_if(type.alternatives.begin(), type.alternatives.end(),
                           [&](const TypeRef &a) { return fits(value, *a); }));
      return;
    default:
      return;
    }
  }

private:
  Diagnostics &diagnostics;

  void mismatch(const Json &value, const Type &type) {
    std::string why = value.isNull()
                          ? " (null is not allowed: leave the key out)"
                      : type.why.empty() ? ""
                                         : " (" + type.why + ")";
    report(diagnostics, value.place, type.code,
           "expected " + expectation(type) + why + ", got " + describe(value));
  }

  /// The choice that `value` names; null after a diagnostic.
  const Choice *checkWord(const Json &value, const Type &type) {
    for (const Choice &choice : type.choices) {
      if (choice.word != value.text) {
        continue;
      }
      if (choice.supported) {
        return &choice;
      }
      report(diagnostics, value.place, notSupported,
             "expected " + join(wordsOf(type, true)) + " (" + choice.word +
                 " is not supported by this tfc), got " + describe(value));
      return nullptr;
    }
    auto meant = type.meant.find(value.text);
    std::string near = meant != type.meant.end()
                           ? meant->second
                           : nearestWord(value.text, wordsOf(type, false));
    std::string hint = near.empty() ? "" : " (did you mean \"" + near + "\"?)";
    report(diagnostics, value.place, type.code,
           "expected " + join(wordsOf(type, true)) + hint + ", got " +
               describe(value));
    return nullptr;
  }

  void checkElements(const Json &value, const Type &type) {
    int64_t count = int64_t(value.items.size() + value.members.size());
    if (count < type.min || count > type.max) {
      report(diagnostics, value.place, wrongType,
             "expected " + std::to_string(type.min) + " to " +
                 std::to_string(type.max) + " elements, got " +
                 std::to_string(count));
      return;
    }
    for (const Json &item : value.items) {
      check(item, *type.element);
    }
    for (const Member &member : value.members) {
      check(member.value, *type.element);
    }
  }

  void checkTagged(const Json &value, const Type &type) {
    const Json *tag = value.find(type.tag);
    if (!tag) {
      missing(value, type.tag);
      return;
    }
    if (!tag->isString()) {
      report(diagnostics, tag->place, wrongType,
             "expected a string, got " + describe(*tag));
      return;
    }
    if (const Choice *choice = checkWord(*tag, type)) {
      checkObject(value, choice->object->fields, type.tag);
    }
  }

  void checkObject(const Json &value, const std::vector<Field> &fields,
                   const std::string &tag) {
    for (const Member &member : value.members) {
      if (member.key == tag) {
        continue;
      }
      auto field =
          std::find_if(fields.begin(), fields.end(),
                       [&](const Field &f) { return f.key == member.key; });
      if (field == fields.end()) {
        unknown(member, fields);
      } else if (!field->deferred) {
        checkField(member, *field);
      }
    }
    for (const Field &field : fields) {
      if (field.required && !value.find(field.key)) {
        missing(value, field.key);
      }
    }
  }

  void checkField(const Member &member, const Field &field) {
    if (field.support == Field::Support::Yes) {
      check(member.value, *field.type);
      return;
    }
    if (field.neutral && *field.neutral == member.value) {
      return;
    }
    report(diagnostics, member.value.place, notSupported,
           "expected no \"" + field.key + "\"" +
               (field.neutral ? " but " + describe(*field.neutral) : "") +
               " (not supported by this tfc), got " + describe(member.value));
  }

  void missing(const Json &object, const std::string &key) {
    report(diagnostics, object.place.child(key), wrongType,
           "expected \"" + key + "\" (it is required), got nothing");
  }

  void unknown(const Member &member, const std::vector<Field> &fields) {
    if (diagnostics.size() >= maxReported) {
      return; // spares the search
    }
    std::vector<std::string> keys;
    for (const Field &field : fields) {
      keys.push_back(field.key);
    }
    std::string near = nearestWord(member.key, keys);
    std::string expected = !near.empty()
                               ? "a known key (did you mean \"" + near + "\"?)"
                           : keys.empty() ? "no key"
                                          : "one of the keys " + join(keys);
    report(diagnostics, member.keyPlace, unknownKey,
           "expected " + expected + ", got " + inQuotes(member.key));
  }
};

} // namespace

void checkFields(const Json &value, const Type &type,
                 Diagnostics &diagnostics) {
  Checker(diagnostics).check(value, type);
}

} // namespace tfc::spec
