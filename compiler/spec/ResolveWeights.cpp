// Finds the source of every parameter in weights.map.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/ResolveWeights.h"
#include "compiler/spec/SpecReader.h"

#include <algorithm>
#include <unordered_map>

namespace tfc::spec {
namespace {

bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

/// "a.b.c" -> "a.b" and "c".
std::pair<std::string, std::string> cutLast(const std::string &name) {
  size_t dot = name.rfind('.');
  return {name.substr(0, dot), name.substr(dot + 1)};
}

/// The key under which a packed tensor gives this stem: "attn.qkv" for
/// "attn.q"; "" for stems that are never packed.
std::string packKey(const std::string &stem) {
  auto [parent, last] = cutLast(stem);
  if (endsWith(parent, ".attn") &&
      (last == "q" || last == "k" || last == "v")) {
    return parent + ".qkv";
  }
  if (endsWith(parent, ".ffn") && (last == "gate" || last == "up")) {
    return parent + ".gate_up";
  }
  return "";
}

/// A text, or the texts of a list.
std::vector<std::string> textsOf(const Json &value) {
  std::vector<std::string> texts;
  if (value.isString()) {
    texts.push_back(value.text);
  }
  for (const Json &item : value.items) {
    texts.push_back(item.text);
  }
  return texts;
}

struct Entry {
  const Member *member = nullptr;
  bool used = false;
};

class Resolver {
public:
  Resolver(const Json *map, ModelSpec &model, Diagnostics &diagnostics)
      : map(map), model(model), diagnostics(diagnostics),
        slots(listParameters(model)) {}

  void resolve() {
    for (const Slot &slot : slots) {
      if (slot.part == "weight") {
        rowsOf[slot.stem] = slot.parameter.rows;
      }
    }
    for (const Member &member : membersOf(map)) {
      if (hasGoodForm(member)) {
        entries[member.key].member = &member;
      }
    }
    if (hasError(diagnostics)) {
      return; // a source of bad form would be missed as well
    }
    for (Slot &slot : slots) {
      if (map ? resolve(slot) : ownName(slot)) {
        slot.parameter.tiedTo = slot.tiedTo;
        model.parameters.push_back(std::move(slot.parameter));
      }
    }
    for (const Member &member : membersOf(map)) {
      if (!entries[member.key].used) {
        unknownKey(member);
      }
    }
  }

private:
  const Json *map; // null: there is none
  ModelSpec &model;
  Diagnostics &diagnostics;
  std::vector<Slot> slots;
  std::unordered_map<std::string, Entry> entries;
  std::unordered_map<std::string, int64_t> rowsOf;

  void error(const Place &place, Code code, std::string message) {
    report(diagnostics, place, code, std::move(message));
  }

