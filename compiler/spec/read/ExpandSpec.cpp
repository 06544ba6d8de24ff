// Merge patches, extends and $def, with the places of values kept.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/ExpandSpec.h"
#include "compiler/spec/family/FamilyTable.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

namespace tfc::spec {
namespace {

namespace fs = std::filesystem;

constexpr int badDef = 5, badExtends = 6;
constexpr size_t maxDepth = 64;
/// Definitions can double at every level; their copies cannot.
constexpr size_t maxCopies = 200000;

/// Gives all of a tree one line and column; the pointers stay.
void moveTo(Json &value, const Place &place) {
  value.place.line = place.line;
  value.place.column = place.column;
  for (Json &item : value.items) {
    moveTo(item, place);
  }
  for (Member &member : value.members) {
    member.keyPlace.line = place.line;
    member.keyPlace.column = place.column;
    moveTo(member.value, place);
  }
}

/// Which place an object has that is on both sides of a merge.
enum class Places { OfTarget, OfPatch };

/// mergePatch; with `adopt`, what the patch leaves alone of an object that it
/// touches gets the place of that object (of `adopt`, at the top).
void merge(Json &target, const Json &patch, Places places,
           const Place *adopt = nullptr) {
  if (!patch.isObject()) {
    target = patch;
    return;
  }
  if (!target.isObject()) {
    target = Json::object();
    target.place = patch.place;
  }
  if (places == Places::OfPatch) {
    target.place = patch.place;
  }
  std::unordered_map<std::string, size_t> indices;
  for (size_t i = 0; i < target.members.size(); ++i) {
    indices.emplace(target.members[i].key, i);
    if (adopt) {
      moveTo(target.members[i].value, *adopt);
    }
  }
  for (const Member &member : patch.members) {
    auto [entry, isNew] = indices.emplace(member.key, target.members.size());
    if (isNew) {
      target.members.push_back({member.key, {}, Json()});
    }
    Member &merged = target.members[entry->second];
    merged.keyPlace = member.keyPlace;
    merge(merged.value, member.value, places,
          adopt ? &member.value.place : nullptr);
  }
  target.members.erase(
      std::remove_if(target.members.begin(), target.members.end(),
                     [](const Member &m) { return m.value.isNull(); }),
      target.members.end());
}

std::string join(const std::vector<std::string> &words, const char *between) {
  std::string text;
  for (const std::string &word : words) {
    text += (text.empty() ? "" : between) + word;
  }
  return text;
}

// ---- extends -------------------------------------------------------------

class Extender {
public:
  /// What files extend is looked for in `root` and below it.
  Extender(const fs::path &root, Diagnostics &diagnostics,
           std::vector<std::string> &files)
      : root(root.empty() ? "." : root), diagnostics(diagnostics),
        files(files) {}

  /// The spec merged over all that it extends.
  std::optional<Json> resolve(Json spec, const fs::path &dir) {
    const Json *extends = spec.find("extends");
    if (!extends) {
      return spec;
    }
    Json name = *extends;
    spec.remove("extends");
    if (!name.isString()) {
      return fail(name, "expected a string, got " + describe(name));
    }
    constexpr std::string_view scheme = "preset:";
    bool isPreset = name.text.compare(0, scheme.size(), scheme) == 0;
    std::optional<Json> base =
        isPreset ? preset(name, name.text.substr(scheme.size()), spec)
                 : file(name, dir);
    if (!base) {
      return std::nullopt;
    }
    merge(*base, spec, Places::OfPatch, isPreset ? &name.place : nullptr);
    return base;
  }

private:
  fs::path root;
  Diagnostics &diagnostics;
  std::vector<std::string> &files;
  std::vector<std::string> chain;

  /// Whether a path, links followed, leads to a place in the root or below it:
  /// a spec from somewhere else must not read what it likes.
  bool isInside(const fs::path &path) const {
    std::error_code error;
    fs::path top = fs::canonical(root, error);
    fs::path real =
        error ? fs::path() : fs::weakly_canonical(fs::absolute(path), error);
    return !error &&
           std::mismatch(top.begin(), top.end(), real.begin(), real.end())
                   .first == top.end();
  }

  std::nullopt_t fail(const Json &where, std::string message) {
    report(diagnostics, where.place, badExtends, std::move(message));
    return std::nullopt;
  }

  /// False, with a diagnostic, when `id` is being extended already.
  bool enter(const Json &name, const std::string &id) {
    if (std::find(chain.begin(), chain.end(), id) != chain.end() ||
        chain.size() == maxDepth) {
      fail(name, "expected no cycle of extends, got " + describe(name));
      return false;
    }
    chain.push_back(id);
    return true;
  }

