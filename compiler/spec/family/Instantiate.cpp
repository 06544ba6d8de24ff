// Holes and the arithmetic between them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/family/Instantiate.h"

#include "compiler/spec/family/Rules.h"

#include <cmath>

using namespace tfc;
using namespace tfc::family;
using spec::Json;

/// A table whose holes lead back to themselves is wrong.
static constexpr int maxDepth = 200;

bool family::isHole(const Json &value) {
  for (const spec::Member &member : value.members) {
    if (!member.key.empty() && member.key.front() == '$') {
      return true;
    }
  }
  return false;
}

void Instantiator::tableFault(const Json &where, const std::string &message) {
  spec::report(diagnostics, where.place, 0, message);
}

std::optional<Json> Instantiator::make(const Json &value) {
  if (isHole(value)) {
    if (depth == maxDepth) {
      tableFault(value, "expected holes that come to an end, got a circle");
      return std::nullopt;
    }
    ++depth;
    std::optional<Json> made = makeHole(value);
    --depth;
    return made;
  }
  Json result = value;
  result.place = file.place;
  result.items.clear();
  result.members.clear();
  for (const Json &item : value.items) {
    if (std::optional<Json> made = make(item)) {
      result.items.push_back(std::move(*made));
    }
  }
  for (const spec::Member &member : value.members) {
    if (std::optional<Json> made = make(member.value)) {
      result.members.push_back({member.key, file.place, std::move(*made)});
    }
  }
  return result;
}

std::optional<Json> Instantiator::member(const Json &hole,
                                         std::string_view name) {
  const Json *value = hole.find(name);
  return value ? make(*value) : std::nullopt;
}

int64_t Instantiator::integer(const Json &hole, std::string_view name,
                              int64_t fallback, int64_t least, int64_t most) {
  std::optional<Json> value = member(hole, name);
  if (!value) {
    return fallback;
  }
  if (!value->isInteger() || value->integer < least || value->integer > most) {
    spec::report(diagnostics, value->place, 4,
                 "expected an integer from " + std::to_string(least) + " to " +
                     std::to_string(most) + ", got " + spec::describe(*value));
    return fallback;
  }
  return value->integer;
}

std::optional<Json> Instantiator::makeHole(const Json &hole) {
  if (hole.find("$key")) {
    return readKey(hole);
  }
  if (hole.find("$spec")) {
    return readSpec(hole);
  }
  if (hole.find("$inside")) {
    return readInside(hole);
  }
  if (hole.find("$if")) {
    return choose(hole);
  }
  if (hole.find("$rule")) {
    return applyRule(hole);
  }
  return compute(hole);
}

/// Of a list of so many the one that the hole names.
std::optional<Json> Instantiator::itemOf(const Json &hole,
                                         const std::string &key,
                                         const Json &list) {
  int64_t count = hole.find("of")->integer;
  if (!list.isArray() || int64_t(list.items.size()) != count) {
    config.fault(key, "expected a list of " + std::to_string(count) + ", got " +
                          (list.isArray()
                               ? "one of " + std::to_string(list.items.size())
                               : spec::describe(list)));
    return member(hole, "default");
  }
  return list.items[size_t(hole.find("item")->integer)];
}

/// The value of the first of the keys that config.json has; all that it has
/// must agree. Null is no value, unless the hole says what it means.
std::optional<Json> Instantiator::readKey(const Json &hole) {
  const Json &names = *hole.find("$key");
  std::vector<Json> keys = names.isArray() ? names.items : std::vector{names};
  const Json *found = nullptr;
  std::string first;
  bool isNull = false;
  for (const Json &name : keys) {
    const Json *value = config.value(name.text);
    isNull |= config.isNull(name.text);
    if (value && found && !(*value == *found)) {
      config.fault(name.text, "expected " + spec::describe(*found) +
                                  " (the value of " + first +
                                  ", which means the same), got " +
                                  spec::describe(*value));
    }
    if (value && !found) {
      found = value;
      first = name.text;
    }
  }
  if (found && hole.find("item")) {
    return itemOf(hole, first, *found);
  }
  if (found) {
    return *found;
  }
  const char *instead = isNull && hole.find("null") ? "null" : "default";
  std::optional<Json> value = member(hole, instead);
  // Without a place of its own it is where the key would be.
  if (value && value->place.path == file.place.path) {
    value->place = config.placeOf(keys.front().text);
  }
  return value;
}

/// Another part of the table's spec: its value, wherever that comes from.
std::optional<Json> Instantiator::readSpec(const Json &hole) {
  const Json &path = *hole.find("$spec");
  const Json *value = table.find("spec");
  std::string before = config.enter("");
  for (size_t at = 0; value && at <= path.text.size();) {
    size_t end = std::min(path.text.find('.', at), path.text.size());
    value = value->find(std::string_view(path.text).substr(at, end - at));
    at = end + 1;
    if (const Json *key = value ? value->find("$inside") : nullptr) {
      config.enter(key->text);
      value = value->find("value");
    }
  }
  if (!value) {
    tableFault(path, "expected a path in the table's spec, got " +
                         spec::describe(path));
  }
  std::optional<Json> made = value ? make(*value) : std::nullopt;
  config.enter(std::move(before));
  return made;
}