  bool hasGoodForm(const Member &member);
  bool resolve(Slot &slot);
  bool ownName(Slot &slot);
  Entry *find(const Slot &slot, const std::string &stem);
  Entry *entryOf(const std::string &key);
  bool read(const Member &member, Slot &slot);
  bool readPack(const Json &pack, Slot &slot);
  bool checkPatterns(const Member &member, const Slot &slot);
  void noSource(const Slot &slot);
  void unknownKey(const Member &member);
};

/// Whether the entry's form belongs to its kind of key: a tensor, a stem, or a
/// packed stem.
bool Resolver::hasGoodForm(const Member &member) {
  const Json &value = member.value;
  bool exact = endsWith(member.key, ".weight") || endsWith(member.key, ".bias");
  bool packed =
      endsWith(member.key, ".qkv") || endsWith(member.key, ".gate_up");
  const Json *tensor = value.find("tensor"), *pack = value.find("pack");
  const Json *first = value.find("first_row");
  const Json *stored = value.find("stored_rows");
  auto fail = [&](const std::string &expected) {
    error(value.place, BadSource,
          "expected " + expected + ", got " +
              (value.isObject() ? "another form" : describe(value)));
    return false;
  };
  if (exact && !tensor) {
    return fail("{\"tensor\": ...} (the key names one tensor)");
  }
  if (!exact && tensor) {
    return fail("a stem (the key stands for .weight and .bias; a key that ends "
                "in one of them takes a tensor)");
  }
  if (value.isObject() && !tensor == !value.find("stem")) {
    return fail("\"stem\" or \"tensor\"");
  }
  if (packed != (pack != nullptr)) {
    return fail(packed ? "{\"stem\": ..., \"pack\": [...]} (the key stands for "
                         "several parameters)"
                       : "no \"pack\" (only keys that end in .qkv or .gate_up "
                         "have it)");
  }
  if (!first != !stored || (first && !tensor)) {
    return fail("\"first_row\" and \"stored_rows\" together, with \"tensor\"");
  }
  return true;
}

/// Without a map a tensor has the name of the parameter, {i} after "layers".
bool Resolver::ownName(Slot &slot) {
  if (!slot.tiedTo.empty()) {
    return false;
  }
  std::string name = slot.common + "." + slot.part;
  if (slot.parameter.firstLayer >= 0) {
    name.insert(model.stack.name.size() + std::string(".layers").size(),
                ".{i}");
  }
  slot.parameter.patterns = {name};
  return true;
}

Entry *Resolver::entryOf(const std::string &key) {
  auto it = entries.find(key);
  return it == entries.end() ? nullptr : &it->second;
}

/// The entry that gives a slot under this stem, marked as used.
Entry *Resolver::find(const Slot &slot, const std::string &stem) {
  if (Entry *exact = entryOf(stem + "." + slot.part)) {
    exact->used = true;
    return exact;
  }
  Entry *entry = entryOf(stem);
  std::string key = packKey(stem);
  Entry *packed = key.empty() ? nullptr : entryOf(key);
  if (packed) {
    std::vector<std::string> names =
        textsOf(*packed->member->value.find("pack"));
    std::string last = cutLast(stem).second;
    if (std::find(names.begin(), names.end(), last) == names.end()) {
      packed = nullptr;
    }
  }
  if (entry && packed) {
    error(entry->member->keyPlace, BadMapKey,
          "expected one source for \"" + stem + "\", got \"" + key + "\" too");
    packed->used = true;
  }
  entry = entry ? entry : packed;
  if (entry) {
    entry->used = true;
  }
  return entry;
}

bool Resolver::resolve(Slot &slot) {
  Entry *entry = find(slot, slot.stem);
  if (slot.common != slot.stem) {
    // What one run overrides is used by the others.
    Entry *common = find(slot, slot.common);
    entry = entry ? entry : common;
  }
  if (!entry) {
    if (slot.tiedTo.empty()) {
      noSource(slot);
    }
    return false;
  }
  return read(*entry->member, slot) && checkPatterns(*entry->member, slot);
}

bool Resolver::read(const Member &member, Slot &slot) {
  const Json &value = member.value;
  Parameter &parameter = slot.parameter;
  const Json *tensor = value.find("tensor"), *stem = value.find("stem");
  for (std::string &name : textsOf(tensor ? *tensor : stem ? *stem : value)) {
    parameter.patterns.push_back(tensor ? name : name + "." + slot.part);
  }
  parameter.inOut =
      parameter.rank == 2 && wordOf(value, "layout", "out_in") == "in_out";
  parameter.fillZeros =
      slot.tiedTo.empty() && wordOf(value, "optional", "") == "zeros";
  if (const Json *pack = value.find("pack")) {
    return readPack(*pack, slot);
  }
  if (const Json *first = value.find("first_row")) {
    parameter.firstRow = first->integer;
    parameter.storedRows = value.find("stored_rows")->integer;
    if (parameter.firstRow + parameter.rows > parameter.storedRows) {
      error(first->place, BadSource,
            "expected at most " +
                std::to_string(parameter.storedRows - parameter.rows) +
                " (stored_rows - " + std::to_string(parameter.rows) +
                " rows of " + parameter.name + "), got " + describe(*first));
      return false;
    }
  }
  return true;
}

/// The rows of a slot within a tensor that has several parameters, one after
/// the other.
bool Resolver::readPack(const Json &pack, Slot &slot) {
  auto [parent, last] = cutLast(slot.stem);
  std::vector<std::string> names = textsOf(pack);
  int64_t rows = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    auto known = rowsOf.find(parent + "." + names[i]);
    bool again = std::count(names.begin(), names.end(), names[i]) > 1;
    if (known == rowsOf.end() || again) {
      error(pack.items[i].place, BadSource,
            std::string("expected every parameter of the layer ") +
                (again ? "once" : "by its name (there is none of this one)") +
                ", got \"" + names[i] + "\"");
      return false;
    }
    if (names[i] == last) {
      slot.parameter.firstRow = rows;
    }
    rows += known->second;
  }
  slot.parameter.storedRows = rows;
  return true;
}

/// Placeholders: {p} and {i} only, {i} exactly where layers differ.
bool Resolver::checkPatterns(const Member &member, const Slot &slot) {
  bool layered = slot.parameter.firstLayer >= 0;
  bool ofRun = member.key.compare(0, slot.stem.size(), slot.stem) == 0;
  int64_t layers = ofRun && slot.stem != slot.common ? slot.parameter.layers
                                                     : model.stack.layers;
  for (std::string pattern : slot.parameter.patterns) {
    std::string fault;
    Code code = BadPattern;
    bool hasIndex = pattern.find("{i}") != pattern.npos;
    for (size_t at = 0;
         (at = pattern.find_first_of("{}", at)) != pattern.npos;) {
      std::string word = pattern.substr(at, 3);
      if (word == "{h}" || word == "{g}" || word == "{k}") {
        code = Unsupported;
        fault = "expected no " + word + " (not supported by this tfc)";
      } else if (word != "{p}" && word != "{i}") {
        fault = "expected the placeholders {p} and {i} only";
      }
      at += 3;
    }
    if (fault.empty() && layered && layers > 1 && !hasIndex) {
      fault = "expected {i} in the name (" + std::to_string(layers) +
              " layers would read the same tensor)";
    } else if (fault.empty() && !layered && hasIndex) {
      fault = "expected no {i} (" + slot.stem + " is in no layer)";
    }
    if (fault.empty() && pattern.size() > 1024) {
      fault = "expected at most 1024 bytes";
    }
    if (!fault.empty()) {
      error(member.value.place, code, fault + ", got " + inQuotes(pattern));
      return false;
    }
  }
  return true;
}

void Resolver::noSource(const Slot &slot) {
  bool half = entries.count(slot.common + ".weight") ||
              entries.count(slot.common + ".bias");
  std::string name = half ? slot.common + "." + slot.part : slot.common;
  std::string packed = packKey(slot.common);
  error(map->place.child(name), NoSource,
        "expected a source for \"" + name + "\"" +
            (packed.empty() ? "" : " (or \"" + packed + "\")") +
            ", got nothing");
}

void Resolver::unknownKey(const Member &member) {
  std::vector<std::string> names;
  for (const Slot &slot : slots) {
    // Keys that say a part, and runs, only when the key does so too.
    for (const std::string &stem : {slot.common, slot.stem}) {
      names.push_back(stem);
      names.push_back(stem + "." + slot.part);
      names.push_back(packKey(stem));
    }
    if (names.size() > 4096) {
      break; // enough for a hint
    }
  }
  std::string near = nearestWord(member.key, names);
  error(member.keyPlace, BadMapKey,
        "expected a parameter of this model" +
            (near.empty() ? "" : " (did you mean \"" + near + "\"?)") +
            ", got " + inQuotes(member.key));
}

/// Whether a name matches a pattern in which * stands for anything.
bool matchesGlob(std::string_view name, std::string_view glob) {
  size_t n = 0, g = 0, star = glob.npos, resume = 0;
  while (n < name.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = n;
    } else if (g < glob.size() && glob[g] == name[n]) {
      ++g;
      ++n;
    } else if (star != glob.npos) {
      g = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') {
    ++g;
  }
  return g == glob.size();
}

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos;
       at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// A tensor cannot be both read and ignored. Later alternatives of a name may
/// be ignored: they are copies.
void checkIgnore(const Json &ignore, const ModelSpec &model,
                 Diagnostics &diagnostics) {
  for (const Json &glob : ignore.items) {
    for (const Parameter &parameter : model.parameters) {
      int64_t first = std::max<int64_t>(parameter.firstLayer, 0);
      std::string name =
          replaced(parameter.patterns.front(), "{i}", std::to_string(first));
      bool matches = std::any_of(
          model.prefixes.begin(), model.prefixes.end(),
          [&](const std::string &prefix) {
            return matchesGlob(replaced(name, "{p}", prefix), glob.text);
          });
      if (matches) {
        report(diagnostics, glob.place, BadIgnore,
               "expected no tensor that is read (" + parameter.name +
                   " is in " + inQuotes(name) + "), got " + describe(glob));
        break;
      }
    }
  }
}

} // namespace

void resolveWeights(const Json &root, ModelSpec &model,
                    Diagnostics &diagnostics) {
  const Json *prefix = root.at({"weights", "prefix"});
  const Json *aliases = root.at({"weights", "aliases"});
  const Json *ignore = root.at({"weights", "ignore"});
  model.prefixes = prefix ? textsOf(*prefix) : std::vector<std::string>{""};
  for (const Json &pair : itemsOf(aliases)) {
    model.aliases.emplace_back(pair.items[0].text, pair.items[1].text);
  }
  Resolver(root.at({"weights", "map"}), model, diagnostics).resolve();
  if (ignore && !hasError(diagnostics)) {
    model.ignore = textsOf(*ignore);
    checkIgnore(*ignore, model, diagnostics);
  }
}

} // namespace tfc::spec
