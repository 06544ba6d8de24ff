// Typed reads of config.json.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/family/Config.h"

using namespace tfc;
using namespace tfc::family;
using spec::Json;

std::string Config::enter(std::string key) {
  std::swap(inside, key);
  return key;
}

std::string Config::nameOf(std::string_view key) const {
  return inside.empty() ? std::string(key) : inside + "." + std::string(key);
}

std::string Config::use(std::string_view key) {
  return *read.insert(nameOf(key)).first;
}

const Json *Config::value(std::string_view key) {
  const Json *found = object.find(use(key));
  return found && !found->isNull() ? found : nullptr;
}

spec::Place Config::placeOf(std::string_view key) const {
  std::string name = nameOf(key);
  const Json *found = object.find(name);
  return found ? found->place : object.place.child(name);
}

void Config::fault(std::string_view key, const std::string &message) {
  spec::report(diagnostics, placeOf(key), 0, message);
}

void Config::faultAt(const Json &value, const std::string &message) {
  spec::report(diagnostics, value.place, 0, message);
}

int64_t Config::integer(std::string_view key, int64_t byDefault, int64_t least,
                        int64_t most) {
  std::optional<int64_t> number =
      spec::getInteger(object, use(key), diagnostics);
  if (!number) {
    return byDefault;
  }
  if (*number < least || *number > most) {
    fault(key, "expected an integer from " + std::to_string(least) + " to " +
                   std::to_string(most) + ", got " + std::to_string(*number));
    return byDefault;
  }
  return *number;
}

int64_t Config::integer(std::string_view key, std::string_view otherKey,
                        int64_t byDefault, int64_t least, int64_t most) {
  const Json *first = value(key), *second = value(otherKey);
  if (!first) {
    return integer(second ? otherKey : key, byDefault, least, most);
  }
  int64_t number = integer(key, byDefault, least, most);
  if (second && integer(otherKey, number, least, most) != number) {
    fault(otherKey, "expected " + std::to_string(number) + " (the value of " +
                        std::string(key) + ", which means the same), got " +
                        spec::describe(*second));
  }
  return number;
}

double Config::number(std::string_view key, double byDefault, double least,
                      double most) {
  std::optional<double> found = spec::getReal(object, use(key), diagnostics);
  if (!found) {
    return byDefault;
  }
  if (!(*found >= least && *found <= most)) {
    fault(key, "expected a number from " + spec::describe(Json(least)) +
                   " to " + spec::describe(Json(most)) + ", got " +
                   spec::describe(*object.find(nameOf(key))));
    return byDefault;
  }
  return *found;
}

bool Config::isNull(std::string_view key) {
  const Json *found = object.find(use(key));
  return found && found->isNull();
}

double Config::epsilon(std::string_view key, double byDefault) {
  std::optional<double> number = spec::getReal(object, use(key), diagnostics);
  if (!number) {
    return byDefault;
  }
  if (!(*number > 0 && *number <= 0.01)) {
    fault(key, "expected a number above 0, at most 0.01 (added to a variance)"
               ", got " +
                   spec::describe(*object.find(nameOf(key))));
    return byDefault;
  }
  return *number;
}

bool Config::boolean(std::string_view key, bool byDefault) {
  return spec::getBoolean(object, use(key), diagnostics).value_or(byDefault);
}

std::string Config::string(std::string_view key, std::string_view byDefault) {
  return spec::getString(object, use(key), diagnostics)
      .value_or(std::string(byDefault));
}

void Config::ignore(const std::vector<std::string_view> &keys) {
  for (std::string_view key : keys) {
    use(key);
  }
}

void Config::refuseTrue(std::string_view key, std::string_view why) {
  if (boolean(key, false)) {
    fault(key, "expected false (" + std::string(why) + "), got true");
  }
}

void Config::expectBoolean(std::string_view key, bool wanted,
                           std::string_view why) {
  bool isNullValue = isNull(key);
  if (isNullValue ? wanted : boolean(key, wanted) != wanted) {
    fault(key, std::string("expected ") + (wanted ? "true" : "false") + " (" +
                   std::string(why) + "), got " +
                   spec::describe(*object.find(nameOf(key))));
  }
}

void Config::refuseKey(std::string_view key, std::string_view why) {
  if (const Json *found = object.find(use(key))) {
    fault(key, "expected none (" + std::string(why) + "), got " +
                   spec::describe(*found));
  }
}

void Config::refuseContent(std::string_view key, std::string_view why) {
  const Json *found = value(key);
  bool empty = !found || (found->isBoolean() && !found->boolean) ||
               (found->isObject() && found->members.empty()) ||
               (found->isArray() && found->items.empty());
  if (!empty) {
    fault(key, "expected none (" + std::string(why) + "), got " +
                   spec::describe(*found));
  }
}

void Config::reportUnread(bool strict) {
  std::string names;
  spec::Place first = object.place;
  for (const spec::Member &member : object.members) {
    if (read.count(member.key)) {
      continue;
    }
    if (names.empty()) {
      first = member.keyPlace;
    }
    names += (names.empty() ? "" : ", ") + spec::inQuotes(member.key);
  }
  if (names.empty()) {
    return;
  }
  first.path = object.place.path;
  spec::report(diagnostics, first, 2,
               "expected only keys that tfc knows (others may change results),"
               " got " +
                   names,
               strict ? spec::Severity::Error : spec::Severity::Warning);
}

int64_t family::readLabels(Config &config, int64_t byDefault) {
  // Read first, so that num_labels beside id2label is not an unknown key.
  int64_t labels = config.integer("num_labels", byDefault, 1, 1 << 20);
  const Json *names = config.value("id2label");
  if (!names) {
    return labels;
  }
  if (!names->isObject() || names->members.empty()) {
    config.fault("id2label", "expected an object with a name per label, got " +
                                 (names->isObject() ? "an empty one"
                                                    : spec::describe(*names)));
    return labels;
  }
  return static_cast<int64_t>(names->members.size());
}

static const std::pair<std::string_view, std::string_view> activations[] = {
    {"gelu", "gelu"},
    {"gelu_python", "gelu"},
    {"gelu_new", "gelu_new"},
    {"quick_gelu", "quick_gelu"},
    {"gelu_pytorch_tanh", "gelu_new"},
    {"gelu_python_tanh", "gelu_new"},
    {"relu", "relu"},
    {"relu2", "relu2"},
    {"silu", "silu"},
    {"swish", "silu"},
    {"tanh", "tanh"}};

std::string_view family::findActivation(std::string_view name) {
  for (const auto &[theirs, ours] : activations) {
    if (theirs == name) {
      return ours;
    }
  }
  return "";
}

std::string family::knownActivations() {
  std::string known;
  for (const auto &[theirs, ours] : activations) {
    known += (known.empty() ? "" : ", ") + std::string(theirs);
  }
  return known;
}