  std::optional<Json> preset(const Json &name, const std::string &id,
                             const Json &user) {
    std::optional<Json> base = family::makePreset(id, user.place, diagnostics);
    if (!base) {
      std::string near = nearestWord(id, family::tableNames());
      std::string hint = near.empty()
                             ? "known: " + join(family::tableNames(), ", ")
                             : "did you mean \"preset:" + near + "\"?";
      return fail(name,
                  "expected a preset (" + hint + "), got " + describe(name));
    }
    moveTo(*base, name.place);
    return base;
  }

  std::optional<Json> file(const Json &name, const fs::path &dir) {
    fs::path relative(name.text);
    if (relative.empty() || relative.is_absolute()) {
      return fail(name, "expected \"preset:...\" or a relative path, got " +
                            describe(name));
    }
    fs::path path = (dir / relative).lexically_normal();
    if (!isInside(path)) {
      return fail(name, "expected a file in the folder of the spec or below "
                        "it, got " +
                            describe(name));
    }
    if (!enter(name, path.string())) {
      return std::nullopt;
    }
    Diagnostics unreadable;
    std::optional<std::string> text =
        readTextFile(path.string(), unreadable, maxSpecBytes);
    if (!text) {
      return fail(name,
                  unreadable.front().message + " (" + path.string() + ")");
    }
    files.push_back(path.string());
    std::optional<Json> base = parseJson(path.string(), *text, diagnostics);
    if (base && !base->isObject()) {
      return fail(name, "expected a spec in " + path.string() + ", got " +
                            describe(*base));
    }
    return base ? resolve(std::move(*base), path.parent_path()) : std::nullopt;
  }
};

// ---- $def ----------------------------------------------------------------

class DefExpander {
public:
  DefExpander(const Json &defs, Diagnostics &diagnostics)
      : defs(defs), diagnostics(diagnostics) {}

  void expand(Json &value, size_t depth) {
    for (Json &item : value.items) {
      expand(item, depth + 1);
    }
    for (Member &member : value.members) {
      expand(member.value, depth + 1);
    }
    if (const Json *name = value.find("$def")) {
      replace(value, *name, depth);
    }
  }

private:
  const Json &defs;
  Diagnostics &diagnostics;
  std::vector<std::string> chain;
  size_t copies = 0;

  void fail(const Json &where, std::string message) {
    report(diagnostics, where.place, badDef, std::move(message));
  }

  /// The definition that `name` means; null after a diagnostic.
  const Json *lookUp(const Json &name, size_t depth) {
    const Json *definition = name.isString() ? defs.find(name.text) : nullptr;
    if (!definition) {
      std::vector<std::string> names;
      for (const Member &member : defs.members) {
        names.push_back(member.key);
      }
      fail(name, "expected a name in /defs (have: " + listNames(names) +
                     "), got " + describe(name));
      return nullptr;
    }
    if (std::find(chain.begin(), chain.end(), name.text) != chain.end()) {
      fail(name, "expected no cycle of $def (" + join(chain, " -> ") +
                     "), got " + describe(name));
      return nullptr;
    }
    size_t before = copies;
    copies += countValues(*definition);
    if (depth > maxDepth || copies > maxCopies) {
      if (depth > maxDepth || before <= maxCopies) {
        fail(name, "expected a smaller spec (at most " +
                       std::to_string(maxDepth) + " levels and " +
                       std::to_string(maxCopies) +
                       " copied values), got more at " + describe(name));
      }
      return nullptr;
    }
    return definition;
  }

  void replace(Json &value, const Json &name, size_t depth) {
    const Json *definition = lookUp(name, depth);
    if (!definition) {
      return;
    }
    Json patch = value;
    patch.remove("$def");
    Json result = *definition;
    chain.push_back(name.text);
    expand(result, depth);
    chain.pop_back();
    if (!patch.members.empty() && !result.isObject()) {
      fail(name, "expected an object in /defs (other keys are merged into "
                 "it), got " +
                     describe(result));
      return;
    }
    if (result.isObject()) {
      merge(result, patch, Places::OfPatch);
    }
    value = std::move(result);
  }
};

} // namespace

void mergePatch(Json &target, const Json &patch) {
  merge(target, patch, Places::OfTarget);
}

std::optional<Json> expandSpec(Json spec, const std::string &baseDir,
                               Diagnostics &diagnostics,
                               std::vector<std::string> &files) {
  size_t before = diagnostics.size();
  std::optional<Json> whole =
      Extender(baseDir, diagnostics, files).resolve(std::move(spec), baseDir);
  if (!whole) {
    return std::nullopt;
  }
  Json defs = Json::object();
  if (const Json *given = whole->find("defs")) {
    defs = *given;
    if (!defs.isObject()) {
      report(diagnostics, defs.place, badDef,
             "expected an object, got " + describe(defs));
    }
  }
  whole->remove("defs");
  DefExpander expander(defs, diagnostics);
  for (Member &member : whole->members) {
    if (member.key != "meta") {
      expander.expand(member.value, 1);
    }
  }
  return diagnostics.size() == before ? whole : std::nullopt;
}

} // namespace tfc::spec
