// Finds the source of every parameter in weights.map.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/weights/ResolveWeights.h"
#include "compiler/spec/read/SpecReader.h"

#include <algorithm>
#include <unordered_set>

namespace tfc::spec {
namespace {

struct Entry {
  const Member *member = nullptr;
  bool used = false, faulty = false;
};

class Resolver {
public:
  Resolver(const Json &map, ModelSpec &model, Diagnostics &diagnostics)
      : map(map), model(model), diagnostics(diagnostics),
        slots(listParameters(model)) {}

  void resolve() {
    for (const Slot &slot : slots) {
      if (slot.part == "weight") {
        rowsOf[slot.stem] = slot.parameter.rows;
      }
    }
    for (const Member &member : map.members) {
      Entry &entry = entries[member.key];
      entry.member = &member;
      entry.faulty = !checkSourceForm(member, diagnostics);
    }
    for (Slot &slot : slots) {
      resolve(slot);
    }
    for (const Member &member : map.members) {
      const Entry &entry = entries[member.key];
      if (!entry.used && !entry.faulty) {
        reportUnknown(member);
      }
    }
    for (const Slot *slot : missing) {
      reportMissing(*slot);
    }
  }

private:
  const Json &map;
  ModelSpec &model;
  Diagnostics &diagnostics;
  std::vector<Slot> slots;
  std::unordered_map<std::string, Entry> entries;
  RowsOf rowsOf;
  std::vector<const Slot *> missing;
  /// What unknown keys were probably meant to be.
  std::unordered_set<std::string> meant;
  std::vector<std::string> knownKeys;
  size_t hints = 0;

  void resolve(Slot &slot);
  Entry *find(const Slot &slot, const std::string &stem);
  Entry *entryOf(const std::string &key);
  void reportMissing(const Slot &slot);
  void reportUnknown(const Member &member);
};

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
  if (packed && !packed->faulty) {
    std::vector<std::string> names =
        textsOf(*packed->member->value.find("pack"));
    std::string last = cutLast(stem).second;
    if (std::find(names.begin(), names.end(), last) == names.end()) {
      packed = nullptr;
    }
  }
  if (entry && packed) {
    report(diagnostics, entry->member->keyPlace, BadMapKey,
           "expected one source for \"" + stem + "\", got \"" + key + "\" too");
    packed->used = true;
  }
  entry = entry ? entry : packed;
  if (entry) {
    entry->used = true;
  }
  return entry;
}

void Resolver::resolve(Slot &slot) {
  Entry *entry = find(slot, slot.stem);
  if (slot.common != slot.stem) {
    // Also when a key of the run comes first: other runs need the common one,
    // or nobody does.
    Entry *common = find(slot, slot.common);
    entry = entry ? entry : common;
  }
  if (slot.piece >= 0) {
    Entry *ofAll = find(slot, slot.ofPieces);
    entry = entry ? entry : ofAll;
  }
  if (!entry) {
    if (slot.tiedTo.empty()) {
      missing.push_back(&slot);
    }
    return;
  }
  if (entry->faulty || !readSource(*entry->member, rowsOf, slot, diagnostics)) {
    entry->faulty = true;
    return;
  }
  slot.parameter.tiedTo = slot.tiedTo;
  model.parameters.push_back(slot.parameter);
}

void Resolver::reportMissing(const Slot &slot) {
  bool half =
      entryOf(slot.common + ".weight") || entryOf(slot.common + ".bias");
  std::string name = half ? slot.common + "." + slot.part : slot.common;
  std::string packed = packKey(slot.common);
  const Entry *pack = packed.empty() ? nullptr : entryOf(packed);
  // One fault, one diagnostic: a misspelled key, a pack that is wrong.
  if (meant.count(slot.common) || meant.count(name) || (pack && pack->faulty)) {
    return;
  }
  report(diagnostics, map.place.child(name), NoSource,
         "expected a source for \"" + name + "\"" +
             (packed.empty() ? "" : " (or \"" + packed + "\")") +
             ", got nothing");
}

void Resolver::reportUnknown(const Member &member) {
  constexpr size_t maxHints = 32, maxKeys = 4096;
  if (diagnostics.size() >= maxReported) {
    return;
  }
  for (const Stack *stack : model.stacks()) {
    if (stack->layers == 0 &&
        (member.key.rfind(stack->name + ".layers.", 0) == 0 ||
         member.key == stack->name + ".position_bias")) {
      return; // a preset's block, of which no layer is left
    }
  }
  if (knownKeys.empty()) {
    for (const Slot &slot : slots) {
      for (const std::string &stem : {slot.common, slot.stem, slot.ofPieces}) {
        knownKeys.insert(knownKeys.end(),
                         {stem, stem + "." + slot.part, packKey(stem)});
      }
    }
    knownKeys.resize(std::min(knownKeys.size(), maxKeys));
  }
  std::string near =
      hints++ < maxHints ? nearestWord(member.key, knownKeys) : "";
  meant.insert(near.empty() ? member.key : near);
  report(diagnostics, member.keyPlace, BadMapKey,
         "expected a parameter of this model" +
             (near.empty() ? "" : " (did you mean \"" + near + "\"?)") +
             ", got " + inQuotes(member.key));
}

/// Without a map a tensor has the name of the parameter, {i} after "layers",
/// and the number of the layer in its group where that has several.
void useOwnNames(ModelSpec &model) {
  for (Slot &slot : listParameters(model)) {
    std::string name = slot.common + "." + slot.part;
    if (slot.parameter.firstLayer >= 0) {
      std::string own = slot.places > 1 ? "." + std::to_string(slot.place) : "";
      name.insert(name.find(".layers.") + 7, ".{i}" + own);
    }
    if (slot.parameter.experts > 0) {
      size_t moe = name.find(".moe.");
      name.insert(moe == name.npos ? name.find(".attn.") + 5 : moe + 4, ".{e}");
    }
    slot.parameter.patterns = {name};
    if (slot.tiedTo.empty()) {
      model.parameters.push_back(std::move(slot.parameter));
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
  if (const Json *map = root.at({"weights", "map"})) {
    Resolver(*map, model, diagnostics).resolve();
  } else {
    useOwnNames(model);
  }
  if (ignore && !hasError(diagnostics)) {
    model.ignore = textsOf(*ignore);
    checkIgnore(*ignore, model, diagnostics);
  }
}

} // namespace tfc::spec