/// Keys of `value` are those of an object in config.json.
std::optional<Json> Instantiator::readInside(const Json &hole) {
  std::string before = config.enter(hole.find("$inside")->text);
  std::optional<Json> made = member(hole, "value");
  config.enter(std::move(before));
  return made;
}

/// "is": one value, or a list of them; without it the condition is a boolean.
std::optional<Json> Instantiator::choose(const Json &hole) {
  std::optional<Json> condition = member(hole, "$if");
  bool holds = false;
  if (std::optional<Json> is = member(hole, "is")) {
    std::vector<Json> values = is->isArray() ? is->items : std::vector{*is};
    for (const Json &value : values) {
      holds |= condition && *condition == value;
    }
  } else if (condition) {
    if (!condition->isBoolean()) {
      spec::report(diagnostics, condition->place, 4,
                   "expected true or false, got " + spec::describe(*condition));
    }
    holds = condition->isBoolean() && condition->boolean;
  }
  return member(hole, holds ? "then" : "else");
}

/// Gives what a rule made, and what is in it, a place where it has none.
static void fillPlaces(Json &value, const spec::Place &place) {
  if (!value.place.path) {
    value.place = place;
  }
  for (Json &item : value.items) {
    fillPlaces(item, place);
  }
  for (spec::Member &member : value.members) {
    member.keyPlace = place;
    fillPlaces(member.value, place);
  }
}

std::optional<Json> Instantiator::applyRule(const Json &hole) {
  const Json &name = *hole.find("$rule");
  std::optional<Json> value;
  if (auto own = rules.find(name.text); own != rules.end()) {
    value = own->second(hole);
  } else if (RuleFunction rule = findRule(name.text)) {
    value = rule(*this, hole);
  } else {
    tableFault(name, "expected a rule of tfc, got " + spec::describe(name));
  }
  if (value) {
    fillPlaces(*value, file.place);
  }
  return value;
}

/// "num_heads" of a value from config.json, which messages about another one
/// name.
static std::string nameOf(const Json &value) {
  std::string pointer = value.place.pointer();
  std::string name = pointer.substr(pointer.rfind('/') + 1);
  return name.empty() ? spec::describe(value)
                      : name + " (" + spec::describe(value) + ")";
}

Json Instantiator::divide(const Json &a, const Json &b) {
  if (a.isInteger() && b.isInteger()) {
    if (b.integer > 0 && a.integer % b.integer == 0) {
      return a.integer / b.integer;
    }
  } else if (b.real != 0) {
    return a.real / b.real;
  }
  spec::report(diagnostics, b.place, 0,
               "expected a divisor of " + nameOf(a) + ", got " +
                   spec::describe(b));
  return 1;
}

/// $mul, $sub, $div, $ceil_div, $min of a list, $rsqrt of one value, from left
/// to right.
Json Instantiator::compute(const Json &hole) {
  const spec::Member &operation = hole.members.front();
  std::vector<Json> values;
  std::vector<Json> one = {operation.value};
  for (const Json &operand :
       operation.value.isArray() ? operation.value.items : one) {
    std::optional<Json> value = make(operand);
    if (!value || !value->isNumber()) {
      if (value) {
        spec::report(diagnostics, value->place, 4,
                     "expected a number, got " + spec::describe(*value));
      } else {
        tableFault(operand, "expected a number, got nothing");
      }
      return 1;
    }
    values.push_back(std::move(*value));
  }
  Json result = values.at(0);
  if (operation.key == "$rsqrt") {
    result = Json(1 / std::sqrt(values[0].real));
  }
  for (size_t i = 1; i < values.size(); ++i) {
    const Json &next = values[i];
    bool whole = result.isInteger() && next.isInteger();
    int64_t integer = 0;
    bool tooLarge = false;
    spec::Place place = result.place;
    if (operation.key == "$div") {
      result.place = values[0].place;
      result = divide(result, next);
    } else if (operation.key == "$ceil_div") {
      result = Json(int64_t(std::ceil(result.real / next.real)));
    } else if (operation.key == "$mul") {
      tooLarge = whole &&
                 __builtin_mul_overflow(result.integer, next.integer, &integer);
      result = whole ? Json(integer) : Json(result.real * next.real);
    } else if (operation.key == "$sub") {
      tooLarge = whole &&
                 __builtin_sub_overflow(result.integer, next.integer, &integer);
      result = whole ? Json(integer) : Json(result.real - next.real);
    } else if (operation.key == "$min") {
      result = next.real < result.real ? next : result;
    } else {
      tableFault(hole, "expected a hole of tfc, got " +
                           spec::inQuotes(operation.key));
      return 1;
    }
    if (tooLarge) {
      spec::report(diagnostics, place, 4,
                   "expected a smaller number, got " + spec::describe(next));
      return 1;
    }
    result.place = place;
  }
  // A result is where the first value is that the user may have written.
  result.place = file.place;
  for (const Json &value : values) {
    if (value.place.path != file.place.path) {
      result.place = value.place;
      break;
    }
  }
  return result;
}
